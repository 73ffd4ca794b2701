package aside_test

import (
	"testing"

	"intsink/engine/aside"
	"intsink/engine/burst"
)

// once wants the first burst alone.
type once struct{ due, arrived, left int }

func (o *once) Due(*burst.Burst, int64) bool { o.due++; return o.due == 1 }
func (o *once) Arrived(*burst.Burst)         { o.arrived++ }
func (o *once) Leaving(*burst.Burst)         { o.left++ }
func (o *once) Next() (packets, at int64)    { return aside.Never, aside.Never }
func (o *once) Tick(int64)                   {}

// TestNobodyIsShownWhatNobodyWants: a burst that was not asked about is shown to no aside.
func TestNobodyIsShownWhatNobodyWants(t *testing.T) {
	o, b := new(once), burst.New()
	turns := aside.New(o)
	if !turns.Want(b) {
		t.Fatal("nobody wants the first burst")
	}
	for range 2 {
		turns.Arrived(b)
		turns.Leaving(b)
	}
	if o.arrived != 1 || o.left != 1 {
		t.Errorf("it saw %d bursts, and %d leave", o.arrived, o.left)
	}
}
