package flows

import "testing"

// TestNextInSequence: only the number behind the highest is next, by as many bits as numbers have, and not where
// holes are open or losses pending that no list has, or a sequence begins.
func TestNextInSequence(t *testing.T) {
	for _, c := range []struct {
		name string
		loss Loss
		n    uint64
		bits uint8
		want bool
	}{
		{"next", Loss{Top: 41}, 42, 32, true},
		{"the same", Loss{Top: 41}, 41, 32, false},
		{"one left out", Loss{Top: 41}, 43, 32, false},
		{"wrapped", Loss{Top: 1<<32 - 1}, 0, 32, true},
		{"of more bits", Loss{Top: 1<<32 - 1}, 0, 64, false},
		{"of 64 bits", Loss{Top: 1<<64 - 1}, 0, 64, true},
		{"a hole", Loss{Top: 41, NumHoles: 1}, 42, 32, false},
		{"a loss to be reported", Loss{Top: 41, Pending: 1}, 42, 32, false},
		{"a hole, listed", Loss{Top: 41, NumHoles: 1, Pending: 1, Listed: true}, 42, 32, true},
		{"a sequence begins", Loss{Top: 41, Anew: true, Listed: true}, 42, 32, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Flow{flags: hasLoss, loss: &c.loss}
			if got := f.NextInSequence(c.n, c.bits); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			f.flags = 0
			if f.NextInSequence(c.n, c.bits) {
				t.Error("next in a flow without sequence numbers")
			}
		})
	}
}

// TestAdvance: the number becomes the highest and is marked as seen, where the mark of the one a window before it
// stood.
func TestAdvance(t *testing.T) {
	l := Loss{Top: 2*LossWindow + 63}
	for i := range l.Seen {
		l.Seen[i] = 1<<64 - 1
	}
	f := Flow{flags: hasLoss, loss: &l}
	f.Advance(2*LossWindow + 64)
	for i, seen := range l.Seen {
		if seen != 1<<64-1 {
			t.Errorf("word %d of Seen is %x", i, seen)
		}
	}
	if l.Top != 2*LossWindow+64 {
		t.Errorf("highest is %d", l.Top)
	}
	l = Loss{Top: 1<<32 - 1} // 32 bits, wrapped: the place of number 1<<32 is that of 0
	f.Advance(0)
	if l.Top != 0 || l.Seen[0] != 1 {
		t.Errorf("highest is %d, seen %x", l.Top, l.Seen[0])
	}
}

// TestDropLimit: the first two reasons of a flow have a limit each, whatever their numbers, all others one together.
func TestDropLimit(t *testing.T) {
	var c Cold
	for _, s := range []struct {
		reason uint8
		want   int // place in Dropped
	}{{0, 0}, {8, 1}, {3, 2}, {0, 0}, {4, 2}, {8, 1}, {254, 2}, {3, 2}} {
		if got := c.DropLimit(s.reason); got != &c.Dropped[s.want] {
			t.Errorf("reason %d has not limit %d: %+v", s.reason, s.want, c.Dropped)
		}
	}
}
