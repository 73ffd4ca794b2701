package installed_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/internal/netns"
)

// container is a stand-in for what docs/containers.md has: a process in namespaces of its own, number 1
// there, with a root that is read only but for the folder of its socket, and the given capabilities.
type container struct {
	inside   string // runs a command there, in front of it
	program  string
	pid      string // of intsink, outside
	outside  *exec.Cmd
	said     bytes.Buffer
	runtime  string
	finished chan error
}

// contain starts intsink run there. capabilities are such as "-all,+net_raw".
func contain(t *testing.T, config string, uid int, capabilities string) *container {
	t.Helper()
	dir, err := os.MkdirTemp("", "intsink-container") // those of Go's tests are closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &container{program: filepath.Join(dir, "intsink"), runtime: filepath.Join(dir, "run"), finished: make(chan error, 1)}
	netns.Sh(t, fmt.Sprintf("chmod 755 %[1]s; cp %[2]s %[3]s; mkdir %[4]s", dir, os.Args[0], c.program, c.runtime))
	path := sinktest.Write(t, filepath.Join(dir, "c.hcl"), strings.ReplaceAll(config, "RUNTIME", c.runtime))
	netns.Sh(t, "chmod 644 "+path)
	as := fmt.Sprintf("env -i INTSINK_TEST_MAIN=1 RUNTIME_DIRECTORY=%s setpriv --reuid=%[2]d --regid=%[2]d --clear-groups --no-new-privs --bounding-set=%[3]s --inh-caps=-all %s ",
		c.runtime, uid, capabilities, c.program)
	c.outside = exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec",
		fmt.Sprintf("mount -t tmpfs -o mode=1777 tmpfs %s; mount -o remount,bind,ro /; ! touch %s 2>/dev/null; exec %srun --config %s", c.runtime, path, as, path))
	c.outside.Stderr = &c.said
	if err := c.outside.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.finished <- c.outside.Wait() }()
	t.Cleanup(func() { c.outside.Process.Kill() })
	for end := time.Now().Add(sinktest.Patience); ; time.Sleep(20 * time.Millisecond) {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", c.outside.Process.Pid))
		if c.pid = strings.TrimSpace(string(children)); c.pid != "" {
			c.inside = "nsenter -t " + c.pid + " -m " + as
			if _, err := c.run("health"); err == nil {
				return c
			}
		}
		if time.Now().After(end) {
			c.outside.Process.Kill()
			<-c.finished
			t.Fatalf("it does not become healthy:\n%s", c.said.String())
		}
	}
}

func (c *container) run(args string) (string, error) {
	out, err := exec.Command("sh", "-c", c.inside+args).CombinedOutput()
	return string(out), err
}

// stop ends it as an orchestrator does.
func (c *container) stop(t *testing.T) {
	t.Helper()
	netns.Sh(t, "kill -TERM "+c.pid)
	select {
	case err := <-c.finished:
		if err != nil || !strings.Contains(c.said.String(), "all mbufs returned") {
			t.Errorf("%v\n%s", err, c.said.String())
		}
	case <-time.After(sinktest.Patience):
		t.Error("it does not stop")
	}
}

// TestContainerWithoutPrivileges: no user, no capability and a root that is read only are enough for ports
// that need none. It is healthy while a port's link is down and the endpoint wants TLS, and asked by the
// socket alone, as the image's HEALTHCHECK does.
func TestContainerWithoutPrivileges(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, "ip link set lo up")
	keys := t.TempDir()
	netns.Sh(t, "chmod 755 "+keys+" "+filepath.Dir(keys)+"; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "+keys+"/k.pem -out "+keys+"/c.pem -days 9 -subj /CN=sink.example 2>/dev/null; chmod 644 "+keys+"/*")
	text := strings.Replace(sinktest.Small+sinktest.Config("udp_port = 5000"), "net_null0", "net_memif0,role=server,id=1,socket=RUNTIME/memif.sock,socket-abstract=no", 1)
	text = strings.Replace(text, `http { listen = "%s" }`, fmt.Sprintf("http {\n  listen = \"127.0.0.1:9465\"\n  tls {\n    certificate = \"%[1]s/c.pem\"\n    key = \"%[1]s/k.pem\"\n  }\n}\n", keys), 1)
	c := contain(t, text, 10001, "-all")
	if said, err := c.run("status --socket " + c.runtime + "/api.sock"); err == nil || !strings.Contains(said, "not ready") {
		t.Errorf("a sink whose link is down: %v\n%s", err, said)
	}
	if status, _ := os.ReadFile("/proc/" + c.pid + "/status"); !bytes.Contains(status, []byte("\nCapBnd:\t0000000000000000\n")) {
		t.Errorf("it has capabilities:\n%s", status)
	}
	c.stop(t)
	if said, err := exec.Command("sh", "-c", "INTSINK_TEST_MAIN=1 RUNTIME_DIRECTORY="+c.runtime+" "+c.program+" health").CombinedOutput(); err == nil {
		t.Errorf("a sink that has stopped is healthy: %s", said)
	}
}

// TestContainerOfKernelPorts: root with CAP_NET_RAW alone forwards between interfaces whose MTU the
// configuration leaves alone.
func TestContainerOfKernelPorts(t *testing.T) {
	if !netns.In(t) {
		return
	}
	there, in := sinktest.TwoHosts(t, 1500)
	there(func() { sinktest.Echo(t, "[::]:7") })
	c := contain(t, strings.Replace(sinktest.KernelPorts("kernel:s-net", "kernel:s-host"), "%s", "127.0.0.1:9465", 1), 0, "-all,+net_raw")
	sinktest.Bulk(t, "10.66.0.2:7", 1<<20)
	netns.Sh(t, "ping -qc3 -i0.2 -W180 10.66.0.2; "+in+"ping -qc3 -i0.2 -W180 10.66.0.1")
	c.stop(t)
}
