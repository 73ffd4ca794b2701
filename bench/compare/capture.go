package main

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// genUDPPort marks INT in the frames that `intsink gen` makes.
const genUDPPort = 5000

// frames say what the capture holds. The default is the reference input: it is
// small enough that the driver's own copy of it stays in the cache.
type frames struct{ count, flows, hops, size int }

func genFlags(f *flag.FlagSet) *frames {
	g := &frames{}
	f.IntVar(&g.count, "frames", 1000, "frames in the capture")
	f.IntVar(&g.flows, "flows", 1000, "flows in the capture")
	f.IntVar(&g.hops, "hops", 3, "hops in each frame, 20 bytes each")
	f.IntVar(&g.size, "size", 138, "bytes of each frame")
	return g
}

// makeCapture lets intsink generate the frames, INT-MD over UDP marked by
// destination port, where the user gave none. It replays them once: a sink that
// leaves INT in, or loses a frame, is not measured.
func (s *setup) makeCapture(g *frames) error {
	// Shim 4, INT-MD header 12, and five 4-byte words per hop (INT 2.1, 5.7 and 5.8).
	size := 4 + 12 + 20*g.hops
	if s.capture != "" {
		size = 0
	} else {
		s.capture = filepath.Join(s.dir, "input.pcap")
		err := s.intsinkCommand("gen", "--out", s.capture, "--count", strconv.Itoa(g.count),
			"--flows", strconv.Itoa(g.flows), "--hops", strconv.Itoa(g.hops), "--size", strconv.Itoa(g.size))
		if err != nil {
			return err
		}
	}
	in, err := frameLengths(s.capture)
	if err != nil {
		return err
	}
	s.frameLen = in[0]
	return s.checkStrip(in, size)
}

// checkStrip replays the capture and compares frame by frame: each is shorter by
// size bytes, or, with size 0, by any number.
func (s *setup) checkStrip(in []int, size int) error {
	config, out := filepath.Join(s.dir, "replay.hcl"), filepath.Join(s.dir, "out.pcap")
	err := s.writeConfiguration(config, input{udpPort: genUDPPort}, "127.0.0.1:9", "127.0.0.1:0")
	if err != nil {
		return err
	}
	err = s.intsinkCommand("replay", "--config", config, "--in", s.capture, "--out", out,
		"--reports", filepath.Join(s.dir, "reports.pcap"))
	if err != nil {
		return err
	}
	stripped, err := frameLengths(out)
	if err != nil {
		return err
	}
	if len(stripped) != len(in) {
		return fmt.Errorf("replay forwarded %d of %d frames", len(stripped), len(in))
	}
	for i := range in {
		if got := in[i] - stripped[i]; got <= 0 || size > 0 && got != size {
			return fmt.Errorf("replay took %d bytes out of frame %d; INT has %d", got, i, size)
		}
	}
	return nil
}

func (s *setup) intsinkCommand(args ...string) error {
	if out, err := exec.Command(s.intsink, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", s.intsink, args[0], err, out)
	}
	return nil
}

// frameLengths are the lengths of the frames of a classic little-endian pcap
// file, as intsink and DPDK write them here.
func frameLengths(path string) ([]int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	const fileHeader, recordHeader = 24, 16
	if len(b) < fileHeader {
		return nil, errors.New(path + ": no pcap file")
	}
	var lengths []int
	for b = b[fileHeader:]; len(b) >= recordHeader; {
		n := int(binary.LittleEndian.Uint32(b[8:]))
		if n > len(b)-recordHeader {
			break
		}
		lengths, b = append(lengths, n), b[recordHeader+n:]
	}
	if len(lengths) == 0 || len(b) != 0 {
		return nil, fmt.Errorf("%s: empty or cut off", path)
	}
	return lengths, nil
}
