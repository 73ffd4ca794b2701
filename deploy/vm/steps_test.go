//go:build vm

package vm

import (
	"flag"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	folder = flag.String("folder", "", "of build.sh")
	attach = flag.Bool("attach", false, "the machine runs already, in this network namespace: for a step by itself, with -test.run")
	goOn   = flag.Bool("go-on", false, "also after a step that failed, to see what comes of the others")
	short  = flag.Bool("short-form", false, "one pair of drivers, and what happens to a server in its first hour")
)

// addresses of the NICs, by the names of their taps.
var addresses = map[string]string{"igb": "0000:01:00.0", "virtio": "0000:02:00.0", "e1000e": "0000:03:00.0", "vmxnet3": "0000:04:00.0"}

// link is the configuration of one: packets with INT come to the first NIC.
type link [2]string

// configuration has links, and what more there is to say.
func configuration(lcores, more string, links ...link) string {
	var b strings.Builder
	fmt.Fprintf(&b, "node { id = 7 }\ndpdk {\n  lcores     = %q\n  mbufs      = 16384\n  idle_sleep = \"1ms\" // a processor in emulation is little, and sshd needs some of it\n}\n", lcores)
	for _, l := range links {
		for _, nic := range l {
			fmt.Fprintf(&b, "port %q {\n  device = %q\n  mtu    = 9000\n}\n", nic, addresses[nic])
		}
		fmt.Fprintf(&b, "link \"%s-%s\" {\n  network    = %q\n  host       = %q\n  mitigation = true\n}\n", l[0], l[1], l[0], l[1])
	}
	b.WriteString(`
int {
  udp_port     = 5000
  gre_protocol = 34998
  vxlan_gpe    = {}
  geneve       = {}
}
flows {
  capacity     = 65536
  idle_timeout = "30m" // emulation is slow
}
watch "all" {}
events {
  new_flow { after_restart = "0s" } // the flows are the same after each restart
}
http { listen = "127.0.0.1:9465" }
`)
	if !strings.Contains(more, "collector ") {
		more += "\ncollector \"kernel\" { address = \"10.99.0.1:8555\" }\n"
	}
	return b.String() + more
}

var (
	first  = []link{{"igb", "virtio"}, {"e1000e", "vmxnet3"}}
	second = []link{{"igb", "e1000e"}, {"vmxnet3", "virtio"}}
	third  = []link{{"virtio", "e1000e"}, {"igb", "vmxnet3"}}
)

const (
	// isReady says ok where the sink forwards on all links, and fails where it does not.
	isReady = "curl -sf http://127.0.0.1:9465/readyz"
	// ready says then what is wrong.
	ready = "curl -s http://127.0.0.1:9465/readyz"
)

// with gives the sink a configuration, and starts it anew.
func (m *machine) with(t *testing.T, config string) {
	t.Helper()
	m.write(t, "/etc/intsink/intsink.hcl", config)
	m.sh(t, "intsink check --config /etc/intsink/intsink.hcl && systemctl restart intsink")
	m.until(t, time.Minute, isReady, "ok")
}

