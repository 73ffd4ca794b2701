// Package aside has what a worker does beside the stages, now and then: captures, rules
// that drop packets, samples of checksums, questions. Each is an Aside. Turns say which bursts are due
// for one, so that an aside costs the usual burst nothing while it is not configured.
package aside

import (
	"math"

	"intsink/engine/burst"
)

// Aside looks at bursts from the network that are due, while their packets have INT and after.
type Aside interface {
	// Due tells whether the aside wants the burst, which was just received; so many packets with INT
	// have come before it. Then Arrived and Leaving are called.
	Due(b *burst.Burst, before int64) bool
	// Arrived sees the burst while its packets still have INT. Its events are known. What it drops
	// it leaves in the burst.
	Arrived(b *burst.Burst)
	// Leaving sees the burst before it is transmitted: INT is gone.
	Leaving(b *burst.Burst)
	// Next says when the next burst is due: after so many packets with INT altogether, or at a time.
	Next() (packets, at int64)
	// Tick does what is due between bursts, every millisecond.
	Tick(now int64)
}

// Never is what Next returns where no burst is due.
const Never = math.MaxInt64

// Turns say which bursts are due for some aside. The usual ones compare two numbers.
type Turns struct {
	all    []Aside
	wanted []Aside // by the burst at hand

	packets int64 // with INT, that came so far
	until   int64 // so many of them: the next burst is due
	next    int64 // or from this time on, whichever is first
}

// New makes turns of all asides, in the order in which they see a burst.
func New(all ...Aside) Turns { return Turns{all: all, wanted: make([]Aside, 0, len(all))} }

// All are the asides.
func (t *Turns) All() []Aside { return t.all }

// Due tells whether the burst at hand is due for some aside.
func (t *Turns) Due(now int64) bool { return t.packets >= t.until || now >= t.next }

// Count counts n packets with INT.
func (t *Turns) Count(n int) { t.packets += int64(n) }

// Left returns after how many packets with INT, and when, a burst is due.
func (t *Turns) Left() (packets, at int64) { return t.until - t.packets, t.next }

// Want asks all asides whether they want the burst at hand, which is due.
//
//go:noinline
func (t *Turns) Want(b *burst.Burst) bool {
	for _, a := range t.all {
		if a.Due(b, t.packets) {
			t.wanted = append(t.wanted, a)
		}
	}
	if len(t.wanted) == 0 {
		t.arm()
	}
	return len(t.wanted) > 0
}

// Join has a want the burst at hand, too.
func (t *Turns) Join(a Aside) { t.wanted = append(t.wanted, a) }

// Arrived shows the burst to the asides that want it.
func (t *Turns) Arrived(b *burst.Burst) {
	for _, a := range t.wanted {
		a.Arrived(b)
	}
}

// Leaving shows the burst, which has lost its INT, to the asides that want it.
func (t *Turns) Leaving(b *burst.Burst) {
	for _, a := range t.wanted {
		a.Leaving(b)
	}
	t.wanted = t.wanted[:0]
	t.arm()
}

// Tick does what is due between bursts.
func (t *Turns) Tick(now int64) {
	for _, a := range t.all {
		a.Tick(now)
	}
	t.arm()
}

// arm says when the next burst is due.
func (t *Turns) arm() {
	t.until, t.next = Never, Never
	for _, a := range t.all {
		packets, at := a.Next()
		t.until, t.next = min(t.until, packets), min(t.next, at)
	}
}
