package flows

import "testing"

// TestSettled: a flow is settled where no window has a bit set, and where end_to_end is watched
// its reference is known as well; never where nothing may be.
func TestSettled(t *testing.T) {
	var none, known, window, both Flow
	known.flags, window.flags, both.flags = endKnown, unsettled, endKnown|unsettled
	for _, c := range []struct {
		name                      string
		want                      Want
		none, known, window, both bool
	}{
		{"hop latency alone", 0, true, true, false, false},
		{"end to end", EndToEnd, false, true, false, false},
		{"never", Never, false, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := [4]bool{}
			for n, f := range []*Flow{&none, &known, &window, &both} {
				f.flags |= hasCold | hasLoss // are not looked at
				got[n] = f.Settled(c.want, c.want.Mask())
			}
			if want := [4]bool{c.none, c.known, c.window, c.both}; got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}
