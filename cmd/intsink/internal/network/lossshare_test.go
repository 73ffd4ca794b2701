package network

import "testing"

// TestLossShare: the percentage is a plain number from the smallest to all, and is left out of few packets.
func TestLossShare(t *testing.T) {
	for _, c := range []struct {
		lost, arrived uint64
		want          string
	}{
		{1, 50, ""},
		{1, 99999, "0.001 %"},
		{5, 995, "0.5 %"},
		{200, 800, "20 %"},
		{999, 1, "100 %"},
	} {
		l := losses{flows: map[string]lossFlow{"a": {lost: 7, lostNow: 7 + c.lost, came: 9, cameNow: 9 + c.arrived}}}
		want := c.want
		if want != "" {
			want += " of the packets of the flows that lost some: 1"
		}
		if got := l.share(); got != want {
			t.Errorf("%d lost, %d arrived: %q, want %q", c.lost, c.arrived, got, want)
		}
	}
}

// TestFewLost: a packet or two are no problem, nor are more among very many, over ten seconds at least.
func TestFewLost(t *testing.T) {
	for _, c := range []struct {
		lost uint64
		pace float64 // packets a second
		few  bool
	}{{1, 0, true}, {2, 100, true}, {3, 0, false}, {3, 20_000, false}, {3, 40_000, true}, {300, 1_000_000, false}, {99, 1_000_000, true}} {
		l := losses{packets: c.lost}
		if l.isFew(c.pace) != c.few {
			t.Errorf("%+v: %v", c, !c.few)
		}
	}
}
