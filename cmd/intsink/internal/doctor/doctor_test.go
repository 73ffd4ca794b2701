package doctor

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"intsink/conf"
	"intsink/dpdk/iface"
)

// good is a machine on which nothing is wrong: files by path below the root; what
// begins with "->" is a symbolic link.
func good() map[string]string {
	return map[string]string{
		"sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages":    "1024",
		"sys/devices/system/node/node0/hugepages/hugepages-1048576kB/free_hugepages": "0",
		"sys/devices/system/node/node0/cpulist":                                      "0-3",
		"proc/self/limits":                                                           "Limit  Soft Limit  Hard Limit  Units\nMax locked memory         unlimited            unlimited            bytes\n",
		"sys/kernel/mm/transparent_hugepage/enabled":                                 "always [madvise] never",
		"sys/devices/system/cpu/isolated":                                            "1-2",
		"sys/devices/system/cpu/nohz_full":                                           "1-2",
		"sys/devices/system/cpu/online":                                              "0-3",
		"sys/devices/system/cpu/cpu1/topology/thread_siblings_list":                  "1,3",
		"sys/devices/system/cpu/cpu2/topology/thread_siblings_list":                  "2",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":                       "performance",
		"sys/devices/system/clocksource/clocksource0/current_clocksource":            "tsc",
		"proc/cpuinfo": "flags\t\t: fpu avx2 bmi2 sse\n",
		"proc/1/comm":  "systemd",
		"sys/bus/pci/devices/0000:3b:00.0/driver":             "->../../drivers/vfio-pci",
		"sys/bus/pci/devices/0000:3b:00.0/iommu_group":        "->../../iommu/7",
		"sys/bus/pci/devices/0000:3b:00.0/numa_node":          "0",
		"sys/bus/pci/devices/0000:3b:00.0/current_link_width": "16",
		"sys/bus/pci/devices/0000:3b:00.0/max_link_width":     "16",
		"sys/class/net/eth1/mtu":                              "1900",
		"sys/class/net/eth1/operstate":                        "up",
		"sys/class/net/eth1/carrier":                          "1",
	}
}

func config() *conf.Config {
	return &conf.Config{
		DPDK:       conf.DPDK{Lcores: []int{1, 2}, Hugepages: "auto", Mbufs: 65536, MbufSize: 2048},
		Ports:      []conf.Port{{Name: "up", Device: "3b:00.0"}, {Name: "down", Device: "kernel:eth1"}},
		Links:      []conf.Link{{Name: "edge", Network: "down", Host: "up"}},
		Collectors: []conf.Collector{{Name: "primary", Address: netip.MustParseAddrPort("192.0.2.10:8555")}},
	}
}

