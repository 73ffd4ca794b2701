package port

import (
	"slices"
	"testing"
)

const (
	ms     = int64(1e6)
	second = 1000 * ms
)

// asks lets time pass in milliseconds until until and returns when the gateway
// was asked.
func asks(g *gateway, now *int64, until int64) (at []int64) {
	for ; *now < until; *now += ms {
		if g.tick(*now) {
			at = append(at, *now/second)
		}
	}
	return at
}

func TestBackOffWithoutAnswer(t *testing.T) {
	var g gateway
	now := int64(0)
	if got, want := asks(&g, &now, 50*second), []int64{0, 1, 3, 7, 15, 23, 31, 39, 47}; !slices.Equal(got, want) {
		t.Errorf("asked at %v s, want %v", got, want)
	}
}

func TestAnswersAreRefreshedAndForgotten(t *testing.T) {
	var g gateway
	now := int64(0)
	asks(&g, &now, 2*second)
	g.offer.Store(pack(theirs))
	now = 2 * second
	if g.tick(now) || unpack(g.mac.Load()) != theirs {
		t.Fatal("the answer was not taken")
	}
	// It is asked for again after 30 s; the answer that comes then counts anew.
	if got := asks(&g, &now, 32*second+ms); !slices.Equal(got, []int64{32}) {
		t.Errorf("asked at %v s, want 32", got)
	}
	g.offer.Store(pack(theirs))
	if got := asks(&g, &now, 62*second); len(got) != 0 {
		t.Errorf("asked at %v s, want not before 62", got)
	}
	// Three times without an answer: unknown, and asked on.
	if got := asks(&g, &now, 69*second-ms); !slices.Equal(got, []int64{62, 63, 65}) || g.mac.Load() == 0 {
		t.Errorf("asked at %v s, known %v", got, g.mac.Load() != 0)
	}
	if got := asks(&g, &now, 70*second); !slices.Equal(got, []int64{69}) || g.mac.Load() != 0 {
		t.Errorf("asked at %v s, known %v after three times", got, g.mac.Load() != 0)
	}
	if got := asks(&g, &now, 80*second); !slices.Equal(got, []int64{77}) || g.mac.Load() != 0 {
		t.Errorf("asked at %v s, known %v", got, g.mac.Load() != 0)
	}
	// Whoever comes back is known at once.
	g.offer.Store(pack(other))
	g.tick(now)
	if unpack(g.mac.Load()) != other {
		t.Error("the new address was not taken")
	}
}

// TestEverySecondAtMost: whatever arrives when.
func TestEverySecondAtMost(t *testing.T) {
	var g gateway
	last := -second
	for now := int64(0); now < 300*second; now += ms {
		if now%(7*second) == 0 || now%(53*second) < 20*ms {
			g.offer.Store(pack(theirs))
		}
		if g.tick(now) {
			if now-last < second {
				t.Fatalf("asked at %d and %d ms", last/ms, now/ms)
			}
			last = now
		}
	}
}

func TestPack(t *testing.T) {
	for _, m := range []MAC{{}, ours, {1, 2, 3, 4, 5, 6}, broadcast} {
		if x := pack(m); x == 0 || unpack(x) != m {
			t.Errorf("%v: %x", m, x)
		}
	}
}