// TestMachine is what an operator does with the packages on a new server, and what happens to the
// server, in one order: each step stands on those before.
func TestMachine(t *testing.T) {
	m := boot(t, *folder)
	takeReports(t)
	for _, s := range []struct {
		name string
		long bool // not in the short form
		do   func(*testing.T, *machine)
	}{
		{"the packages are installed", false, install},
		{"doctor's advice binds the NICs", false, bind},
		{"systemctl enable --now, and it forwards", false, enable},
		{"igb to virtio, e1000e to vmxnet3: every byte", false, bytesOf(first)},
		{"igb to e1000e, vmxnet3 to virtio: every byte", true, bytesOf(second)},
		{"virtio to e1000e, igb to vmxnet3: every byte", true, bytesOf(third)},
		{"virtio to igb, vmxnet3 to e1000e: every byte", true, bytesOf(turned(first))},
		{"e1000e to igb, virtio to vmxnet3: every byte", true, bytesOf(turned(second))},
		{"e1000e to virtio, vmxnet3 to igb: every byte", true, bytesOf(turned(third))},
		{"two workers by RSS, each flow in order", false, twoWorkers},
		{"a cable is pulled and put back", false, cable},
		{"the process is killed", false, killed},
		{"the process is frozen", true, frozen},
		{"reload, and a reload on trial that nobody confirms", false, reloads},
		{"capture, mode, mitigation", false, operators},
		{"reports by the kernel, and by a port of DPDK with ARP", false, reports},
		{"the collector's package beside it", false, collector},
		{"a card is taken out, and put in again", true, card},
		{"boot: NICs are not bound, then they are", false, bootUnbound},
		{"boot: driverctl's overrides, by itself; a link is down", true, bootBound},
		{"boot: no hugepages, no name server, a full disk, a wrong clock", true, bootPoor},
		{"upgrade while it runs, and back", false, upgrade},
		{"intsink upgrade: a newer package, one that breaks, a power cut meanwhile", false, upgradeOnTrial},
		{"purge", false, purge},
	} {
		if *short && s.long {
			continue
		}
		if !t.Run(s.name, func(t *testing.T) { s.do(t, m) }) {
			out, _ := m.try("journalctl -u intsink -u intsink-collect -o short-precise -n 60; intsink status")
			t.Logf("after %q:\n%s", s.name, out)
			if !*goOn {
				return
			}
		}
	}
}

func turned(links []link) (out []link) {
	for _, l := range links {
		out = append(out, link{l[1], l[0]})
	}
	return out
}

func install(t *testing.T, m *machine) {
	m.sh(t, "apt-get install -y --no-install-recommends /root/debs/intsink_*.deb >/root/install.log 2>&1 </dev/null")
	if out, _ := m.try("systemctl is-active intsink"); strings.TrimSpace(out) != "inactive" {
		t.Errorf("the installation left the service %s", out)
	}
	m.sh(t, "intsink check --config /etc/intsink/intsink.hcl")
}

// bind does what doctor says of ports and memory, as it stands there.
func bind(t *testing.T, m *machine) {
	m.write(t, "/etc/intsink/intsink.hcl", configuration("1", "", first...))
	before, err := m.try("intsink doctor --config /etc/intsink/intsink.hcl")
	if err == nil {
		t.Errorf("doctor finds nothing wrong with NICs that are not bound\n%s", before)
	}
	advice := regexp.MustCompile(`(?m)^(?:FAULT  port|(?:slow|FAULT)  .*hugepages).*\n       > (.*)$`).FindAllStringSubmatch(before, -1)
	if len(advice) < len(addresses) {
		t.Fatalf("doctor has %d pieces of advice for %d NICs\n%s", len(advice), len(addresses), before)
	}
	for _, a := range advice {
		m.sh(t, a[1])
	}
	m.sh(t, "echo vm.nr_hugepages=$(cat /proc/sys/vm/nr_hugepages) >/etc/sysctl.d/70-hugepages.conf") // for the next boot, as it says
	after, _ := m.try("intsink doctor --config /etc/intsink/intsink.hcl")
	if regexp.MustCompile(`(?m)^FAULT  (port|hugepages|link|vfio)`).MatchString(after) {
		t.Errorf("doctor's advice was followed, and it still finds\n%s", after)
	}
	t.Logf("%s", after)
}

func enable(t *testing.T, m *machine) {
	m.sh(t, "systemctl enable --now intsink")
	m.until(t, time.Minute, isReady, "ok")
	m.until(t, 10*time.Second, "systemctl status intsink", "forwarding")
	if user := strings.TrimSpace(m.sh(t, "ps -o user= -C intsink")); user != "intsink" {
		t.Errorf("it runs as %s", user)
	}
	m.hugepages(t, true)
}

// hugepages holds that the sink, which has just started, uses them, or does not and says so.
func (m *machine) hugepages(t *testing.T, want bool) {
	t.Helper()
	free := m.sh(t, "awk '/HugePages_(Total|Free)/ {print $2}' /proc/meminfo")
	log := m.sh(t, "journalctl -b -o cat _PID=$(systemctl show --property=MainPID --value intsink)")
	var total, left int
	fmt.Sscan(free, &total, &left)
	if without := strings.Contains(log, "running without hugepages"); left < total != want || without == want {
		t.Errorf("hugepages: %d of %d are free, and the log says that it runs without: %v", left, total, without)
	}
}

