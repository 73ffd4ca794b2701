// Timed: the packets of a capture with times that can be believed. One bad time among others is that of the packet
// before it; where the clock was set back, time goes on.

package simulate

import (
	"fmt"
	"io"
	"math"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/pcapfile"
)

// Timed returns the packets of a capture. It looks at so many packets ahead: a time that most of them do not share is
// a bad one, and one that they share is the capture's, even where it is earlier than it was.
type Timed struct {
	in    *pcapfile.Reader
	ahead []pcapfile.Packet // read and not yet returned
	err   error             // of the packet behind them

	Packets int   // returned
	bad     int   // of them, with a bad time
	back    int   // times that the clock was set back
	behind  int64 // how far it is behind the time that went on
	most    int64 // the most of it
	last    int64 // latest time that was returned
}

// Of a packet whose time is more than apart from the one before, the packets behind decide.
const (
	lookAhead = 16
	apart     = int64(time.Second)
	lone      = int64(12 * time.Hour) // the first packet so long before all others, or the last so long behind, has a bad time
)

// NewTimed returns the packets of in.
func NewTimed(in *pcapfile.Reader) *Timed { return &Timed{in: in} }

// Next returns the next packet; io.EOF behind the last one.
func (t *Timed) Next() (p pcapfile.Packet, err error) {
	for t.err == nil && len(t.ahead) <= lookAhead {
		var next pcapfile.Packet
		if next, t.err = t.in.Next(); t.err == nil {
			t.ahead = append(t.ahead, next)
		}
	}
	if len(t.ahead) == 0 {
		return p, t.err
	}
	p = t.ahead[0]
	t.ahead = t.ahead[1:]
	t.Packets++
	if t.Packets == 1 {
		p.At = t.begin(p.At)
		t.last = p.At
	}
	p.At = t.timeOf(p.At)
	t.last = max(t.last, p.At)
	return p, nil
}

// begin is when the capture begins, where its first packet's time is at.
func (t *Timed) begin(at int64) int64 {
	if t.share(func(other int64) bool { return other-at > lone && len(t.ahead) == lookAhead || other < at-apart }) {
		t.bad++
		return t.ahead[0].At
	}
	return at
}

// timeOf is the time of a packet whose own is at.
func (t *Timed) timeOf(at int64) int64 {
	if t.last-at > math.MaxInt64-t.behind { // no clock shows it
		return t.last
	}
	at += t.behind
	switch d := at - t.last; {
	case d > apart && (len(t.ahead) == 0 && t.Packets > lookAhead && d > lone || t.share(func(other int64) bool { return other < at-apart })):
		t.bad++
		return t.last
	case t.behind > 0 && d > apart && d+apart > t.behind: // the clock is right again
		at, t.behind = max(t.last, at-t.behind), 0
	case d < -apart && t.share(func(other int64) bool { return other < t.last-apart }):
		t.back++
		t.behind -= d
		t.most = max(t.most, t.behind)
		return t.last
	}
	return at
}

// share reports whether is holds of the times of most packets that follow; false where none does.
func (t *Timed) share(is func(at int64) bool) bool {
	n := 0
	for i := range t.ahead {
		if is(t.ahead[i].At + t.behind) {
			n++
		}
	}
	return 2*n > len(t.ahead)
}

// Warn writes which times were not believed.
func (t *Timed) Warn(w io.Writer) {
	t.in.WarnPackets(w, t.bad, "have a time that those behind them do not share, and were given that of the packet before")
	if t.back > 0 {
		fmt.Fprintf(w, "warning: %s: its clock was set back %s, by %v at most: time goes on there, so that what is told of later packets has later times than the capture\n",
			t.in.Path, cli.Count(t.back, "time"), time.Duration(t.most))
	}
}
