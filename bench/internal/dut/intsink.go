package dut

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"intsink/internal/loopback"
)

// Intsink is a running intsink with a collector that counts.
type Intsink struct {
	cmd    *exec.Cmd
	config string       // path of its configuration
	ended  func()       // it needs no killing any more
	url    string       // of its HTTP endpoint
	pprof  string       // address of its profiles; "": none
	said   bytes.Buffer // its stderr, for faults
	exited chan error
	sink   *sink
	task   Task
	// write writes the configuration of a task to where intsink reads it.
	write func(Task) error
}

// StartIntsink returns when intsink answers with its counters.
func StartIntsink(s *Setup, t Task) (*Intsink, error) {
	sink, err := newSink()
	if err != nil {
		return nil, err
	}
	listen, err := loopback.FreeAddress()
	if err != nil {
		return nil, err
	}
	pprof := ""
	if s.Profiles {
		if pprof, err = loopback.FreeAddress(); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(s.Dir, "intsink.hcl")
	p := &Intsink{url: "http://" + listen, pprof: pprof, exited: make(chan error, 1), sink: sink, task: t}
	p.write = func(t Task) error { return s.Configuration(path, t, sink.address(), listen, pprof) }
	if err := p.write(t); err != nil {
		return nil, err
	}
	p.cmd = exec.Command(s.Intsink, "run", "--config", path)
	p.config, p.cmd.Stdout, p.cmd.Stderr = path, &p.said, &p.said
	if s.Log != "" {
		log, err := os.OpenFile(s.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, err
		}
		defer log.Close()
		p.cmd.Stdout, p.cmd.Stderr = log, log
	}
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

// Command runs another command of intsink, against this one, and returns what it said.
func (p *Intsink) Command(args ...string) (said string, err error) {
	b, err := exec.Command(p.cmd.Path, append(args, "--config", p.config)...).CombinedOutput()
	return string(b), err
}

// PID is intsink's process.
func (p *Intsink) PID() int { return p.cmd.Process.Pid }

// Task returns the task that it was started with, or the last one given to Reload.
func (p *Intsink) Task() Task { return p.task }

// Read scrapes the counters.
func (p *Intsink) Read() (Reading, error) {
	c, at, err := p.scrape()
	return Reading{At: at, Forwarded: c.Forwarded, Counters: c}, err
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

// Stop drains intsink, by force after 10 seconds. It returns an error if draining fails, or if
// the collector got nothing although each packet should be reported.
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
