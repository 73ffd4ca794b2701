package simulate

import (
	"math/rand/v2"
	"strings"
	"testing"

	"intsink/engine/wire/intgen"
)

// TestUnmarked: INT that nobody looks for is found by the marking that it has, among other packets.
func TestUnmarked(t *testing.T) {
	for want, s := range map[string]intgen.Source{
		"int { udp_port = 6000 } # 50 of the first 100 packets":                  {Marking: intgen.ByPort, UDPPort: 6000},
		"int { dscp = { value = 11, mask = 63 } } # 50 of the first 100 packets": {Marking: intgen.ByDSCP, DSCP: 11, Mask: 63},
		"": {},
	} {
		s.Type, s.Bitmap, s.MaxHops = intgen.TypeMD, intgen.DefaultBitmap, 8
		u := NewUnmarked()
		for n := range 50 {
			frame := intgen.NthFlow(n, false, n%3 == 0).Frame(200, uint32(n))
			u.Packet(frame)
			if want == "" {
				u.Packet(noise(frame, uint64(n)))
				continue
			}
			marked, err := s.Insert(frame, []intgen.Hop{{NodeID: 1, LatencyNs: 5}, {NodeID: 2, LatencyNs: 5}})
			if err != nil {
				t.Fatal(err)
			}
			u.Packet(marked)
		}
		if got := strings.Join(u.Lines(), "\n"); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

// noise is a frame with a payload of random bytes.
func noise(frame []byte, seed uint64) []byte {
	r, b := rand.New(rand.NewPCG(seed, 0)), append([]byte{}, frame...)
	for i := len(b) - 100; i < len(b); i++ {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestUnmarkedIsBounded: a capture with every port there is takes no more room than so many.
func TestUnmarkedIsBounded(t *testing.T) {
	u, f := NewUnmarked(), intgen.NthFlow(1, false, false)
	for n := range 2 * mostTries {
		f.DstPort = uint16(n + 1)
		u.Packet(f.Frame(100, 0))
	}
	if len(u.tries) != mostTries || len(u.Lines()) != 0 {
		t.Errorf("%d lines are tried, found %q", len(u.tries), u.Lines())
	}
}
