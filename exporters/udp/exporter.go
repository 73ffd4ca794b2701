// Exporter: one goroutine per collector takes report packets from the workers' rings and sends
// them through the kernel; dial, retry, drain.

package udp

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"golang.org/x/net/ipv4"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/histogram"
	"intsink/engine/wire/report"
	"intsink/exporters"
)

// PortMode says what the UDP source port of report packets is (Telemetry
// Report 2.0, section "UDP header").
type PortMode uint8

const (
	PortAny   PortMode = iota // the kernel chooses one for the process
	PortFixed                 // Config.SourcePort; 0 stands literally on the wire
	PortHash                  // a hash of the first report's flow, for entropy
)

// Freer gives mbufs back. Safe for concurrent use.
type Freer interface {
	FreeBulk(v *mbuf.Vec, n int)
}

// Config of one exporter.
type Config struct {
	Collector  netip.AddrPort
	Source     netip.Addr // zero: the kernel chooses by route
	PortMode   PortMode
	SourcePort uint16
	DSCP, TTL  uint8        // TTL 0: 64
	Rings      []*ring.Ring // one per worker
	Pool       Freer
	Clock      func() int64 // that of the workers; nil: the wall clock
}

// retryEvery is how long after a failure the collector is dialled again.
const retryEvery = time.Second

// idleSleep is how long an exporter sleeps when all rings are empty.
const idleSleep = 500 * time.Microsecond

// sendPatience is how long a batch waits for room in the kernel's send buffer.
const sendPatience = time.Second

// Idle sleeps between looks at what came back for the last packets, and after
// which no more is expected: 50 ms and 5 s.
const (
	answersEvery = 100
	answersUntil = 10000
)

// Exporter sends to one collector.
type Exporter struct {
	c       Config
	vec     *mbuf.Vec
	batch   batch
	conn    conn // nil while there is none
	retryAt time.Time
	back    int // packets that were counted as sent and came back

	to       atomic.Pointer[netip.AddrPort] // of Move; nil: nothing new
	patience time.Duration                  // sendPatience, but in tests
	drainEnd time.Time                      // once Run drains: no send takes longer than until then

	Packets atomic.Uint64 // handed to the kernel and, as far as is known by then, not refused
	Bytes   atomic.Uint64 // of their UDP payload
	Dropped [exporters.NumDropReasons]atomic.Uint64
	Dials   atomic.Uint64
	Delays  histogram.Atomic // from a packet's first report to the kernel
}

// New makes an exporter. It opens no socket: an unreachable collector is an
// ordinary state, counted and retried while Run runs.
func New(c Config) *Exporter {
	if c.Clock == nil {
		c.Clock = func() int64 { return time.Now().UnixNano() }
	}
	return &Exporter{c: c, vec: mbuf.NewVec(), patience: sendPatience}
}

// Move makes the collector's address another one: its host name has that now. What is sent goes on, in the same
// order. Safe from any goroutine.
func (e *Exporter) Move(to netip.AddrPort) { e.to.Store(&to) }

// move dials anew where Move was called.
func (e *Exporter) move() {
	to := e.to.Swap(nil)
	if to == nil || *to == e.c.Collector {
		return
	}
	e.hangUp()
	e.c.Collector, e.retryAt = *to, time.Time{}
}

// Run sends until ctx is done and the rings are empty. The workers must have
// stopped by then, or the rings never stay empty. Once ctx is done it takes two
// seconds at most: what the kernel has not taken by then is counted as lost.
func (e *Exporter) Run(ctx context.Context) {
	defer e.hangUp()
	for idle := 1; ; idle++ {
		if ctx.Err() != nil && e.drainEnd.IsZero() {
			e.drainEnd = time.Now().Add(e.patience)
		}
		n := 0
		for _, r := range e.c.Rings {
			if got := r.Pop(e.vec, mbuf.MaxBurst); got > 0 {
				e.export(got)
				n += got
			}
		}
		if n > 0 {
			idle = 0
			continue
		}
		look := idle%answersEvery == 0 && idle <= answersUntil || ctx.Err() != nil
		if e.conn != nil && look {
			e.takeAnswers()
		}
		if ctx.Err() != nil {
			return
		}
		time.Sleep(idleSleep)
	}
}

// export sends vec[:n] or counts why not, and frees them.
func (e *Exporter) export(n int) {
	defer e.c.Pool.FreeBulk(e.vec, n)
	e.move()
	if e.conn == nil && !e.dial() {
		e.Dropped[exporters.DropUnreachable].Add(uint64(n))
		return
	}
	e.batch.fill(e.conn, e.vec, n)
	e.conn.SetWriteDeadline(e.sendDeadline())
	for left := e.batch.msgs[:n]; len(left) > 0; {
		sent, err := e.send(left)
		e.countSent(n-len(left), sent)
		left = left[sent:]
		if err != nil && len(left) > 0 {
			left = e.countLost(left, classify(err))
		}
	}
}

// countLost counts left[0] as dropped for reason and returns the messages that are
// still worth a try: none where the reason holds for all of them.
func (e *Exporter) countLost(left []ipv4.Message, reason exporters.DropReason) []ipv4.Message {
	switch reason {
	case exporters.DropUnreachable:
		e.hangUp()
	case exporters.DropTimeout:
	default:
		e.Dropped[reason].Add(1)
		return left[1:]
	}
	e.Dropped[reason].Add(uint64(len(left)))
	return nil
}

// sendDeadline bounds how long one batch may wait for the kernel. A socket whose
// interface does not send blocks without a bound otherwise, and so would a stop.
func (e *Exporter) sendDeadline() time.Time {
	t := time.Now().Add(e.patience)
	if !e.drainEnd.IsZero() && t.After(e.drainEnd) {
		return e.drainEnd
	}
	return t
}

// dial opens the socket, at most once per retryEvery.
func (e *Exporter) dial() bool {
	now := time.Now()
	if now.Before(e.retryAt) || !e.c.Collector.IsValid() { // a name without an address yet
		return false
	}
	e.Dials.Add(1)
	c, err := open(&e.c)
	if err != nil {
		e.retryAt = now.Add(retryEvery)
		return false
	}
	e.conn = c
	return true
}

func (e *Exporter) hangUp() {
	if e.conn != nil {
		e.conn.Close()
		e.conn = nil
		e.retryAt = time.Now().Add(retryEvery)
	}
}

// Counters is what Run has counted. Safe from any goroutine.
func (e *Exporter) Counters() (c exporters.Counters) {
	c.Packets, c.Bytes = e.Packets.Load(), e.Bytes.Load()
	for r := range c.Dropped {
		c.Dropped[r] = e.Dropped[r].Load()
	}
	c.Delays = e.Delays.Read()
	return c
}

// handoff takes the bytes in front of a report packet off m.
func handoff(m *mbuf.Mbuf) report.Handoff {
	h, _ := report.TakeHandoff(m.Bytes())
	m.Adj(report.HandoffLen)
	return h
}