// machine writes the files below a new root.
func machine(t *testing.T, files map[string]string) *Machine {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		to, isLink := strings.CutPrefix(text, "->")
		var err error
		if isLink {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text+"\n"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return &Machine{Root: root, Route: func(netip.AddrPort) error { return nil }, Peer: func(netip.AddrPort) string { return "" }}
}

// TestGoodMachine: nothing is found on a good machine, nor of long frames on ports that take
// them, or of an interface that the driver is to make.
func TestGoodMachine(t *testing.T) {
	for device, mtu := range map[string]string{
		"kernel:eth1": "9000", "net_af_packet0,iface=eth1": "9000", "net_pcap0,iface=eth1": "9000", "net_af_xdp0,iface=eth1": "1900", "net_tap0,iface=tap9": "",
	} {
		files, c := good(), config()
		c.Ports[1].Device = device
		if strings.HasPrefix(device, "net_pcap") {
			c.DPDK.Lcores = c.DPDK.Lcores[:1] // it has one queue
		}
		if mtu != "" {
			files["sys/class/net/eth1/mtu"] = mtu
		}
		for _, f := range Examine(machine(t, files), c) {
			if f.Level != OK || f.Fix != "" {
				t.Errorf("%s: %s %s > %s", device, f.Level, f.What, f.Fix)
			}
		}
	}
}

// TestEachFaultIsFound: one thing wrong at a time gives one finding, with what to do.
func TestEachFaultIsFound(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(files map[string]string, c *conf.Config)
		level  Level
		what   string
		fix    string
	}{
		{"no hugepages", func(f map[string]string, _ *conf.Config) {
			f["sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages"] = "3"
		}, Slow, "and 3 are free", "sysctl -w vm.nr_hugepages="},
		{"no hugepages, which must be", func(f map[string]string, c *conf.Config) {
			f["sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages"] = "3"
			c.DPDK.Hugepages = "on"
		}, Fault, `with hugepages = "on"`, "sysctl -w vm.nr_hugepages="},
		{"little memory may be locked", func(f map[string]string, _ *conf.Config) {
			f["proc/self/limits"] = "Max locked memory         65536                65536                bytes"
		}, Fault, "only 65536 bytes of memory may be locked", "ulimit -l unlimited"},
		{"transparent hugepages off", func(f map[string]string, _ *conf.Config) {
			f["sys/kernel/mm/transparent_hugepage/enabled"] = "always madvise [never]"
		}, Slow, "transparent hugepages are off", "echo madvise"},
		{"not isolated", func(f map[string]string, _ *conf.Config) { f["sys/devices/system/cpu/isolated"] = "2" }, Slow, "other processes may run on CPU 1,", "isolcpus=1,2"},
		{"ticking", func(f map[string]string, _ *conf.Config) { delete(f, "sys/devices/system/cpu/nohz_full") }, Slow, "the timer tick interrupts CPU 1,2", "nohz_full=1,2"},
		{"offline", func(f map[string]string, _ *conf.Config) { f["sys/devices/system/cpu/online"] = "0-1" }, Fault, "CPU 2 of dpdk.lcores is not online", "online are 0-1"},
		{"siblings", func(f map[string]string, _ *conf.Config) {
			f["sys/devices/system/cpu/cpu1/topology/thread_siblings_list"] = "1-2"
		}, Slow, "CPU 1 and 2 are hyperthreads of one core", "dpdk.lcores"},
		{"governor", func(f map[string]string, _ *conf.Config) {
			f["sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"] = "powersave"
		}, Slow, `governor "powersave"`, "cpupower -c 1,2 frequency-set -g performance"},
		{"irqbalance", func(f map[string]string, _ *conf.Config) { f["proc/77/comm"] = "irqbalance" }, Slow, "irqbalance runs (pid 77)", "IRQBALANCE_BANNED_CPULIST=1,2"},
		{"slow clock", func(f map[string]string, _ *conf.Config) {
			f["sys/devices/system/clocksource/clocksource0/current_clocksource"] = "hpet"
		}, Slow, "the clock source is hpet", "echo tsc"},
		{"old processor", func(f map[string]string, _ *conf.Config) { f["proc/cpuinfo"] = "flags\t: fpu avx2" }, Slow, "lacks AVX2 or BMI2", ""},
		{"no such NIC", func(_ map[string]string, c *conf.Config) { c.Ports[0].Device = "0000:5e:00.0" }, Fault, "there is no PCI device 0000:5e:00.0", "dpdk-devbind.py --status-dev net"},
		{"kernel driver", func(f map[string]string, _ *conf.Config) {
			f["sys/bus/pci/devices/0000:3b:00.0/driver"] = "->../../drivers/ixgbe"
		}, Fault, "has the driver ixgbe, which DPDK cannot use", "dpdk-devbind.py --bind=vfio-pci 0000:3b:00.0"},
		{"no IOMMU", func(f map[string]string, _ *conf.Config) { delete(f, "sys/bus/pci/devices/0000:3b:00.0/iommu_group") }, Slow, "no IOMMU", "iommu=pt"},
		{"narrow slot", func(f map[string]string, _ *conf.Config) {
			f["sys/bus/pci/devices/0000:3b:00.0/current_link_width"] = "4"
		}, Slow, "uses 4 of its 16 PCIe lanes", "slot"},
		{"far node", func(f map[string]string, _ *conf.Config) { f["sys/devices/system/node/node0/cpulist"] = "0-1" }, Slow, "CPU 2 of dpdk.lcores on another", "take dpdk.lcores from 0-1"},
		{"no interface", func(_ map[string]string, c *conf.Config) { c.Ports[1].Device = "net_af_packet0,iface=eth9" }, Fault, "there is no interface eth9", "ip -br link"},
		{"no link", func(f map[string]string, _ *conf.Config) { f["sys/class/net/eth1/carrier"] = "0" }, Fault, "eth1 has no link", "ip link set eth1 up"},
		{"small MTU", func(f map[string]string, _ *conf.Config) { f["sys/class/net/eth1/mtu"] = "1500" }, Slow, "with INT of eight hops need 1780", "ip link set eth1 mtu 1780"},
		{"large MTU", func(f map[string]string, c *conf.Config) {
			f["sys/class/net/eth1/mtu"], c.Ports[1].Device = "9000", "net_af_xdp0,iface=eth1"
		}, Fault, "frames of eth1 (MTU 9000) do not fit mbufs of 2048 bytes", "mbuf_size = 9022"},
		{"large MTU of the port", func(_ map[string]string, c *conf.Config) {
			c.Ports[1].Device, c.Ports[1].MTU = "net_af_xdp0,iface=eth1", 3000
		}, Fault, "frames of eth1 (MTU 3000) do not fit mbufs of 2048 bytes", `# write port "down" { mtu = 2026 }, or dpdk { mbuf_size = 3022 }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, configuration := good(), config()
			c.change(files, configuration)
			var bad []Finding
			for _, f := range Examine(machine(t, files), configuration) {
				if f.Level != OK {
					bad = append(bad, f)
				}
			}
			if len(bad) != 1 || bad[0].Level != c.level || !strings.Contains(bad[0].What, c.what) || !strings.Contains(bad[0].Fix, c.fix) {
				t.Errorf("found %q, want %s %q > %q", bad, c.level, c.what, c.fix)
			}
		})
	}
}

func TestCollectors(t *testing.T) {
	m := machine(t, good())
	m.Route = func(netip.AddrPort) error { return errors.New("network is unreachable") }
	var b bytes.Buffer
	err := Run(&b, m, config(), false)
	if err == nil || err.Error() != "1 fault: mend what says FAULT" || !strings.Contains(b.String(), "FAULT  collector \"primary\": no way to 192.0.2.10:8555: network is unreachable\n       > ip route get 192.0.2.10\n") {
		t.Errorf("%v:\n%s", err, b.String())
	}
	m = machine(t, good())
	m.Peer = func(netip.AddrPort) string { return "its host answers that nobody listens on the port" }
	b.Reset()
	if err := Run(&b, m, config(), true); err != nil || b.String() != "# collector \"primary\": 192.0.2.10:8555: its host answers that nobody listens on the port\n# start the collector, or mend its address\n" {
		t.Errorf("%v:\n%s", err, b.String())
	}
}

// TestOffloadsAndClock: what the kernel tells, and not by sysfs.
func TestOffloadsAndClock(t *testing.T) {
	kernel := &conf.Config{Ports: []conf.Port{{Name: "network", Device: "kernel:eth1"}}}
	pcap := &conf.Config{Ports: []conf.Port{{Name: "network", Device: "net_pcap0,iface=eth1"}}}
	ptp := config()
	ptp.Watches = []conf.Watch{{}, {Override: &conf.Events{EndToEnd: conf.Deadband{Clock: conf.PTPClock}}}}
	for _, c := range []struct {
		name   string
		c      *conf.Config
		joined iface.Offloads
		synced bool
		check  func(*host, *conf.Config) []Finding
		want   []Finding
	}{
		{"none", kernel, iface.Offloads{}, true, offloads, nil},
		{"GRO", kernel, iface.Offloads{GRO: true}, true, offloads, []Finding{{Slow, `port "network": GRO of eth1 joins frames, which the sink cuts again`, "ethtool -K eth1 gro off"}}},
		{"GRO with net_pcap", pcap, iface.Offloads{GRO: true}, true, offloads, []Finding{{Fault, `port "network": GRO of eth1 joins frames, and net_pcap does not cut them again`, `ethtool -K eth1 gro off    # or device = "kernel:eth1"`}}},
		{"LRO", kernel, iface.Offloads{GRO: true, LRO: true}, true, offloads, []Finding{{Fault, `port "network": LRO of eth1 joins frames without a way back: the sink refuses it`, "ethtool -K eth1 lro off"}}},
		{"a clock that is right", ptp, iface.Offloads{}, true, synchronization, nil},
		{"a clock alone", kernel, iface.Offloads{}, false, synchronization, []Finding{{Slow, "nothing keeps the clock right: the times in reports drift away from those of other machines", "apt-get install chrony"}}},
		{"ptp without ptp", ptp, iface.Offloads{}, false, synchronization, []Finding{{Slow, `nothing keeps the clock right, and end_to_end { clock = "ptp" } compares it with the clocks of sources`, "# have ptp4l and phc2sys (linuxptp) keep the clock that the sources have"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &Machine{Offloads: func(string) iface.Offloads { return c.joined }, Clock: func() bool { return c.synced }}
			if got := c.check(&host{machine: m}, c.c); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if got := offloads(&host{machine: &Machine{}}, kernel); got != nil {
		t.Errorf("where nobody tells: %q", got)
	}
}

// TestFixesAreAScript: a shell takes what --fix prints, and what only people can do is a comment.
func TestFixesAreAScript(t *testing.T) {
	known := []string{"#", "sysctl", "ulimit", "echo", "cpupower", "modprobe", "dpdk-devbind.py", "ip", "apt-get", "ethtool"}
	calls := regexp.MustCompile("(?:slow|fault)\\((?:fmt\\.Sprintf\\()?[\"`]([^ \"`]+)")
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range calls.FindAllStringSubmatch(string(text), -1) {
			if found++; !slices.Contains(known, m[1]) {
				t.Errorf("%s: %q is no command: byHand says that people are to do it", path, m[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("%d commands were found: too few to be all", found)
	}
}

// TestKernelPeer: a closed port is refused, an open one is silent.
func TestKernelPeer(t *testing.T) {
	got := ""
	for range 100 { // it waits 300 ms at most, in which this process may not have a CPU
		if got = KernelPeer(netip.MustParseAddrPort("127.0.0.1:1")); got != "" {
			break
		}
	}
	if got != "its host answers that nobody listens on the port" {
		t.Errorf("a closed port: %q", got)
	}
	if err := KernelRoute(netip.MustParseAddrPort("127.0.0.1:1")); err != nil {
		t.Errorf("a way to this host: %v", err)
	}
}
