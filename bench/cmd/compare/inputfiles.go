package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/traffic"
)

// captures are the files with the frames of each spec.
type captures map[traffic.Spec]string

// make writes the frames of every row, and replays some of each: a sink that
// does not give back the original of a frame, byte for byte, is not measured.
func (c captures) make(s *dut.Setup, rows []*row) error {
	for _, r := range rows {
		if c[r.spec] == "" {
			path := filepath.Join(s.Dir, fmt.Sprintf("input%d.pcap", len(c)))
			if err := traffic.WriteCapture(path, r.spec, r.spec.Frames); err != nil {
				return err
			}
			c[r.spec] = path
		}
		if r.mode == "" {
			if err := checkReplay(s, r.task); err != nil {
				return fmt.Errorf("%s: %w", r.title, err)
			}
		}
	}
	return nil
}

// checkedFrames of each input are compared with their originals.
const checkedFrames = 1000

func checkReplay(s *dut.Setup, t task) error {
	in, out, config := filepath.Join(s.Dir, "some.pcap"), filepath.Join(s.Dir, "out.pcap"), filepath.Join(s.Dir, "replay.hcl")
	if err := traffic.WriteCapture(in, t.spec, checkedFrames); err != nil {
		return err
	}
	replay := *s
	replay.Network, replay.Host, replay.Lcores = "net_null0", "net_null1", []int{s.Control}
	if err := replay.Configuration(config, t.dut, "127.0.0.1:9", "127.0.0.1:0", ""); err != nil {
		return err
	}
	cmd := exec.Command(s.Intsink, "replay", "--config", config, "--in", in, "--out", out, "--reports", filepath.Join(s.Dir, "reports.pcap"))
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s replay: %w\n%s", s.Intsink, err, said)
	}
	frames, err := traffic.ReadCapture(out)
	if err != nil {
		return err
	}
	return compareFrames(t, frames)
}

func compareFrames(t task, frames [][]byte) error {
	if len(frames) != checkedFrames {
		return fmt.Errorf("replay forwarded %d of %d frames", len(frames), checkedFrames)
	}
	m, err := traffic.New(t.spec)
	if err != nil {
		return err
	}
	for i, got := range frames {
		want, marked, err := m.Frame(i)
		if err != nil {
			return err
		}
		if t.plain {
			want = marked
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("replay made of frame %d\n%x, want\n%x", i, got, want)
		}
	}
	return nil
}
