// gen --live: inserts INT into packets between two interfaces, as source and hops; counts
// and measures.

package gen

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/dpdk/afpacket"
	"intsink/dpdk/iface"
	"intsink/dpdk/mbuf"
	"intsink/engine/wire/intgen"
)

// liveCounters are what --live prints at its end.
type liveCounters struct {
	Received uint64 `json:"received"`
	Inserted uint64 `json:"inserted"`
	Passed   uint64 `json:"passed"`   // from IN, as they were
	TooLong  uint64 `json:"too_long"` // among them: INT would have exceeded OUT's MTU
	Reverse  uint64 `json:"reverse"`  // from OUT
	Failed   uint64 `json:"failed"`   // the kernel did not take them, or left to do what could not be done
}

// live is an INT source and transit hops between two interfaces.
type live struct {
	source   *intgen.Source
	hops     []intgen.Hop
	in, out  *end
	pool     *mbuf.Arena
	started  time.Time
	stepAt   time.Duration // 0: never
	changeAt time.Duration // 0: never
	link     uint64        // nanoseconds from a hop to the next
	random   uint32
	counters liveCounters
}

// end is one of the two interfaces. What the kernel left to do for a device (checksums, joined frames) its port does.
type end struct {
	*afpacket.Port
	mtu     int
	got     *mbuf.Vec
	frame   []byte    // the one at hand
	waiting *mbuf.Vec // waiting[:n] are to be sent
	n       int
	one     *mbuf.Vec
}

// Mbufs of the pool: both directions, with a ring's worth that the kernel has not taken, of frames of common sizes; longer ones
// are chains.
const (
	liveMbufs = 2048
	liveRoom  = 2048 + 128
)

func genLive(stdout io.Writer, f *Flags) error {
	l, err := newLive(f)
	if err != nil {
		return cli.WrongUsage(err)
	}
	defer l.close()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	fmt.Fprintf(os.Stderr, "inserting INT of %d hops from %s to %s\n", f.hops, l.in.Name(), l.out.Name())
	for len(signals) == 0 {
		if l.in.take(l.pool, l.forward)+l.out.take(l.pool, l.back) == 0 {
			time.Sleep(liveIdle)
		}
		l.counters.Failed += l.in.flush(l.pool) + l.out.flush(l.pool)
	}
	l.counters.Failed += l.in.uncut() + l.out.uncut()
	return json.NewEncoder(stdout).Encode(&l.counters)
}

// liveIdle is the pause after both interfaces had nothing.
const liveIdle = 200 * time.Microsecond

func newLive(f *Flags) (*live, error) {
	in, out, _ := strings.Cut(f.live, ",") // check has seen two
	l := &live{hops: make([]intgen.Hop, f.hops), started: time.Now(), link: uint64(f.linkLatency), random: uint32(f.seed) | 1}
	var err error
	if l.source, err = f.source(); err != nil {
		return nil, err
	}
	if l.stepAt, err = optionalDuration("latency-step-after", f.latencyStepAfter); err != nil {
		return nil, err
	}
	if l.changeAt, err = optionalDuration("path-change-after", f.pathChangeAfter); err != nil {
		return nil, err
	}
	if l.pool, err = mbuf.NewArena(liveMbufs, liveRoom); err != nil {
		return nil, err
	}
	if l.in, err = openLive("IN", in, l.pool); err != nil {
		return nil, err
	}
	if l.out, err = openLive("OUT", out, l.pool); err != nil {
		l.in.Close()
		return nil, err
	}
	return l, nil
}

// openLive opens one of the interfaces of --live.
func openLive(place, name string, pool afpacket.Pool) (*end, error) {
	s, err := iface.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("--live, %s: %w; ip link lists those of this network namespace", place, err)
	}
	p, err := afpacket.Open(afpacket.Config{Interface: name, Queues: 1, Frames: liveFrames, Pool: pool})
	if err != nil {
		return nil, fmt.Errorf("--live, %s: %w", place, err)
	}
	return &end{Port: p, mtu: s.MTU, got: mbuf.NewVec(), waiting: mbuf.NewVec(), one: mbuf.NewVec()}, nil
}

// liveFrames is how many frames may wait in the ring of an interface, at least.
const liveFrames = 2048

func (l *live) close() {
	l.in.Close()
	l.out.Close()
	l.pool.Close()
}