func bytesOf(links []link) func(*testing.T, *machine) {
	return func(t *testing.T, m *machine) {
		m.with(t, configuration("1", "", links...))
		for i, l := range links {
			jumbo := 60
			if l[0] == "vmxnet3" {
				jumbo = 0 // of these QEMU's vmxnet3 loses some, and counts them as errors
			}
			exchange(t, l[0], l[1], marked(t, uint64(i+1), 500, jumbo))
			exchange(t, l[1], l[0], plain(uint64(i+1), 200))
		}
	}
}

func twoWorkers(t *testing.T, m *machine) {
	m.with(t, configuration("0-1", "", link{"igb", "virtio"}))
	exchange(t, "igb", "virtio", ordered(t, 2000))
	out := m.sh(t, "curl -s http://127.0.0.1:9465/metrics | grep ^intsink_flows{")
	for _, w := range []string{"w0", "w1"} {
		if !regexp.MustCompile(`worker="` + w + `".* [1-9]`).MatchString(out) {
			t.Errorf("worker %s has no flows\n%s", w, out)
		}
	}
}

func cable(t *testing.T, m *machine) {
	m.with(t, configuration("1", "", first...))
	for _, nic := range []string{"igb", "virtio", "e1000e", "vmxnet3"} {
		m.monitor(t, "set_link "+nic+"-nic off")
		m.until(t, 10*time.Second, ready, `port "`+nic+`"`)
		m.monitor(t, "set_link "+nic+"-nic on")
		m.until(t, 20*time.Second, isReady, "ok")
	}
	for _, l := range first {
		exchange(t, l[0], l[1], ordered(t, 200))
	}
}

func killed(t *testing.T, m *machine) {
	pid := m.sh(t, "pidof intsink")
	m.sh(t, "kill -9 $(pidof intsink)")
	m.until(t, time.Minute, isReady, "ok")
	if now := m.sh(t, "pidof intsink"); now == pid {
		t.Errorf("it is still process %s", now)
	}
	exchange(t, "igb", "virtio", ordered(t, 200))
}

func frozen(t *testing.T, m *machine) {
	since := m.mark(t)
	m.sh(t, "kill -STOP $(pidof intsink)")
	eventually(t, "systemd's watchdog", time.Minute, func() error {
		if out := m.log(t, since); !strings.Contains(out, "Watchdog timeout") {
			return fmt.Errorf("the log has\n%s", out)
		}
		return nil
	})
	m.until(t, time.Minute, isReady, "ok")
	exchange(t, "igb", "virtio", ordered(t, 200))
}

func reloads(t *testing.T, m *machine) {
	changed := strings.Replace(configuration("1", "", first...), `watch "all" {}`, `watch "all" { sample = 100 }`, 1)
	m.write(t, "/root/new.hcl", changed)
	if out := m.sh(t, "intsink reload --config /root/new.hcl --confirm 5s"); !strings.Contains(out, "on trial") {
		t.Errorf("reload says\n%s", out)
	}
	exchange(t, "igb", "virtio", ordered(t, 500))
	m.until(t, 30*time.Second, "intsink status", "configuration came back")
	m.write(t, "/etc/intsink/intsink.hcl", changed)
	if out := m.sh(t, "systemctl reload intsink && intsink config history"); !strings.Contains(out, "in force") {
		t.Errorf("the history has\n%s", out)
	}
}

func operators(t *testing.T, m *machine) {
	m.sh(t, "rm -f /root/c.pcapng; (intsink capture -w /root/c.pcapng --count 40 --seconds 30 >/root/c.log 2>&1 &)")
	m.until(t, 20*time.Second, "curl -s http://127.0.0.1:9465/metrics | grep ^intsink_capture_running", " 1")
	exchange(t, "igb", "virtio", ordered(t, 100))
	m.until(t, 40*time.Second, "cat /root/c.log", "40 packets in /root/c.pcapng")
	m.sh(t, "tcpdump -nr /root/c.pcapng 2>/dev/null | grep -c 'UDP'")

	m.sh(t, "intsink mode pass")
	frames := ordered(t, 100)
	for i := range frames {
		frames[i].want = frames[i].frame
	}
	exchange(t, "igb", "virtio", frames)
	m.sh(t, "intsink mode full")

	m.sh(t, "intsink mitigate add --destination-port 8000 --protocol udp --action drop --ttl 1m")
	if arrived := collect(t, "virtio", func(func() int) { send(t, "igb", ordered(t, underWay), func() int { return 0 }) }, 1); len(arrived) > 0 {
		t.Errorf("%d packets pass a rule that drops them", len(arrived))
	}
	m.sh(t, "intsink mitigate remove 1")
	exchange(t, "igb", "virtio", ordered(t, 100))
}

