// Loop: a worker's links as C polls them, when it comes back to Go, and what it has counted meanwhile.

package fast

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"intsink/dpdk/mbuf"
)

// MaxLinks is how many links a Loop can poll.
const MaxLinks = 64

// Why Path.Run came back.
type Why uint32

const (
	Pause Why = iota // at a time, after a gap, or after as many empty polls as were asked for; no burst is at hand
	Due              // the burst is as it was received: Receive is to be called
	Begun            // Receive was called, and has left something to do
	Sent             // the burst was transmitted: not all of it, or one came from the host
)

// Ends are the queues of one link in C, and what has passed them on its way to the host.
type Ends struct {
	Network, Host mbuf.CQueue
	Passed
}

// Passed are packets of bursts from the network that Go has not seen.
type Passed struct {
	Received, Forwarded uint64
	WithINT             uint64
	Types               Types // of those with INT
}

// end is a link in a Loop.
type end struct {
	Ends
	state uintptr // State of its Path
	plain uint64  // all ones or zero
}

// Loop polls the links of one worker in C until there is something to do for Go: for most
// bursts there is not. It is outside the Go heap; C reads and writes it by its address.
type Loop struct {
	announced *atomic.Uint64
	vec, back *mbuf.Vec
	clock     int64 // to add to CLOCK_MONOTONIC
	links     uint32
	at        uint32 // link that is polled next

	Until
	Reason Why
	// The burst at hand, of link Link: its packets, how many of them were transmitted (with
	// Sent), and how many came from the host.
	N, Transmitted, Received uint32
	Empty                    uint32 // polls in a row, so far, that found nothing
	done                     uint32 // bursts that were done with by the last Run

	Now   int64 // when the last burst was received, or the last poll found nothing
	began int64 // first burst of the poll at hand; 0: there is none yet
	Last  int64 // of the last poll

	Tally
	link [MaxLinks]end
}

// Until says when Run comes back although no burst needs it: at the end of a poll, or with the next burst
// from the network.
type Until struct {
	Synced       uint64 // with a burst, when the number that other workers change is another one
	Time         int64  // after a poll, Unix nanoseconds
	LongGap      int64  // after a poll, such a time after the one before
	Due, DueAt   int64  // with a burst, after so many INT packets or at that time
	Look, LookAt int64  // with one INT packet of a known flow, after so many INT packets and at that time
	LookFrom     uint8  // Burst.Look then
	MostEmpty    uint64 // after more polls in a row that find nothing
}

// Tally is what was counted in C since Take.
type Tally struct {
	Longest int64 // gap between two polls
	BusyNs  int64 // from each poll that found packets to the next
	Polls   [2]uint64
	Bursts  [burstSizes]uint64 // by the number of bits of their length
	Packets uint64             // in them
}

const burstSizes = 8

// NewLoop makes a loop over links, which Run polls in turn, each by the path that SetPath gives it. announced has to be
// outside the Go heap. clock is added to CLOCK_MONOTONIC to get the worker's clock. nil: there is no C, or
// there are too many links.
func NewLoop(links []Ends, announced *atomic.Uint64, clock int64) *Loop {
	if !haveC || len(links) > MaxLinks {
		return nil
	}
	b, err := syscall.Mmap(-1, 0, int(unsafe.Sizeof(Loop{})), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("fast: no memory for %d bytes: %v", unsafe.Sizeof(Loop{}), err)) // at start only
	}
	l := (*Loop)(unsafe.Pointer(&b[0])) // SAFETY: page aligned and large enough
	l.announced, l.clock, l.links = announced, clock, uint32(len(links))
	for i := range links {
		l.link[i].Ends = links[i]
	}
	return l
}

// SetPath has the packets of link i matched with the templates of p.
func (l *Loop) SetPath(i int, p *Path) { l.link[i].state = uintptr(unsafe.Pointer(p.State)) }

// SetPlain says whether Go has to see bursts of link i that have packets without INT.
func (l *Loop) SetPlain(i int, sees bool) { l.link[i].plain = -uint64(bit(sees)) }

// MayLoop tells whether Loop.Run can be called: not while bursts are left to the parser.
func (p *Path) MayLoop() bool { return p.until == 0 }

// Run polls on from where it stopped until there is something to do for Go, and returns what. paths are those of
// all links, each once. b says
// what holds for all bursts; its N, Now and Look are not used. Bursts are received into b.Vec, those from the
// host into back.
func (l *Loop) Run(paths []*Path, b *Burst, back *mbuf.Vec) Why {
	for _, p := range paths {
		p.prepare(b)
		p.fresh = 0
	}
	l.vec, l.back = b.Vec, back
	paths[0].poll(l)
	for _, p := range paths {
		if l.done > 0 {
			p.vain = 0
		}
		if l.Reason == Begun && l.link[l.Link()].state == uintptr(unsafe.Pointer(p.State)) {
			p.matched(int(l.N))
		}
	}
	return l.Reason
}

// Link returns the link of the burst at hand.
func (l *Loop) Link() int { return int(l.at) - 1 }

// Take returns what was counted since it was last called.
func (l *Loop) Take() Tally {
	t := l.Tally
	l.Tally = Tally{}
	return t
}

// Passed returns what has passed link i since it was last called.
func (l *Loop) Passed(i int) Passed {
	p := l.link[i].Passed
	l.link[i].Passed = Passed{}
	return p
}

// Restart makes Run begin with the first link. It returns when the first burst of the poll at hand was
// received; 0: none was.
func (l *Loop) Restart() (began int64) {
	began, l.at, l.began = l.began, 0, 0
	return began
}
