package dut

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Vswitchd is Open vSwitch with its datapath over DPDK, of Debian's openvswitch-switch-dpdk.
const Vswitchd = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"

// OVS is a running Open vSwitch with one bridge, and its database: processes, files and sockets of its own.
type OVS struct {
	dir              string
	database, daemon *exec.Cmd
	ended            []func()
}

// StartOVS starts Open vSwitch and returns when it forwards from the network's device to the host's.
// Its one OpenFlow rule selects a UDP destination port and clears the DSCP; each flow has an entry of
// the exact match cache, as a table of flows has one: emc-insert-inv-prob is 1.
func StartOVS(s *Setup, port int) (o *OVS, err error) {
	o = &OVS{}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Stop())
		}
	}()
	if o.dir, err = os.MkdirTemp(s.Dir, "ovs-"); err != nil {
		return o, err
	}
	if err := o.startDatabase(s); err != nil {
		return o, err
	}
	if o.daemon, err = o.start(Vswitchd, "unix:"+o.socket(), "--no-chdir", "--log-file="+o.log(), "-vconsole:off"); err != nil {
		return o, err
	}
	if err := o.say("ovs-vsctl", "--timeout=60", "--db=unix:"+o.socket(),
		"add-br", "br", "--", "set", "bridge", "br", "datapath_type=netdev", "fail-mode=secure",
		"--", "add-port", "br", "network", "--", "set", "Interface", "network", "type=dpdk", "options:dpdk-devargs="+s.Network, "ofport_request=1",
		"--", "add-port", "br", "host", "--", "set", "Interface", "host", "type=dpdk", "options:dpdk-devargs="+s.Host, "ofport_request=2"); err != nil {
		return o, err
	}
	return o, o.say("ovs-ofctl", "--timeout=20", "add-flow", o.bridge(), fmt.Sprintf("in_port=1,udp,tp_dst=%d,actions=mod_nw_tos:0,output:2", port))
}

// startDatabase makes the database with the settings of s, and starts its server.
func (o *OVS) startDatabase(s *Setup) (err error) {
	file := filepath.Join(o.dir, "conf.db")
	if err := o.say("ovsdb-tool", "create", file, "/usr/share/openvswitch/vswitch.ovsschema"); err != nil {
		return err
	}
	if o.database, err = o.start("ovsdb-server", file, "--remote=punix:"+o.socket(), "--no-chdir", "--log-file="+filepath.Join(o.dir, "ovsdb.log"), "-vconsole:off"); err != nil {
		return err
	}
	for wait := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(o.socket()); err == nil {
			break
		} else if time.Now().After(wait) {
			return fmt.Errorf("ovsdb-server: %w", err)
		}
	}
	mask := 0
	for _, l := range s.Lcores {
		mask |= 1 << l
	}
	extra := "--no-pci --no-telemetry --in-memory"
	if !s.Memory.huge {
		extra = fmt.Sprintf("--no-pci --no-telemetry --no-huge -m %d", smallMiB(s.Mbufs))
	}
	set := []string{"--timeout=20", "--db=unix:" + o.socket(), "--no-wait", "set", "Open_vSwitch", "."}
	for name, value := range map[string]string{
		"dpdk-init": "true", "dpdk-extra": extra, "dpdk-lcore-mask": fmt.Sprintf("%#x", 1<<s.Control), "pmd-cpu-mask": fmt.Sprintf("%#x", mask),
		"per-port-memory": "true", "emc-insert-inv-prob": "1",
	} {
		set = append(set, fmt.Sprintf("other_config:%s=%q", name, value))
	}
	return o.say("ovs-vsctl", set...)
}

func (o *OVS) socket() string { return filepath.Join(o.dir, "db.sock") }
func (o *OVS) log() string    { return filepath.Join(o.dir, "vswitchd.log") }
func (o *OVS) bridge() string { return "unix:" + filepath.Join(o.dir, "br.mgmt") }

// environment keeps all files of Open vSwitch in its folder.
func (o *OVS) environment() []string {
	return append(os.Environ(), "OVS_RUNDIR="+o.dir, "OVS_LOGDIR="+o.dir, "OVS_DBDIR="+o.dir)
}

func (o *OVS) start(name string, args ...string) (*exec.Cmd, error) {
	c := exec.Command(name, args...)
	c.Env = o.environment()
	ended, err := start(c)
	if err == nil {
		o.ended = append(o.ended, ended)
	}
	return c, err
}

// say runs a command to its end; an error has what it said, and the last lines of the switch's log.
func (o *OVS) say(name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Env = o.environment()
	if out, err := c.CombinedOutput(); err != nil {
		log, _ := os.ReadFile(o.log())
		lines := strings.Split(strings.TrimSpace(string(log)), "\n")
		return fmt.Errorf("%s: %w: %s\n%s", name, err, bytes.TrimSpace(out), strings.Join(lines[max(0, len(lines)-8):], "\n"))
	}
	return nil
}

var ofctlTx = regexp.MustCompile(`tx pkts=(\d+)`)

// Read asks for the packets that went out of the host side.
func (o *OVS) Read() (Reading, error) {
	at := time.Now()
	c := exec.Command("ovs-ofctl", "--timeout=20", "dump-ports", o.bridge(), "2")
	c.Env = o.environment()
	out, err := c.CombinedOutput()
	m := ofctlTx.FindSubmatch(out)
	if err != nil || m == nil {
		return Reading{}, fmt.Errorf("ovs-ofctl dump-ports: %v: %s", err, out)
	}
	n, err := strconv.ParseUint(string(m[1]), 10, 64)
	return Reading{At: at, Forwarded: float64(n)}, err
}

// PID is the process of ovs-vswitchd.
func (o *OVS) PID() int { return o.daemon.Process.Pid }

// Stop kills both processes: they keep nothing that is needed again.
func (o *OVS) Stop() error {
	for _, c := range []*exec.Cmd{o.daemon, o.database} {
		if c != nil && c.Process != nil {
			c.Process.Kill()
			c.Wait()
		}
	}
	for _, ended := range o.ended {
		ended()
	}
	return os.RemoveAll(o.dir)
}
