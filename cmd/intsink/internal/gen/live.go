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
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/engine/intgen"
	"intsink/internal/wire"
)

// liveCounters are what --live prints at its end.
type liveCounters struct {
	Received uint64 `json:"received"`
	Inserted uint64 `json:"inserted"`
	Passed   uint64 `json:"passed"`   // from IN, as they were
	TooLong  uint64 `json:"too_long"` // among them: INT would have exceeded OUT's MTU
	Reverse  uint64 `json:"reverse"`  // from OUT
	Failed   uint64 `json:"failed"`   // the kernel did not take them
}

// live is an INT source and transit hops between two interfaces.
type live struct {
	source   *intgen.Source
	hops     []intgen.Hop
	in, out  *wire.Interface
	started  time.Time
	stepAt   time.Duration // 0: never
	changeAt time.Duration // 0: never
	link     uint64        // nanoseconds from a hop to the next
	random   uint32
	counters liveCounters
	reverse  atomic.Uint64
	failed   atomic.Uint64
}

func genLive(stdout io.Writer, f *Flags) error {
	l, err := newLive(f)
	if err != nil {
		return cli.WrongUsage(err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	var stop atomic.Bool
	go func() {
		<-signals
		stop.Store(true)
	}()
	var both sync.WaitGroup
	both.Go(func() { l.in.Receive(&stop, l.forward) })
	both.Go(func() { l.out.Receive(&stop, l.back) })
	fmt.Fprintf(os.Stderr, "inserting INT of %d hops from %s to %s\n", f.hops, l.in.Name, l.out.Name)
	both.Wait()
	l.counters.Reverse, l.counters.Failed = l.reverse.Load(), l.failed.Load()
	return json.NewEncoder(stdout).Encode(&l.counters)
}

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
	if l.in, err = openLive("IN", in); err != nil {
		return nil, err
	}
	l.out, err = openLive("OUT", out)
	return l, err
}

// openLive opens one of the interfaces of --live.
func openLive(place, name string) (*wire.Interface, error) {
	i, err := wire.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--live, %s: %w", place, err)
	}
	return i, nil
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

// forward takes one frame from IN to OUT, with INT where it can carry it.
func (l *live) forward(frame []byte) {
	l.counters.Received++
	l.measure()
	marked, err := l.source.Insert(frame, l.hops)
	switch {
	case err == nil && len(marked) <= l.out.MTU+14:
		l.counters.Inserted++
		frame = marked
	case err == nil:
		l.counters.TooLong++
		l.counters.Passed++
	default:
		l.counters.Passed++
	}
	if !l.out.Send(frame) {
		l.failed.Add(1)
	}
}

// back forwards one frame from OUT to IN unchanged.
func (l *live) back(frame []byte) {
	l.reverse.Add(1)
	if !l.in.Send(frame) {
		l.failed.Add(1)
	}
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
