package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"intsink/bench/internal/cleanup"
	"intsink/bench/internal/dut"
)

// fullDisk is a small file system in memory that is full while its condition lasts. intsink
// has its log there, and captures go there.
type fullDisk struct {
	dir string
}

// diskSize is what it holds.
const diskSize = "1m"

// newFullDisk mounts one; undo takes it away.
func newFullDisk(dir string) (d *fullDisk, undo func(), err error) {
	d = &fullDisk{filepath.Join(dir, "disk")}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		return nil, nil, err
	}
	if err := unix.Mount("intsink-bench", d.dir, "tmpfs", 0, "size="+diskSize); err != nil {
		return nil, nil, fmt.Errorf("mount a file system to fill: %w; root may", err)
	}
	return d, cleanup.Add(func() { unix.Unmount(d.dir, unix.MNT_DETACH) }), nil
}

func (d *fullDisk) log() string    { return filepath.Join(d.dir, "log") }
func (d *fullDisk) filler() string { return filepath.Join(d.dir, "filler") }

// fill leaves no room.
func (d *fullDisk) fill() error {
	f, err := os.Create(d.filler())
	if err != nil {
		return err
	}
	defer f.Close()
	for b := make([]byte, 4096); ; {
		if _, err := f.Write(b); errors.Is(err, unix.ENOSPC) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// condition fills the disk; twenty refused writes a second each want a line of the log, and a
// capture a second a file.
func (d *fullDisk) condition() condition {
	lines, captures := &owed{perSecond: 20}, &owed{perSecond: 1}
	return condition{"log and captures on a full disk", func(p *dut.Intsink, length time.Duration) (func() (int, error), error) {
		if err := d.fill(); err != nil {
			return nil, err
		}
		before, err := os.Stat(d.log())
		if err != nil {
			return nil, err
		}
		c := newCrew()
		c.spread(lines.take(length), length, func() error { return refusedWrite(p) })
		c.spread(captures.take(length), length, func() error { return d.capture(p) })
		return func() (int, error) {
			times, err := c.leave()
			after, statErr := os.Stat(d.log())
			if statErr == nil && after.Size()-before.Size() >= 4096 {
				statErr = fmt.Errorf("%s grew from %d to %d bytes: its disk was not full", d.log(), before.Size(), after.Size())
			}
			return times, errors.Join(err, statErr, os.Remove(d.filler()))
		}, nil
	}}
}

// refusedWrite asks over TCP for what takes a token: intsink refuses it, and logs that.
func refusedWrite(p *dut.Intsink) error {
	answer, err := http.Post("http://"+p.Address()+"/api/v1/reload", "application/json", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusForbidden && answer.StatusCode != http.StatusTooManyRequests {
		return fmt.Errorf("POST /api/v1/reload without a token: %s", answer.Status)
	}
	return nil
}

// capture fails, since the disk is full.
func (d *fullDisk) capture(p *dut.Intsink) error {
	said, err := p.Command("capture", "-w", filepath.Join(d.dir, "capture.pcapng"), "--seconds", "1")
	if err == nil || !strings.Contains(said, "no space left") {
		return fmt.Errorf("a capture onto a full disk: %v, it said: %s", err, said)
	}
	return nil
}
