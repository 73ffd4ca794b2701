// Worker: an engine worker whose clock (Now) is the capture's; calls back with each sealed report
// packet, which plan counts and replay writes.

package simulate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/engine/burst"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/engine/wire/report"
)

// replaySeed keys the hashes in replay: the same input gives the same output.
const replaySeed = 0x1a7 // any constant

// Worker is one worker whose clock stands at the time of the packet at hand. It
// runs on the goroutine of whoever calls it.
type Worker struct {
	*engine.Worker
	rings      []*ring.Ring
	reportPool burst.Pool
	sealed     func(*SealedReport) // takes every report packet, in the order of their times
	Begin      int64               // time of the first packet
	Now        int64               // never runs backwards
	Idle       int64               // how long a flow may be silent
	vec        *mbuf.Vec
	Backwards  int          // packets with an earlier time than one before them
	Unmarked   *Unmarked    // whoever reads the capture shows it each frame
	look       *NetworkLook // nil: nobody looks
	compared   int64        // when places were last compared
}

// WarnLeaked says that mbufs did not return to their pools, which is a fault of intsink: what was found is right nevertheless.
func WarnLeaked(w io.Writer, mbufs int) {
	if mbufs != 0 {
		fmt.Fprintf(w, "warning: %d mbufs did not return to their pools: this is a fault of intsink, please report it; the answer is complete\n", mbufs)
	}
}

// FlowsOfWatch are the new flows that a watch took; of those that none took it is empty.
type FlowsOfWatch struct {
	Watch string `json:"watch"`
	Flows uint64 `json:"flows"`
}

// WatchFlows returns how many flows each watch of c took, in their order, and how many none took, where there are any.
func (w *Worker) WatchFlows(c *conf.Config) []FlowsOfWatch {
	all, taken := []FlowsOfWatch{}, w.FlowsByWatch()
	for i := range c.Watches {
		all = append(all, FlowsOfWatch{c.Watches[i].Name, taken[i]})
	}
	if n := taken[watch.None]; n > 0 {
		all = append(all, FlowsOfWatch{"", n})
	}
	return all
}

// TextOfWatches is one line of WatchFlows.
func TextOfWatches(all []FlowsOfWatch) string {
	text := make([]string, len(all))
	for i, x := range all {
		if text[i] = fmt.Sprintf("%s %d", x.Watch, x.Flows); x.Watch == "" {
			text[i] = fmt.Sprintf("no watch %d", x.Flows)
		}
	}
	return strings.Join(text, ", ")
}

// Ports are what a Worker has in place of the first link's ports.
type Ports struct {
	Network, Host    burst.Queue
	Packets, Reports burst.Pool
}

// New makes a worker of the first link of c, with p in place of its ports. sealed takes
// every report packet; the mbuf is freed when it returns.
func New(c *conf.Config, p Ports, sealed func(*SealedReport)) *Worker {
	r := &Worker{reportPool: p.Reports, sealed: sealed, vec: mbuf.NewVec(), Unmarked: NewUnmarked(), Idle: int64(c.Flows.IdleTimeout)}
	outlets := make([]reporting.Outlet, len(c.Collectors))
	for i := range outlets {
		outlets[i].Ring = ring.New(replayRing)
		r.rings = append(r.rings, outlets[i].Ring)
	}
	link := c.Links[0]
	r.Worker = engine.NewWorker(engine.WorkerConfig{
		Links: []burst.Link{{
			Name: link.Name, Network: p.Network, Host: p.Host,
			NetworkID: rules.PortID(c, link.Network), HostID: rules.PortID(c, link.Host),
		}},
		Outlets:    outlets,
		PacketPool: p.Packets,
		ReportPool: p.Reports,
		NodeID:     c.Node.ID,
		HwID:       rules.HwID(c, 0),
		Flows:      rules.Flows(c, replaySeed),
		Seed:       replaySeed,
		Clock:      func() int64 { return r.Now },
		Rules:      rules.Of(c),
	})
	return r
}

// replayRing holds what one packet can seal; the ring is emptied after each.
const replayRing = 1024

// In a gap of the capture time passes in these steps, so that flows that end within the gap end
// at their time, not at the end of the gap.
const (
	gapStep = 1e9
	EndLate = 10e9 // a flow's end is seen at most this long after idle_timeout
)

// PassTo lets time pass until at and everything that is due happen. An earlier
// time than the latest is taken for the latest.
func (r *Worker) PassTo(at int64) {
	if at < r.Now {
		r.Backwards++
		at = r.Now
	}
	if r.Now == 0 {
		r.Begin = at
	} else {
		quiet := min(at, r.Now+r.Idle+EndLate) // nothing is left to end after it
		for r.Now+gapStep < quiet {
			r.tick(r.Now + gapStep)
		}
	}
	r.tick(at)
}

// tick makes it now, and everything that is due then happen.
func (r *Worker) tick(now int64) {
	r.Now = now
	r.Tick(now)
	r.Drain()
	if now >= r.compared+lookEvery {
		r.compared = now
		r.Usual().Slow(now) // what places that are not known yet are held against: a look takes longer where packets are few
	}
	if r.look != nil {
		r.look.pass()
	}
}

// SealedReport is a report packet on its way into the capture.
type SealedReport struct {
	Mbuf      *mbuf.Mbuf
	Collector int
	Handoff   report.Handoff
}

// Drain hands over the report packets that were sealed, in the order of their times.
func (r *Worker) Drain() {
	var all []SealedReport
	for i, ring := range r.rings {
		for {
			n := ring.Pop(r.vec, mbuf.MaxBurst)
			if n == 0 {
				break
			}
			for _, m := range r.vec[:n] {
				h, _ := report.TakeHandoff(m.Bytes())
				all = append(all, SealedReport{m, i, h})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b SealedReport) int { return cmp.Compare(a.Handoff.Time, b.Handoff.Time) })
	for _, s := range all {
		r.sealed(&s)
		r.vec[0] = s.Mbuf
		r.reportPool.FreeBulk(r.vec, 1)
	}
}
