package installed_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/internal/netns"
)

// unitFile is the unit as it is installed.
const unitFile = "../../../../deploy/systemd/intsink.service"

// TestUnitExposure: what the unit may do, as systemd scores it (scripts/deps.sh
// installs systemd's tool).
func TestUnitExposure(t *testing.T) {
	cmd := exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=22", "--no-pager", unitFile)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("exposure is above 2.2: %v\n%s", err, out)
	}
}

// TestUnitKeepsTheLinkUp: an inline box that is off is a dead link: systemd starts it again and again,
// also where it hangs, and takes memory from others first.
func TestUnitKeepsTheLinkUp(t *testing.T) {
	unit, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"StartLimitIntervalSec=0", "Type=notify", "WatchdogSec=10", "Restart=always", "RestartSec=1", "LimitCORE=0", "OOMScoreAdjust=-900",
		"After=network-online.target time-sync.target", "ExecReload=/usr/local/bin/intsink reload",
	} {
		if !strings.Contains(string(unit), "\n"+want+"\n") {
			t.Errorf("the unit lacks %s", want)
		}
	}
}

// TestUnitDevices: the unit lets the sink open what its ports need. A name behind char- is one that the
// kernel has in /proc/devices, where a group of VFIO is, but not the container: that is a misc device.
func TestUnitDevices(t *testing.T) {
	unit, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	kernels := map[string]bool{"vfio": true, "infiniband_verbs": true} // vfio.c, uverbs_main.c of Linux 6.1
	allowed := map[string]bool{}
	for line := range strings.Lines(string(unit)) {
		if what, found := strings.CutPrefix(strings.TrimSpace(line), "DeviceAllow="); found {
			allowed[what] = true
			name, isGroup := strings.CutPrefix(strings.TrimSuffix(what, " rw"), "char-")
			if isGroup && !kernels[name] {
				t.Errorf("%s: no kernel has devices of the name %s", what, name)
			}
		}
	}
	for _, want := range []string{"/dev/vfio/vfio rw", "char-vfio rw", "/dev/net/tun rw", "char-infiniband_verbs rw"} {
		if !allowed[want] {
			t.Errorf("the unit lacks DeviceAllow=%s", want)
		}
	}
}

// TestUnitKeys: the systemd of this Debian knows each key of the units.
func TestUnitKeys(t *testing.T) {
	for _, name := range []string{"intsink", "intsink-collect"} {
		text, err := os.ReadFile("../../../../deploy/systemd/" + name + ".service")
		if err != nil {
			t.Fatal(err)
		}
		path := sinktest.Write(t, filepath.Join(t.TempDir(), name+".service"), regexp.MustCompile(`/usr/local/bin/\S+`).ReplaceAllString(string(text), "/bin/true"))
		if out, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		for _, want := range []string{"Restart=always", "LimitCORE=0"} {
			if !strings.Contains(string(text), "\n"+want+"\n") {
				t.Errorf("%s lacks %s", name, want)
			}
		}
	}
}

// TestUnprivilegedUser: a user with the three capabilities of the unit and no others
// forwards between kernel interfaces, and is asked and reloaded over its socket.
func TestUnprivilegedUser(t *testing.T) {
	if !netns.In(t) {
		return
	}
	unit, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	if want := "\nAmbientCapabilities=CAP_IPC_LOCK CAP_NET_ADMIN CAP_NET_RAW\n"; !strings.Contains(string(unit), want) {
		t.Fatalf("the unit has other capabilities than this test:%s", want)
	}
	there, in := sinktest.TwoHosts(t, 1500)
	there(func() { sinktest.Echo(t, "[::]:7") })

	// Directories of Go's tests are closed to other users.
	dir, err := os.MkdirTemp("", "intsink-user")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, socket := filepath.Join(dir, "intsink"), filepath.Join(dir, "run", "api.sock")
	netns.Sh(t, fmt.Sprintf("chmod 755 %[1]s; cp %[2]s %[3]s; mkdir %[1]s/run; chown 65534:65534 %[1]s/run", dir, os.Args[0], program))
	text := strings.Replace(sinktest.KernelPorts("kernel:s-net", "kernel:s-host"), `http { listen = "%s" }`, fmt.Sprintf("http {\n  listen = %q\n  socket = %q\n}", "127.0.0.1:9465", socket), 1)
	path := sinktest.Write(t, filepath.Join(dir, "c.hcl"), text)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) *exec.Cmd {
		c := exec.Command(program, args...)
		c.Env = []string{"INTSINK_TEST_MAIN=1", "RUNTIME_DIRECTORY=" + filepath.Join(dir, "run"), "PATH=" + os.Getenv("PATH")}
		c.SysProcAttr = &syscall.SysProcAttr{
			Credential:  &syscall.Credential{Uid: 65534, Gid: 65534},
			AmbientCaps: []uintptr{unix.CAP_IPC_LOCK, unix.CAP_NET_ADMIN, unix.CAP_NET_RAW},
		}
		return c
	}
	r := sinktest.StartCommand(t, command("run", "--config", path))
	r.HTTP = "127.0.0.1:9465"
	r.Ready(t)
	sinktest.Bulk(t, "10.66.0.2:7", 1<<20)
	netns.Sh(t, "ping -qc3 -i0.2 -W180 10.66.0.2; "+in+"ping -qc3 -i0.2 -W180 10.66.0.1")
	r.Balanced(t)
	if out, err := command("reload", "--config", path, "--format", "json").CombinedOutput(); err != nil || !json.Valid(out) {
		t.Errorf("reload as the service's user: %v\n%s", err, out)
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d\n%s", code, r.Stderr)
	}
}