// takeReports is a collector that takes all and does nothing.
func takeReports(t *testing.T) {
	c, err := net.ListenPacket("udp", "10.99.0.1:8555")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		for b := make([]byte, 9000); ; {
			if _, _, err := c.ReadFrom(b); err != nil {
				return
			}
		}
	}()
}

// hear returns what a collector on an address of a tap got of the sink's reports.
func hear(t *testing.T, address string, do func()) (reports int, from string) {
	t.Helper()
	c, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	do()
	b := make([]byte, 9000)
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	for {
		_, who, err := c.ReadFrom(b)
		if err != nil {
			return reports, from
		}
		reports, from = reports+1, who.String()
		c.SetReadDeadline(time.Now().Add(time.Second))
	}
}

func reports(t *testing.T, m *machine) {
	m.with(t, configuration("1", "\ncollector \"kernel\" { address = \"10.99.0.1:8556\" }\n", first...))
	if n, from := hear(t, "10.99.0.1:8556", func() { exchange(t, "igb", "virtio", ordered(t, 100)) }); n == 0 {
		t.Errorf("no report by the kernel")
	} else {
		t.Logf("by the kernel: %d report packets from %s", n, from)
	}
	m.with(t, configuration("1", `
port "reports" { device = "`+addresses["e1000e"]+`" }
collector "port" {
  address = "10.77.0.1:8555"
  port    = "reports"
  source  = "10.77.0.2"
}
`, first[0]))
	ip(t, "addr", "add", "10.77.0.1/24", "dev", "e1000e")
	defer ip(t, "addr", "flush", "dev", "e1000e")
	m.until(t, 30*time.Second, "curl -s http://127.0.0.1:9465/metrics | grep ^intsink_gateway_known", " 1")
	n, from := hear(t, "10.77.0.1:8555", func() { exchange(t, "igb", "virtio", ordered(t, 100)) })
	if n == 0 || !strings.HasPrefix(from, "10.77.0.2:") {
		t.Errorf("%d report packets by the port, from %q", n, from)
	}
	if out := ip(t, "neigh", "show", "dev", "e1000e"); !strings.Contains(out, "10.77.0.2 lladdr 52:54:00:00:03:01") {
		t.Errorf("the neighbours of the port are\n%s", out)
	}
}

