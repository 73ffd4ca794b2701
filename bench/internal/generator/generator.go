package generator

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"intsink/dpdk/eal"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/mempool"
)

// Config of a generator. EAL must run.
type Config struct {
	Out, In string // devices that it sends to and receives from; may be the same
	CPU     int    // of the thread that sends and receives
	Mbufs   int
}

// Generator owns the two ports.
type Generator struct {
	config  Config
	ports   []ethdev.Port
	out, in *ethdev.Queue
	pool    *mempool.Mempool
	trial   uint32
}

// Open attaches and starts the ports.
func Open(c Config) (*Generator, error) {
	pool, err := mempool.New("generator", c.Mbufs, 256, 128+2048, mempool.AnySocket)
	if err != nil {
		return nil, err
	}
	g := &Generator{config: c, pool: pool}
	for _, device := range []string{c.Out, c.In} {
		p, err := ethdev.Attach(device)
		if err != nil {
			return nil, err
		}
		if len(g.ports) == 0 || g.ports[0] != p {
			err = errors.Join(p.Configure(ethdev.Config{RxQueues: 1, TxQueues: 1, Pools: []*mempool.Mempool{pool}}), p.Start())
		}
		if err != nil {
			return nil, err
		}
		g.ports = append(g.ports, p)
	}
	g.out, g.in = g.ports[0].Queue(0), g.ports[1].Queue(0)
	return g, nil
}

// WaitLinks waits until both ports have a link.
func (g *Generator) WaitLinks(limit time.Duration) error {
	for start := time.Now(); !g.ports[0].Link().Up || !g.ports[1].Link().Up; time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > limit {
			return fmt.Errorf("no link on %q and %q after %v", g.config.Out, g.config.In, limit)
		}
	}
	return nil
}

// Close gives ports and pool back.
func (g *Generator) Close() {
	g.ports[0].Close()
	if g.ports[1] != g.ports[0] {
		g.ports[1].Close()
	}
	g.pool.Free()
}

// Load says what to send, and how fast.
type Load struct {
	Frames   [][]byte
	PPS      float64 // 0: as fast as the generator can
	Burst    int     // frames at a time, at most mbuf.MaxBurst; 0: that many
	Duration time.Duration
	Quiet    time.Duration // a run is over when so long nothing came back; 0: 50 ms
	Rhythm   Rhythm
}

// Result is the result of one Run.
type Result struct {
	Seconds  float64 // of sending
	Offered  uint64  // frames that were due and sent, or refused
	Refused  uint64  // among them, those that the port had no room for
	Received uint64
	Foreign  uint64    // frames that came back without a stamp of this run
	Latency  Histogram // from sending to receiving, of frames that did not wait for the generator
	// LateReads are frames that may have waited for the generator: they were under way when
	// it paused. They are not in Latency.
	LateReads uint64
	Pauses    uint64 // of the generator, of latePoll or longer
	Turns            // of a run with a rhythm
}

// Lost returns the frames that did not come back.
func (r *Result) Lost() uint64 { return r.Offered - min(r.Received, r.Offered) }

// Rate returns the offered load in frames per second.
func (r *Result) Rate() float64 { return float64(r.Offered) / r.Seconds }

// Merge adds another run's.
func (r *Result) Merge(o *Result) {
	r.Seconds += o.Seconds
	for to, from := range map[*uint64]uint64{
		&r.Offered: o.Offered, &r.Refused: o.Refused, &r.Received: o.Received, &r.Foreign: o.Foreign, &r.LateReads: o.LateReads, &r.Pauses: o.Pauses,
	} {
		*to += from
	}
	r.Latency.Merge(&o.Latency)
	r.Turns.Merge(&o.Turns)
}

// latePoll is how long the generator may look away: a little more than sending and
// receiving a burst takes.
const latePoll = 5 * time.Microsecond

// Run sends l and receives until nothing comes back any more.
func (g *Generator) Run(l Load) (*Result, error) {
	if err := checkFrames(l.Frames, 0); err != nil {
		return nil, err
	}
	if l.Burst <= 0 || l.Burst > mbuf.MaxBurst {
		l.Burst = mbuf.MaxBurst
	}
	if err := l.Rhythm.check(l.PPS); err != nil {
		return nil, err
	}
	g.trial++
	type end struct {
		r   *Result
		err error
	}
	done := make(chan end)
	runtime.GC() // now, rather than in the middle
	go func() {
		runtime.LockOSThread() // never unlocked: the pinned thread ends with the goroutine
		if err := errors.Join(eal.PinThread(g.config.CPU), l.Rhythm.prepare(), eal.RegisterThread()); err != nil {
			done <- end{nil, err}
			return
		}
		t := newTransfer(g, &l)
		if l.Rhythm.Work > 0 {
			t.runTurns()
		} else {
			t.run()
		}
		eal.UnregisterThread()
		done <- end{&t.result, nil}
	}()
	e := <-done
	return e.r, e.err
}
