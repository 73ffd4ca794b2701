package dut

import (
	"bytes"
	"cmp"
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

// Task is what intsink does with the frames.
type Task struct {
	INT      string // body of the int block: what marks INT
	Watch    bool   // all flows, with the events that are on by default; else strip only
	Sample   int    // one report per that many packets; 0: events only
	Capacity int    // of the flow table; 0: 65536
	Events   string // list of the watch's events; empty: the default
	Limits   string // body of the events block
	Report   string // body of the report block
	Budget   int    // report packets per second; 0: no limit
}

// configuration is intsink's, but for addresses all defaults.
var configuration = template.Must(template.New("").Parse(`
node { id = 1 }
dpdk {
  lcores    = "{{.Lcores}}"
  hugepages = "{{.Hugepages}}"
  mbufs     = {{.Mbufs}}
}
port "network" { device = "{{.Network}}" }
port "host"    { device = "{{.Host}}" }
link "edge" {
  network = "network"
  host    = "host"
}
int {
  {{.INT}}
}
flows { capacity = {{.Capacity}} }
{{with .Limits}}events {
  {{.}}
}
{{end -}}
{{with .Report}}report {
  {{.}}
}
{{end -}}
{{if .Watch}}watch "all" {
  sample = {{.Sample}}
{{- with .Events}}
  events = {{.}}
{{- end}}
}
{{end -}}
collector "sink" {
  address = "{{.Collector}}"
{{- with .Budget}}
  budget { packets = {{.}} }
{{- end}}
}
http {
  listen = "{{.HTTP}}"
{{- if .Pprof}}
  pprof  = "{{.Pprof}}"
{{- end}}
}
`))

// Configuration writes intsink's configuration to path.
func (s *Setup) Configuration(path string, t Task, collector, listen, pprof string) error {
	hugepages := "off"
	if s.Memory.huge {
		hugepages = "on"
	}
	t.Capacity = cmp.Or(t.Capacity, 65536)
	var b bytes.Buffer
	err := configuration.Execute(&b, struct {
		Task
		*Setup
		Lcores, Hugepages, Collector, HTTP, Pprof string
	}{t, s, s.lcoreList(), hugepages, collector, listen, pprof})
	if err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// Intsink is a running intsink with a collector that counts.
type Intsink struct {
	cmd    *exec.Cmd
	ended  func()       // it needs no killing any more
	url    string       // of its HTTP endpoint
	pprof  string       // address of its profiles; "": none
	said   bytes.Buffer // its stderr, for faults
	exited chan error
	sink   *sink
	task   Task
}

// StartIntsink returns when intsink answers with its counters.
func StartIntsink(s *Setup, t Task) (*Intsink, error) {
	sink, err := newSink()
	if err != nil {
		return nil, err
	}
	listen, err := freeAddress()
	if err != nil {
		return nil, err
	}
	pprof := ""
	if s.Profiles {
		if pprof, err = freeAddress(); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(s.Dir, "intsink.hcl")
	if err := s.Configuration(path, t, sink.address(), listen, pprof); err != nil {
		return nil, err
	}
	p := &Intsink{url: "http://" + listen, pprof: pprof, exited: make(chan error, 1), sink: sink, task: t}
	p.cmd = exec.Command(s.Intsink, "run", "--config", path)
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	p.cmd.Env = append(os.Environ(), s.Env...)
	if p.ended, err = start(p.cmd); err != nil {
		return nil, fmt.Errorf("%w; `make build` makes it", err)
	}
	go func() { p.exited <- p.cmd.Wait() }()
	if err := p.waitReady(30 * time.Second); err != nil {
		p.ended()
		return nil, err
	}
	return p, nil
}

// freeAddress is where nobody listens at the moment.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// PID is intsink's process.
func (p *Intsink) PID() int { return p.cmd.Process.Pid }

// Read scrapes the counters.
func (p *Intsink) Read() (Reading, error) {
	c, at, err := p.scrape()
	return Reading{At: at, Forwarded: c.Forwarded, Counters: c}, err
}

// Profile fetches one of Go's profiles, such as "heap", where Setup.Profiles is set.
func (p *Intsink) Profile(name string) ([]byte, error) {
	return fetch("http://" + p.pprof + "/debug/pprof/" + name)
}

// fetch gets what a URL of intsink answers.
func fetch(url string) ([]byte, error) {
	resp, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return io.ReadAll(resp.Body)
}

// waitReady waits until intsink answers with its counters.
func (p *Intsink) waitReady(limit time.Duration) error {
	for start := time.Now(); time.Since(start) < limit; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-p.exited:
			p.exited <- err
			return fmt.Errorf("ended early: %v; it said:\n%s", err, p.said.String())
		default:
		}
		if _, _, err := p.scrape(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("not ready after %v", limit)
}

// Stop drains intsink, by force after 10 seconds. A fault when draining is one
// of the run, and so is a collector that got nothing where each packet should be
// reported.
func (p *Intsink) Stop() error {
	defer p.sink.close()
	defer p.ended()
	p.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(10*time.Second, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	if err := <-p.exited; err != nil {
		return fmt.Errorf("at its end: %w; it said:\n%s", err, p.said.String())
	}
	if p.task.Sample > 0 && p.sink.packets.Load() == 0 {
		return errors.New("no report packet reached the collector")
	}
	return nil
}
