package traffic

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

func TestFramesOfEveryEncapsulation(t *testing.T) {
	for _, e := range []Encap{UDP, NPT2, DSCP, Probe, GRE, VXLANGPE, Geneve} {
		for _, v6 := range []bool{false, true} {
			s := Spec{Headers: Headers{Encap: e, IPv6: v6}, Flows: 2, Frames: 4, Hops: 3, Size: 512}
			m, err := New(s)
			if err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			var first []byte
			for i := range 3 {
				original, frame, err := m.Frame(i)
				if err != nil || len(frame) != 512 || len(original) > 512-12-60 {
					t.Fatalf("%+v: %d bytes of original, %d of frame, %v", s, len(original), len(frame), err)
				}
				if i == 0 {
					first = original
				}
				if same := len(first) > 42 && bytes.Equal(original[:42], first[:42]); i == 1 && same && m.shapes[0].tunnel == nil {
					t.Errorf("%+v: flows do not differ", s)
				}
			}
		}
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct{ hops, size, want int }{
		{3, 138, 138}, {1, 138, 138}, {8, 138, 14 + 20 + 8 + 4 + 12 + 160}, {8, 1400, 1400},
	} {
		s := Reference()
		s.Hops, s.Size = c.hops, c.size
		m, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, frame, err := m.Frame(0); err != nil || len(frame) != c.want {
			t.Errorf("%d hops, %d bytes: %d bytes, %v", c.hops, c.size, len(frame), err)
		}
	}
	for _, s := range []Spec{{},
		{Headers: Headers{Encap: "x"}, Flows: 1, Frames: 1, Hops: 1},
		{Headers: Headers{Encap: UDP, Tags: 3}, Flows: 1, Frames: 1, Hops: 1},
		{Headers: Headers{Encap: UDP}, Flows: 1, Frames: 1, Hops: 17},
		{Mix: len(Mixed) + 1, Flows: 1, Frames: 1, Hops: 1},
	} {
		if _, err := New(s); err == nil {
			t.Errorf("%+v passes", s)
		}
	}
}

// Two service tags and what stands behind them.
func TestTags(t *testing.T) {
	for tags, want := range []string{"0800", "81000064" + "0800", "88a800c8" + "81000064" + "0800"} {
		s := Reference()
		s.Tags = tags
		m, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		original, frame, err := m.Frame(0)
		if err != nil || len(frame) != 138 {
			t.Fatalf("%d bytes, %v", len(frame), err)
		}
		for _, b := range [][]byte{original, frame} {
			if got := hex.EncodeToString(b[12 : 12+len(want)/2]); got != want {
				t.Errorf("%d tags: %s, want %s", tags, got, want)
			}
		}
	}
}

// Each kind of headers comes about as often as the others, and all frames are as long
// as asked.
func TestMix(t *testing.T) {
	s := Reference()
	s.Mix, s.Size = len(Mixed), 200
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for i := range s.Frames {
		_, frame, err := m.Frame(i)
		if err != nil || len(frame) != 200 {
			t.Fatalf("frame %d: %d bytes, %v", i, len(frame), err)
		}
		kinds[hex.EncodeToString(frame[12:14])]++
	}
	for kind, share := range map[string]int{"0800": 4, "86dd": 2, "8100": 1, "88a8": 1} {
		if want := share * s.Frames / len(Mixed); kinds[kind] < want*3/4 || kinds[kind] > want*5/4 {
			t.Errorf("EtherType %s: %d of %d frames, want about %d", kind, kinds[kind], s.Frames, want)
		}
	}
}

// A flow's latencies differ from packet to packet; with Stamps each hop's two times
// are as far apart as it says, and Busy marks some flows.
func TestHops(t *testing.T) {
	s := Reference()
	s.Flows, s.Stamps, s.Busy = 10, true, 10
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	latencies, busy := map[uint32]bool{}, 0
	for i := range 40 {
		if _, _, err := m.Frame(i); err != nil {
			t.Fatal(err)
		}
		for h, hop := range m.hops {
			if hop.EgressTimestamp-hop.IngressTimestamp != uint64(hop.LatencyNs) {
				t.Errorf("hop %+v", hop)
			}
			if h > 0 && m.hops[h-1].IngressTimestamp < hop.EgressTimestamp+5000 {
				t.Errorf("hop %d begins at %d, the one before it ends at %d", h-1, m.hops[h-1].IngressTimestamp, hop.EgressTimestamp)
			}
			if hop.TxUtilization == BusyTx {
				busy++
			}
		}
		latencies[m.hops[0].LatencyNs] = true
	}
	if len(latencies) < 10 || busy != 4 {
		t.Errorf("%d latencies, %d busy interfaces", len(latencies), busy)
	}
}

func TestCapture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.pcap")
	if err := WriteCapture(path, Reference(), 3); err != nil {
		t.Fatal(err)
	}
	frames, err := ReadCapture(path)
	if err != nil || len(frames) != 3 || len(frames[2]) != 138 {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	m, _ := New(Reference())
	if _, want, _ := m.Frame(0); !bytes.Equal(frames[0], want) {
		t.Error("the capture holds other frames")
	}
	if err := os.Truncate(path, 24+16+138+20); err != nil {
		t.Fatal(err)
	}
	if frames, err := ReadCapture(path); err == nil {
		t.Errorf("a file that is cut off gives %d frames", len(frames))
	}
}
