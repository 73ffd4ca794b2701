package recorder

import "testing"

// TestReaderThatIsOvertaken: a burst that goes around the whole ring is noticed by a reader although the burst is not over.
func TestReaderThatIsOvertaken(t *testing.T) {
	r := &Recorder{ring: newRing(LeastMemory, 1)}
	defer r.Close()
	fill := func(rounds int) {
		for range rounds * segments * r.ring.segment / 1024 {
			r.ring.next(1024-prefixLen, 2, 0)
		}
	}
	fill(1)
	r.ring.publish()
	x := r.Read(0)
	fill(1)
	if x.load() || !x.Missed {
		t.Errorf("segment %d of %d is taken for whole, missed: %v", x.next-1, r.ring.number, x.Missed)
	}
}