func ip(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("ip %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func collector(t *testing.T, m *machine) {
	m.sh(t, "apt-get install -y --no-install-recommends /root/debs/intsink-collect_*.deb >/root/install.log 2>&1 </dev/null && systemctl enable --now intsink-collect")
	m.with(t, configuration("1", "\ncollector \"here\" { address = \"127.0.0.1:8555\" }\n", first...))
	exchange(t, "igb", "virtio", ordered(t, 100))
	m.until(t, 30*time.Second, "cat /var/log/intsink/reports.jsonl", `"type":"report"`)
}

// card pulls a card that is in use, puts it in again, and binds it as before.
// card takes one out under load and puts it in again, which needs no restart; then another one, with a restart meanwhile; and
// then that one goes to the kernel and back.
func card(t *testing.T, m *machine) {
	m.with(t, configuration("1", "", first...))
	m.cardOut(t, "e1000e", link{"igb", "virtio"})
	m.cardIn(t, "e1000e", "e1000e", "82574L")
	for _, l := range first {
		exchange(t, l[0], l[1], ordered(t, 200))
	}
	m.cardOut(t, "igb", link{"e1000e", "vmxnet3"})
	m.sh(t, "systemctl restart intsink")
	m.until(t, time.Minute, ready, `port "igb"`)
	exchange(t, "e1000e", "vmxnet3", ordered(t, 200))
	m.cardIn(t, "igb", "igb", "82576")
	for _, l := range first {
		exchange(t, l[0], l[1], ordered(t, 200))
	}
	// Its kernel driver gets one, by a command that ends, and gives it back.
	m.sh(t, "timeout 60 dpdk-devbind.py --bind=igb "+addresses["igb"])
	m.until(t, 10*time.Second, ready, `port "igb"`)
	exchange(t, "e1000e", "vmxnet3", ordered(t, 200))
	m.sh(t, "timeout 60 dpdk-devbind.py --bind=vfio-pci "+addresses["igb"])
	m.until(t, 20*time.Second, isReady, "ok")
	exchange(t, "igb", "virtio", ordered(t, 200))
}

// cardOut takes out that of a NIC while packets come to it: the sink says so and lets go of it, and another link goes on.
func (m *machine) cardOut(t *testing.T, nic string, other link) {
	t.Helper()
	since, stop := m.mark(t), traffic(t, nic)
	defer stop()
	m.monitor(t, "device_del "+nic+"-nic")
	m.until(t, 30*time.Second, ready, `port "`+nic+`"`)
	exchange(t, other[0], other[1], ordered(t, 200))
	eventually(t, "the log says so", 10*time.Second, func() error {
		out := m.log(t, since)
		for _, want := range []string{"link is down port=" + nic, "the device is let go, as it is to be removed; it is used again when it is back port=" + nic} {
			if !strings.Contains(out, want) {
				return fmt.Errorf("it lacks %q\n%s", want, out)
			}
		}
		return nil
	})
	m.until(t, 10*time.Second, "test -e /sys/bus/pci/devices/"+addresses[nic]+" || echo gone", "gone")
	exchange(t, other[0], other[1], ordered(t, 200))
}

// cardIn puts it in again, and binds it: the sink takes it up by itself.
func (m *machine) cardIn(t *testing.T, nic, model, called string) {
	t.Helper()
	n := addresses[nic][6:7]
	m.monitor(t, "device_add "+model+",id="+nic+"-nic,netdev="+nic+",bus=port"+n+",mac=52:54:00:00:0"+n+":01")
	m.until(t, 30*time.Second, "lspci", called)
	m.sh(t, "dpdk-devbind.py --bind=vfio-pci "+addresses[nic])
	m.until(t, 20*time.Second, isReady, "ok")
}

// bootUnbound binds NICs by hand after a boot, one link after the other: each forwards as soon as it has both, with no restart.
func bootUnbound(t *testing.T, m *machine) {
	m.with(t, configuration("1", "", first...))
	m.reboot(t)
	m.until(t, 30*time.Second, "journalctl -b -u intsink -o cat", "dpdk-devbind.py --bind=vfio-pci")
	m.sh(t, "modprobe vfio-pci")
	for i, l := range first {
		for _, nic := range l {
			m.sh(t, "dpdk-devbind.py --bind=vfio-pci "+addresses[nic])
		}
		if i == 0 {
			m.until(t, time.Minute, ready, `port "`+first[1][0]+`"`)
		} else {
			m.until(t, time.Minute, isReady, "ok")
		}
		exchange(t, l[0], l[1], ordered(t, 200))
	}
	exchange(t, first[0][0], first[0][1], ordered(t, 200))
}

// bootBound boots with a link down: the service is ready all the same, and the link is used once it is up.
func bootBound(t *testing.T, m *machine) {
	m.sh(t, "systemctl stop intsink")
	for _, a := range addresses {
		m.sh(t, "driverctl set-override "+a+" vfio-pci")
	}
	m.monitor(t, "set_link igb-nic off")
	m.reboot(t)
	m.until(t, time.Minute, ready, `port "igb"`)
	m.until(t, time.Minute, "systemctl is-active intsink", "active")
	exchange(t, "e1000e", "vmxnet3", ordered(t, 200))
	m.monitor(t, "set_link igb-nic on")
	m.until(t, 20*time.Second, isReady, "ok")
	exchange(t, "igb", "virtio", ordered(t, 200))
}

// bootPoor boots a machine that lacks what the sink would like to have: it forwards all the same. All but the hugepages is
// mended while it runs, and it recovers.
func bootPoor(t *testing.T, m *machine) {
	m.write(t, "/etc/intsink/intsink.hcl", configuration("1", "\ncollector \"name\" { address = \"collector.example:8556\" }\n", first...))
	m.sh(t, `mv /etc/sysctl.d/*hugepages.conf /root/
		echo 'nameserver 10.99.0.77' >/etc/resolv.conf
		systemctl disable --now chrony
		date -s 2024-01-01 && hwclock -w
		fallocate -l $(($(df --output=avail -B1 / | tail -n 1) - 100000)) /root/full || true
		dd if=/dev/zero of=/root/fuller bs=4k 2>/dev/null || true; sync`)
	m.reboot(t)
	m.until(t, time.Minute, ready+"?verbose", "collector.example")
	m.hugepages(t, false)
	for _, l := range first {
		exchange(t, l[0], l[1], ordered(t, 200))
	}
	var now int64 // systemd goes no further back than to its own release
	if fmt.Sscan(m.sh(t, "date +%s"), &now); now > time.Now().Add(-24*time.Hour).Unix() {
		t.Errorf("the machine knows that it is %v", time.Unix(now, 0))
	}
	m.sh(t, "intsink mitigate add --destination-port 9 --protocol udp --action count --ttl 1h") // which finds no room

	m.sh(t, "rm -f /root/full /root/fuller; : >/etc/resolv.conf; echo 10.99.0.1 collector.example >>/etc/hosts; date -s @"+fmt.Sprint(time.Now().Unix()))
	m.until(t, time.Minute, ready+"?verbose | grep -c collector.example || true", "0")
	m.until(t, time.Minute, "curl -s http://127.0.0.1:9465/metrics | grep ^intsink_clock_offset_seconds", "e+0")
	m.sh(t, "intsink mitigate add --destination-port 10 --protocol udp --action count --ttl 1h && test -s /var/lib/intsink/mitigations")
	if n, _ := hear(t, "10.99.0.1:8556", func() { exchange(t, "igb", "virtio", marked(t, 77, 100, 0)) }); n == 0 { // flows that are new
		t.Error("no report to the collector whose name resolves by now")
	}
	m.sh(t, "mv /root/70-hugepages.conf /etc/sysctl.d/; sysctl -q --system; systemctl enable --now chrony; sed -i /collector.example/d /etc/hosts")
	m.with(t, configuration("1", "", first...))
	m.hugepages(t, true)
	for _, l := range first {
		exchange(t, l[0], l[1], ordered(t, 200))
	}
}

// upgrade installs an older package by dpkg while the sink runs, and the newer one again: the sink goes on with the program that
// it has until it is restarted, and who installs is told.
func upgrade(t *testing.T, m *machine) {
	m.with(t, configuration("1", "", first...))
	m.sh(t, `cd /root && rm -rf older && dpkg-deb -R debs/intsink_*.deb older && sed -i 's/^Version: .*/Version: 0~a/' older/DEBIAN/control &&
		LC_ALL=C sed -i "s/$(intsink version | cut -d' ' -f2)/$(intsink version | cut -d' ' -f2 | sed 's/^...../0.0.9/')/g" older/usr/bin/intsink &&
		dpkg-deb --root-owner-group -Zgzip -b older older.deb >/dev/null && rm -rf older`)
	for _, deb := range []string{"/root/older.deb", "/root/debs/intsink_*.deb"} {
		pid := m.sh(t, "pidof intsink")
		done := make(chan string)
		go func() {
			out, err := m.try("apt-get -y --allow-downgrades install " + deb + " </dev/null 2>&1")
			if err != nil {
				out += err.Error()
			}
			done <- out
		}()
		exchange(t, "igb", "virtio", ordered(t, 2000)) // nothing is lost by the installation
		if out := <-done; !strings.Contains(out, "it runs after: systemctl restart intsink") {
			t.Errorf("the installation of %s says\n%s", deb, out)
		}
		if now := m.sh(t, "pidof intsink"); now != pid {
			t.Errorf("the installation of %s ended process %s: now it is %s", deb, pid, now)
		}
		m.sh(t, "systemctl restart intsink")
		m.until(t, time.Minute, isReady, "ok")
		if same := m.sh(t, `test "$(/proc/$(pidof intsink)/exe version)" = "$(intsink version)" && echo same`); !strings.Contains(same, "same") {
			t.Errorf("after the restart another program runs than %s has", deb)
		}
		exchange(t, "igb", "virtio", ordered(t, 200))
	}
}

// upgradeOnTrial upgrades with a way back. The machine has no way to apt's servers, which a package of the same dependencies
// does not want.
func upgradeOnTrial(t *testing.T, m *machine) {
	m.with(t, configuration("1", "", first...))
	m.sh(t, `cd /root && rm -rf newer && dpkg-deb -R debs/intsink_*.deb newer && cp newer/usr/bin/intsink /usr/local/bin/good &&
		sed -i 's/^Version: .*/Version: 98/' newer/DEBIAN/control && dpkg-deb --root-owner-group -Zgzip -b newer newer.deb >/dev/null`)
	broken := `#!/bin/sh
case $1 in run) ;; *) exec /usr/local/bin/good "$@";; esac
/usr/local/bin/good "$@" & sleep 20; kill -9 $!; exit 3`
	m.write(t, "/root/newer/usr/bin/intsink", broken)
	m.sh(t, `cd /root && sed -i 's/^Version: .*/Version: 99/' newer/DEBIAN/control && dpkg-deb --root-owner-group -Zgzip -b newer broken.deb >/dev/null; rm -rf newer`)
	const version = "dpkg-query -Wf '${Version}' intsink"
	before, pid := m.sh(t, version), m.sh(t, "systemctl show --property=MainPID --value intsink")

	out, err := m.try("intsink upgrade /root/broken.deb 2>&1")
	if err == nil || !strings.Contains(out, "it ended (exit status 3)") {
		t.Errorf("a program that breaks: %v\n%s", err, out)
	}
	m.until(t, time.Minute, isReady, "ok")
	m.until(t, 10*time.Second, "intsink status | tr -s '\\n ' ' '", "it was on trial, and the program before it came back")
	if now := m.sh(t, version); now != before {
		t.Errorf("package %s is installed, not %s", now, before)
	}
	exchange(t, "igb", "virtio", ordered(t, 200))

	m.sh(t, "intsink upgrade /root/newer.deb --confirm 1h")
	m.until(t, time.Minute, isReady, "ok")
	if now := m.sh(t, "systemctl show --property=MainPID --value intsink; systemctl is-active intsink"); !strings.HasPrefix(now, pid) {
		t.Errorf("systemd's process is %s, not %s", now, pid)
	}
	exchange(t, "igb", "virtio", ordered(t, 200))
	boot := strings.TrimSpace(m.sh(t, "cat /proc/sys/kernel/random/boot_id"))
	m.monitor(t, "system_reset")
	m.booted(t, boot)
	m.until(t, time.Minute, isReady, "ok")
	if now := m.sh(t, version+"; intsink status"); !strings.HasPrefix(now, before) || strings.Contains(now, "on trial") {
		t.Errorf("after a power cut:\n%s", now)
	}

	out = m.sh(t, "intsink upgrade /root/newer.deb 2>&1")
	if now := m.sh(t, version); now != "98" || !strings.Contains(out, "confirmed and installed") {
		t.Errorf("package %s: %s", now, out)
	}
	m.until(t, 10*time.Second, "readlink /proc/$(systemctl show --property=MainPID --value intsink)/exe; pidof intsink | wc -w", "/usr/bin/intsink\n1\n")
	exchange(t, "igb", "virtio", ordered(t, 200))
	m.sh(t, "systemctl restart intsink")
	m.until(t, time.Minute, isReady, "ok")
	exchange(t, "igb", "virtio", ordered(t, 200))
}

func purge(t *testing.T, m *machine) {
	m.sh(t, "apt-get -y purge 'intsink*' </dev/null >/root/purge.log 2>&1")
	if out, _ := m.try("find /etc /usr /lib -xdev -name '*intsink*'"); strings.TrimSpace(out) != "" {
		t.Errorf("left are\n%s", out)
	}
}