// take calls handle with each frame that has come, a burst at most, and returns how many there were. handle may change the frame,
// but not keep it.
func (e *end) take(pool *mbuf.Arena, handle func([]byte)) int {
	n := e.Queue(0).RxBurst(e.got)
	for _, m := range e.got[:n] {
		e.frame = m.AppendTo(e.frame[:0], m.PktLen())
		handle(e.frame)
	}
	pool.FreeBulk(e.got, n)
	return n
}

// put copies a frame to those that wait to be sent; a burst of them is sent first. It returns how many were lost.
func (e *end) put(pool *mbuf.Arena, frame []byte) (lost uint64) {
	if e.n == len(e.waiting) {
		lost = e.flush(pool)
	}
	var first *mbuf.Mbuf
	for len(frame) > 0 {
		if !pool.AllocBulk(e.one, 1) {
			if e.one[0] = first; first != nil {
				pool.FreeBulk(e.one, 1)
			}
			return lost + 1
		}
		m := e.one[0]
		n := min(len(frame), m.Room())
		copy(m.SetLen(n), frame)
		if frame = frame[n:]; first == nil {
			first = m
		} else {
			first.Chain(m)
		}
	}
	e.waiting[e.n] = first
	e.n++
	return lost
}

// sendTries is how often frames are offered to a device whose queue is full.
const sendTries = 100

// flush sends what waits, and returns how many frames the kernel did not take.
func (e *end) flush(pool *mbuf.Arena) (failed uint64) {
	q := e.Queue(0)
	for tries := 0; e.n > 0; {
		sent := q.TxBurst(e.waiting, e.n)
		copy(e.waiting[:], e.waiting[sent:e.n])
		if e.n -= sent; e.n == 0 || sent > 0 {
			continue
		}
		if tries++; q.Refusal() == mbuf.RefusedFull && tries < sendTries {
			continue
		}
		pool.FreeBulk(e.waiting, 1)
		copy(e.waiting[:], e.waiting[1:e.n])
		e.n--
		failed++
	}
	return failed
}

// uncut is how many packets came that nothing could be made of.
func (e *end) uncut() (n uint64) {
	s := e.Stats()
	for _, x := range s.Uncut {
		n += x
	}
	return n + s.Truncated + s.NoMbuf
}

func optionalDuration(flag, s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("--%s %q: must be a duration such as 3s", flag, s)
	}
	return d, nil
}

// forward takes one frame from IN to OUT, with INT where it can carry it; where that goes into copies, both.
func (l *live) forward(frame []byte) {
	l.counters.Received++
	l.measure()
	marked, err := l.source.Insert(frame, l.hops)
	switch {
	case err == nil && len(marked) <= l.out.mtu+14:
		l.counters.Inserted++
		if l.source.IFA.Copy {
			l.counters.Failed += l.out.put(l.pool, frame)
		}
		frame = marked
	case err == nil:
		l.counters.TooLong++
		l.counters.Passed++
	default:
		l.counters.Passed++
	}
	l.counters.Failed += l.out.put(l.pool, frame)
}

// back forwards one frame from OUT to IN unchanged.
func (l *live) back(frame []byte) {
	l.counters.Reverse++
	l.counters.Failed += l.in.put(l.pool, frame)
}

// measure makes the values that the hops write for the packet at hand: plausible
// latencies with a little jitter, real times, and the scripted events.
func (l *live) measure() {
	now := time.Now()
	age := now.Sub(l.started)
	for i := range l.hops {
		hop := len(l.hops) - i
		l.random = l.random*1664525 + 1013904223 // Numerical Recipes' generator
		latency := 8000 + l.random>>21           // 8 to 10 us
		egress := uint16(2)
		if hop == 2 && l.stepAt > 0 && age > l.stepAt {
			latency += 500_000
		}
		if hop == 1 && l.changeAt > 0 && age > l.changeAt {
			egress = 3
		}
		l.hops[i] = intgen.Hop{
			NodeID: uint32(100 + hop), Ingress: 1, Egress: egress, LatencyNs: latency,
			QueueID: 1, QueueOccupancy: l.random >> 26, TxUtilization: 10,
		}
	}
	stampHops(l.hops, uint64(now.UnixNano()), func(int) uint64 { return l.link })
}
