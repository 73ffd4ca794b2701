package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"text/template"
	"time"
)

// input is what intsink does with the frames.
type input struct {
	stripped bool   // every frame counts as INT, else none
	udpPort  uint16 // that marks INT
	sample   int    // one report per that many packets; 0: events only
}

// configuration is intsink's, but for addresses all defaults.
var configuration = template.Must(template.New("").Parse(`
node { id = 1 }
dpdk {
  lcores    = "{{.Lcore}}"
  hugepages = "{{.Hugepages}}"
  mbufs     = {{.Mbufs}}
}
port "network" { device = "{{.Network}}" }
port "host"    { device = "{{.Host}}" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = {{.UDPPort}} }
flows { capacity = 65536 }
watch "all" {
  sample = {{.Sample}}
}
collector "sink" { address = "{{.Collector}}" }
http { listen = "{{.HTTP}}" }
`))

// runIntsink measures one run of intsink. It fails when the counters do not add
// up, or INT was not found in exactly the frames that should carry it.
func runIntsink(s *setup, in input) (packetsPerSecond float64, err error) {
	sink, err := newSink()
	if err != nil {
		return 0, err
	}
	defer sink.close()
	p, err := startIntsink(s, in, sink.address())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := p.waitReady(10 * time.Second); err != nil {
		return 0, err
	}
	time.Sleep(s.warmup)
	before, err := p.scrape()
	if err != nil {
		return 0, err
	}
	if err := p.spend(s.measure, s.profile); err != nil {
		return 0, err
	}
	after, err := p.scrape()
	if err != nil {
		return 0, err
	}
	d := after.since(before)
	if err := d.check(in); err != nil {
		return 0, err
	}
	if in.sample > 0 && sink.packets.Load() == 0 {
		return 0, errors.New("no report packet reached the collector")
	}
	return d.forwarded / d.seconds, nil
}

// process is a running intsink.
type process struct {
	cmd    *exec.Cmd
	url    string       // of its HTTP endpoint
	said   bytes.Buffer // its stderr, for faults
	exited chan error
}

func startIntsink(s *setup, in input, collector string) (*process, error) {
	listen, err := freeAddress()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.dir, "intsink.hcl")
	if err := s.writeConfiguration(path, in, collector, listen); err != nil {
		return nil, err
	}
	p := &process{url: "http://" + listen, exited: make(chan error, 1)}
	p.cmd = exec.Command(s.intsink, "run", "--config", path)
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w; `make build` makes it", err)
	}
	go func() { p.exited <- p.cmd.Wait() }()
	return p, nil
}

func (s *setup) writeConfiguration(path string, in input, collector, listen string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	hugepages := "off"
	if s.hugepages {
		hugepages = "on"
	}
	return configuration.Execute(f, map[string]any{
		"Lcore": s.lcore, "Hugepages": hugepages, "Mbufs": s.mbufs,
		"Network": s.networkVdev(), "Host": hostVdev,
		"UDPPort": in.udpPort, "Sample": in.sample, "Collector": collector, "HTTP": listen,
	})
}

// freeAddress is an unused TCP address on loopback.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// spend waits for d. Where profile names a file, it is the time profiled, in
// whole seconds.
func (p *process) spend(d time.Duration, profile string) error {
	if profile == "" {
		time.Sleep(d)
		return nil
	}
	resp, err := http.Get(fmt.Sprintf("%s/debug/pprof/profile?seconds=%.0f", p.url, max(1, d.Seconds())))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(profile, b, 0o644)
}

// waitReady waits until intsink answers with its counters.
func (p *process) waitReady(limit time.Duration) error {
	for start := time.Now(); time.Since(start) < limit; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-p.exited:
			p.exited <- err
			return fmt.Errorf("ended early: %v; it said:\n%s", err, p.said.String())
		default:
		}
		if _, err := p.scrape(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("not ready after %v", limit)
}

// stop drains intsink, by force after 10 seconds. A fault when draining is one
// of the run.
func (p *process) stop() error {
	p.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(10*time.Second, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	if err := <-p.exited; err != nil {
		return fmt.Errorf("at its end: %w; it said:\n%s", err, p.said.String())
	}
	return nil
}
