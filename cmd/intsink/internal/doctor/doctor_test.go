package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"intsink/conf"
	"intsink/dpdk/iface"
)

// good is a machine on which nothing is wrong: files by path below the root; what
// begins with "->" is a symbolic link, "mode 600" a file that its owner may open.
func good() map[string]string {
	return map[string]string{
		"sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages":    "1024",
		"sys/devices/system/node/node0/hugepages/hugepages-1048576kB/free_hugepages": "0",
		"sys/devices/system/node/node0/cpulist":                                      "0-3",
		"sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages":                    "1024",
		"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages":                      "1024",
		"usr/lib/systemd/system/intsink.service":                                     packagedUnit(),
		"usr/lib/udev/rules.d/60-intsink.rules":                                      "",
		"etc/passwd":                                                                 fmt.Sprintf("intsink:x:64001:%d::/:/usr/sbin/nologin", os.Getgid()),
		"etc/group":                                                                  fmt.Sprintf("intsink:x:%d:", os.Getgid()),
		"dev/vfio/vfio":                                                              "mode 666",
		"dev/vfio/7":                                                                 "mode 660",
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

// packagedUnit is the unit of the package.
func packagedUnit() string {
	text, err := os.ReadFile("../../../../deploy/systemd/intsink.service")
	if err != nil {
		panic(err)
	}
	return string(text)
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
		mode, hasMode := strings.CutPrefix(text, "mode ")
		var err error
		switch {
		case isLink:
			err = os.Symlink(to, path)
		case hasMode:
			var bits uint64
			if bits, err = strconv.ParseUint(mode, 8, 32); err == nil {
				err = errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, os.FileMode(bits)))
			}
		default:
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
		files["proc/77/comm"] = "irqbalance" // which leaves isolated CPUs out by itself
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

// TestEachFaultIsFound: one thing wrong at a time gives one finding, with what to do; where that is a
// command, nothing is found any more once it has run.
func TestEachFaultIsFound(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(files map[string]string, c *conf.Config)
		level  Level
		what   string
		fix    string
	}{
		{"no hugepages", func(f map[string]string, _ *conf.Config) {
			f["sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"] = "3" // others hold the rest
		}, Slow, "6 MiB of hugepages are free and about", "sysctl -w vm.nr_hugepages=1"},
		{"no hugepages, which must be", func(f map[string]string, c *conf.Config) {
			f["sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"], f["sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"] = "0", "0"
			c.DPDK.Hugepages = "on"
		}, Fault, `with hugepages = "on"`, "sysctl -w vm.nr_hugepages="},
		{"little memory may be locked by the unit", func(f map[string]string, _ *conf.Config) {
			f["etc/systemd/system/intsink.service.d/mine.conf"] = "[Service]\nLimitMEMLOCK=64M"
		}, Fault, "the unit limits the memory that may be locked to 64M", `LimitMEMLOCK=infinity\n`},
		{"little memory may be locked", func(f map[string]string, _ *conf.Config) {
			delete(f, "usr/lib/systemd/system/intsink.service")
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
		{"irqbalance", func(f map[string]string, _ *conf.Config) {
			f["proc/77/comm"], f["etc/default/irqbalance"] = "irqbalance", "IRQBALANCE_BANNED_CPUS=0"
		}, Slow, "irqbalance runs (pid 77)", "IRQBALANCE_BANNED_CPULIST=1,2"},
		{"irqbalance that leaves out others", func(f map[string]string, _ *conf.Config) {
			f["proc/77/comm"], f["etc/default/irqbalance"] = "irqbalance", "#IRQBALANCE_BANNED_CPULIST=1,2\nIRQBALANCE_BANNED_CPULIST=\"0,2\""
		}, Slow, "irqbalance runs (pid 77)", "IRQBALANCE_BANNED_CPULIST=0,1,2"},
		{"slow clock", func(f map[string]string, _ *conf.Config) {
			f["sys/devices/system/clocksource/clocksource0/current_clocksource"] = "hpet"
			f["sys/devices/system/clocksource/clocksource0/available_clocksource"] = "hpet tsc acpi_pm"
		}, Slow, "the clock source is hpet", "echo tsc"},
		{"slow clock on a guest", func(f map[string]string, _ *conf.Config) {
			f["sys/devices/system/clocksource/clocksource0/current_clocksource"] = "acpi_pm"
			f["sys/devices/system/clocksource/clocksource0/available_clocksource"] = "kvm-clock acpi_pm"
		}, Slow, "the clock source is acpi_pm", "echo kvm-clock"},
		{"slow clock without another", func(f map[string]string, _ *conf.Config) {
			f["sys/devices/system/clocksource/clocksource0/current_clocksource"] = "hpet"
			f["sys/devices/system/clocksource/clocksource0/available_clocksource"] = "hpet acpi_pm"
		}, Slow, "the clock source is hpet", "# nothing to set"},
		{"old processor", func(f map[string]string, _ *conf.Config) { f["proc/cpuinfo"] = "flags\t: fpu avx2" }, Slow, "lacks AVX2 or BMI2", ""},
		{"no such NIC", func(_ map[string]string, c *conf.Config) { c.Ports[0].Device = "0000:5e:00.0" }, Fault, "there is no PCI device 0000:5e:00.0", "dpdk-devbind.py --status-dev net"},
		{"kernel driver", func(f map[string]string, _ *conf.Config) {
			f["sys/bus/pci/devices/0000:3b:00.0/driver"] = "->../../drivers/ixgbe"
		}, Fault, "has the driver ixgbe, which DPDK cannot use", "dpdk-devbind.py --bind=vfio-pci 0000:3b:00.0"},
		{"no module", func(f map[string]string, _ *conf.Config) { delete(f, "dev/vfio/vfio") }, Fault, `port "up": /dev/vfio/vfio is not there`, "modprobe vfio-pci"},
		{"a container of root's", func(f map[string]string, _ *conf.Config) { f["dev/vfio/vfio"] = "mode 600" }, Fault, "user intsink may not open /dev/vfio/vfio (", "chmod 666 /dev/vfio/vfio"},
		{"a group of root's", func(f map[string]string, _ *conf.Config) { f["dev/vfio/7"] = "mode 600" }, Fault, "user intsink may not open /dev/vfio/7 (", "touch /usr/lib/udev/rules.d/60-intsink.rules && udevadm control --reload"},
		{"no rule", func(f map[string]string, _ *conf.Config) {
			f["dev/vfio/7"] = "mode 600"
			delete(f, "usr/lib/udev/rules.d/60-intsink.rules")
		}, Fault, "and no udev rule gives it", "# install deploy/package/udev.rules"},
		{"no user", func(f map[string]string, _ *conf.Config) { delete(f, "etc/passwd") }, Fault, "the service runs as user intsink, who does not exist", "systemd-sysusers"},
		{"a unit without the container", func(f map[string]string, _ *conf.Config) {
			f["etc/systemd/system/intsink.service"] = strings.ReplaceAll(packagedUnit(), "DeviceAllow=/dev/vfio/vfio rw", "")
		}, Fault, `port "up": the unit does not let the service open /dev/vfio/vfio`, "DeviceAllow=/dev/vfio/vfio rw"},
		{"an upgrade", func(f map[string]string, _ *conf.Config) {
			f["proc/88/comm"], f["proc/88/exe"] = "intsink", "->/usr/bin/intsink (deleted)"
		}, Slow, "the sink that runs (pid 88) is older", "# systemctl restart intsink"},
		{"no IOMMU", func(f map[string]string, _ *conf.Config) { delete(f, "sys/bus/pci/devices/0000:3b:00.0/iommu_group") }, Slow, "no IOMMU", "iommu=pt"},
		{"narrow slot", func(f map[string]string, _ *conf.Config) {
			f["sys/bus/pci/devices/0000:3b:00.0/current_link_width"] = "4"
		}, Slow, "uses 4 of its 16 PCIe lanes", "slot"},
		{"far node", func(f map[string]string, _ *conf.Config) { f["sys/devices/system/node/node0/cpulist"] = "0-1" }, Slow, "CPU 2 of dpdk.lcores on another", "take dpdk.lcores from 0-1"},
		{"no interface", func(_ map[string]string, c *conf.Config) { c.Ports[1].Device = "net_af_packet0,iface=eth9" }, Fault, "there is no interface eth9", "ip -br link"},
		{"an interface of another namespace", func(f map[string]string, c *conf.Config) {
			c.Ports[1].Device, f["proc/self/ns/net"] = "net_af_packet0,iface=eth9", "->net:[1]"
			f["proc/88/comm"], f["proc/88/cmdline"], f["proc/88/ns/net"] = "intsink", "/usr/bin/intsink\x00run\x00--config\x00x", "->net:[2]"
		}, Fault, "the sink that runs (pid 88) is in another one", "# nsenter -t 88 -n unshare -m sh -c"},
		{"a sink in this namespace", func(f map[string]string, c *conf.Config) {
			c.Ports[1].Device, f["proc/self/ns/net"] = "net_af_packet0,iface=eth9", "->net:[1]"
			f["proc/88/comm"], f["proc/88/cmdline"], f["proc/88/ns/net"] = "intsink", "/usr/bin/intsink\x00run\x00--config\x00x", "->net:[1]"
		}, Fault, "there is no interface eth9", "ip -br link"},
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
			m := machine(t, files)
			bad := wrong(m, configuration)
			if len(bad) != 1 || bad[0].Level != c.level || !strings.Contains(bad[0].What, c.what) || !strings.Contains(bad[0].Fix, c.fix) {
				t.Fatalf("found %q, want %s %q > %q", bad, c.level, c.what, c.fix)
			}
			if !mends(bad[0].Fix) {
				return
			}
			follow(t, m.Root, bad[0].Fix)
			if left := wrong(m, configuration); len(left) != 0 {
				t.Errorf("after %s:\n%q", bad[0].Fix, left)
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

// TestPeerThatLeavesFramesJoined: TSO of a veth's peer is told where the peer can be seen.
func TestPeerThatLeavesFramesJoined(t *testing.T) {
	kernel := &conf.Config{Ports: []conf.Port{{Name: "network", Device: "kernel:v0"}}}
	m := machine(t, map[string]string{
		"sys/class/net/v0/ifindex": "7", "sys/class/net/v0/iflink": "8", "sys/class/net/v1/ifindex": "8", "sys/class/net/v1/iflink": "7",
		"sys/class/net/e0/ifindex": "2", "sys/class/net/e0/iflink": "2", "sys/class/net/vlan/ifindex": "9", "sys/class/net/vlan/iflink": "2",
	})
	tso := map[string]bool{"v0": true, "v1": true, "e0": true}
	m.Offloads = func(name string) iface.Offloads { return iface.Offloads{TSO: tso[name]} }
	got := offloads(&host{root: m.Root, machine: m}, kernel)
	if len(got) != 1 || got[0].Level != Slow || !strings.Contains(got[0].What, "v1, the peer of v0, leaves frames joined") || got[0].Fix != "ethtool -K v1 tso off tx-udp-segmentation off tx-sctp-segmentation off" {
		t.Errorf("%q", got)
	}
	tso["v1"] = false
	if got := offloads(&host{root: m.Root, machine: m}, kernel); got != nil {
		t.Errorf("the advice was followed, and there is still %q", got)
	}
	tso["v1"] = true
	for _, other := range []string{"e0", "vlan"} {
		kernel.Ports[0].Device = "kernel:" + other
		if got := offloads(&host{root: m.Root, machine: m}, kernel); got != nil {
			t.Errorf("%s has no peer: %q", other, got)
		}
	}
}

// TestClockDaemon: where something is to keep the clock right, it is not advised again.
func TestClockDaemon(t *testing.T) {
	for comm, want := range map[string][2]string{
		"chronyd":         {"chronyc sources", "chronyd runs (pid 9)"},
		"systemd-timesyn": {"timedatectl timesync-status", "systemd-timesyncd runs (pid 9)"}, // the kernel cuts names
		"ntpd":            {"ntpq -p", "ntpd runs (pid 9)"},
		"cron":            {"apt-get install chrony", "nothing keeps the clock right"},
	} {
		files := good()
		files["proc/9/comm"] = comm
		m := machine(t, files)
		m.Clock = func() bool { return false }
		if bad := wrong(m, config()); len(bad) != 1 || bad[0].Level != Slow || bad[0].Fix != want[0] || !strings.Contains(bad[0].What, want[1]) {
			t.Errorf("%s: %q", comm, bad)
		}
	}
}

// TestFixesAreAScript: a shell takes what --fix prints, and what only people can do is a comment.
func TestFixesAreAScript(t *testing.T) {
	known := []string{"#", "sysctl", "ulimit", "echo", "cpupower", "modprobe", "dpdk-devbind.py", "ip", "apt-get", "ethtool", "systemd-sysusers", "chmod"}
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

// TestPortsThatTheKernelRoutesBy: an address on a port is a fault where the kernel forwards by it, in its family.
func TestPortsThatTheKernelRoutesBy(t *testing.T) {
	const v4, v6 = "proc/sys/net/ipv4/conf/eth1/forwarding", "proc/sys/net/ipv6/conf/eth1/forwarding"
	for name, c := range map[string]struct {
		device, address string
		files           map[string]string
		want            string
	}{
		"forwards":               {"kernel:eth1", "192.0.2.1", map[string]string{v4: "1"}, "eth1 has the address 192.0.2.1, and the kernel forwards"},
		"forwards IPv6":          {"kernel:eth1", "2001:db8::1", map[string]string{v6: "1"}, "eth1 has the address 2001:db8::1, and the kernel forwards"},
		"forwards the other one": {"kernel:eth1", "192.0.2.1", map[string]string{v4: "0", v6: "1"}, ""},
		"link-local":             {"kernel:eth1", "fe80::1", map[string]string{v6: "1"}, ""},
		"past the kernel":        {"net_af_xdp0,iface=eth1", "192.0.2.1", map[string]string{v4: "1"}, ""},
	} {
		m := machine(t, c.files)
		m.Addresses = func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(c.address)} }
		got := routed(&host{root: m.Root, machine: m}, &conf.Config{Ports: []conf.Port{{Name: "network", Device: c.device}}})
		if (c.want == "") != (len(got) == 0) || c.want != "" && (got[0].Level != Fault || !strings.Contains(got[0].What, c.want) || !strings.Contains(got[0].Fix, "ip address flush dev eth1")) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
