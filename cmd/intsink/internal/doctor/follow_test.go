package doctor

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"intsink/conf"
)

// wrong are the findings that something is to be done about.
func wrong(m *Machine, c *conf.Config) (bad []Finding) {
	for _, f := range Examine(m, c) {
		if f.Level != OK {
			bad = append(bad, f)
		}
	}
	return bad
}

// mends tells whether a Fix is a command that changes something: others are for people, or list what there is.
func mends(fix string) bool {
	return fix != "" && !strings.HasPrefix(fix, comment) && !strings.HasPrefix(fix, "dpdk-devbind.py --status") && fix != "ip -br link"
}

// tools do below $ROOT what those of a machine do.
var tools = map[string]string{
	"sysctl": `pages=$ROOT/sys/kernel/mm/hugepages/hugepages-2048kB new=${2#vm.nr_hugepages=}
		free=$(($(cat $pages/free_hugepages) + new - $(cat $pages/nr_hugepages)))
		echo $free > $pages/free_hugepages; echo $new > $pages/nr_hugepages`,
	"cpupower":         `echo $6 > $ROOT/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor`,
	"modprobe":         `: > $ROOT/dev/vfio/vfio; chmod 666 $ROOT/dev/vfio/vfio`,
	"dpdk-devbind.py":  `ln -sfn ../../drivers/${1#--bind=} $ROOT/sys/bus/pci/devices/$2/driver`,
	"udevadm":          `[ $1 != trigger ] || chmod 660 $ROOT/dev/vfio/7`,
	"systemd-sysusers": `echo "intsink:x:64001:$(id -g)::/:/usr/sbin/nologin" > $ROOT/etc/passwd`,
	"systemctl":        `:`,
	"ip":               `case $4 in mtu) echo $5 > $ROOT/sys/class/net/$3/mtu;; up) echo 1 > $ROOT/sys/class/net/$3/carrier;; esac`,
}

// absolute are the paths in a command that a shell opens; those in quoted lines of a unit are after "=".
var absolute = regexp.MustCompile(`(\s)/(etc|sys|dev|usr)/`)

// follow runs a command with tools, and with root in front of its paths.
func follow(t *testing.T, root, command string) {
	t.Helper()
	bin := t.TempDir()
	for name, script := range tools {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nset -e\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "etc/default"), 0o755); err != nil { // where packages put files
		t.Fatal(err)
	}
	sh := exec.Command("sh", "-ec", absolute.ReplaceAllString(command, "${1}"+root+"/$2/"))
	sh.Env = append(os.Environ(), "ROOT="+root, "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// TestNamesInFixes: a shell takes a name as one word, whatever is in it, and no name begins a line.
func TestNamesInFixes(t *testing.T) {
	if got := quoted("eth0.100"); got != "eth0.100" {
		t.Errorf("a usual name: %s", got)
	}
	m := machine(t, good())
	for _, name := range []string{"a b", "e;id", "$(id)", "it's", "", "`id`", "-x"} {
		out, err := exec.Command("sh", "-c", "printf %s "+quoted(name)).Output()
		if err != nil || string(out) != name {
			t.Errorf("%q: a shell takes %q, %v", name, out, err)
		}
	}
	dir := filepath.Join(m.Root, "sys/class/net/$(touch owned)")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"mtu": "1500", "carrier": "0"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for device, want := range map[string]string{
		"net_pcap0,iface=x\ntouch owned\n#": "there is no interface x?touch owned?#\nip -br link\n",
		"kernel:$(touch owned)":             "\nip link set '$(touch owned)' up ",
	} {
		c := config()
		c.Ports[1].Device = device
		c.DPDK.Lcores = c.DPDK.Lcores[:1]
		for _, fix := range []bool{true, false} {
			var b bytes.Buffer
			Run(&b, m, c, fix)
			if strings.Contains(b.String(), "\ntouch owned") || fix && !strings.Contains(b.String(), want) {
				t.Errorf("%q:\n%s", device, b.String())
			}
		}
	}
}
