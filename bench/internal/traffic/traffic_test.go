package traffic

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestFramesOfEveryEncapsulation(t *testing.T) {
	for _, e := range []Encap{UDP, NPT2, DSCP, GRE, VXLANGPE, Geneve} {
		for _, v6 := range []bool{false, true} {
			s := Spec{Encap: e, IPv6: v6, Flows: 2, Frames: 4, Hops: 3, Size: 512}
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
				if same := len(first) > 42 && bytes.Equal(original[:42], first[:42]); i == 1 && same && m.tunnel == nil {
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
	for _, s := range []Spec{{}, {Encap: "x", Flows: 1, Frames: 1, Hops: 1}, {Encap: UDP, Flows: 1, Frames: 1, Hops: 13}} {
		if _, err := New(s); err == nil {
			t.Errorf("%+v passes", s)
		}
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
