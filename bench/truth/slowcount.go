// CountSlowly: what happened in queues, from the bytes of a capture alone, with a sum for each flow.

package truth

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"time"
)

// Captured is one packet of a capture.
type Captured struct {
	Time  int64
	Frame []byte
}

// QueueName is a queue as an episode names it.
type QueueName struct {
	Node   uint32
	Egress uint16 // all ones: the packets do not tell
	Queue  uint8
}

// SlowEpisode is an episode of a queue with all of its flows.
type SlowEpisode struct {
	QueueName
	Begin, End     int64
	Bursts         uint32
	Silent         bool
	Packets, Bytes uint64
	Latency        uint32 // the highest
	Occupancy      uint32
	PeakAt         int64 // of the latency or, without one, of the occupancy
	OfFlow         map[string]uint64
	Waited         map[string][]uint32 // latency of each of its packets
}

// Rise says when an episode begins and ends.
type Rise struct {
	Latency, Half uint32 // two of four packets of the queue with this latency begin it, one below half of it ends it; 0: the next two count
	Raise, Clear  uint32 // occupancies
	Timeout       time.Duration

	// Where an episode lasts over the calm between bursts: it ends when the queue has been calm for Hold, or for twice as long as it
	// was in no episode before, up to Longest. Four calm packets in a row end a burst, two of four begin another.
	Hold, Longest time.Duration
}

// slowQueue is a queue with the last packets before an episode.
type slowQueue struct {
	open *SlowEpisode
	last int64
	was  uint8 // bit 0: the last packet was over, or in a burst not calm, and so on

	calm, ended int64 // since when the episode is between bursts, 0: it is not; the last one's end
	over        int64 // the last packet that was over in a burst
	hold        int64
}

// CountSlowly returns the episodes of a capture whose packets are Ethernet, IPv4, UDP with INT-MD of version 2 behind it.
// Those that are open at its end ended with their last packet, or burst.
func CountSlowly(all []Captured, r Rise) (ended []*SlowEpisode) {
	queues := map[QueueName]*slowQueue{}
	for _, c := range all {
		flow, size, hops := readCaptured(c.Frame)
		for name, h := range hops {
			q := queues[name]
			if q == nil {
				q = &slowQueue{}
				queues[name] = q
			}
			if e := q.pass(name, c.Time, h, r); e != nil {
				ended = append(ended, e)
			}
			if q.open != nil && q.calm == 0 {
				q.open.add(c.Time, flow, size, h)
			}
			if _, under := h.is(r); r.Hold == 0 && q.open != nil && under {
				ended = append(ended, q.end(c.Time, false))
			}
		}
	}
	for _, q := range queues {
		switch {
		case q.open != nil && q.calm != 0:
			ended = append(ended, q.end(q.over, false))
		case q.open != nil:
			ended = append(ended, q.end(q.last, true))
		}
	}
	return ended
}

// is tells whether a packet is over the threshold, and whether it is calm.
func (h *slowHop) is(r Rise) (over, under bool) {
	if r.Latency != 0 {
		return h.latency >= r.Latency, h.latency < r.Half
	}
	return h.occupancy >= r.Raise, h.occupancy <= r.Clear
}

// pass moves the queue by one packet, and returns the episode that was over before it.
func (q *slowQueue) pass(name QueueName, now int64, h slowHop, r Rise) (before *SlowEpisode) {
	over, under := h.is(r)
	switch {
	case q.open != nil && q.calm != 0 && now-q.over >= q.hold:
		before = q.end(q.over, false)
	case now-q.last >= int64(r.Timeout) && q.open != nil && q.calm == 0:
		before = q.end(q.last, true)
	}
	if now-q.last >= int64(r.Timeout) && q.open == nil {
		q.was = 0
	}
	burst := q.open != nil && q.calm == 0
	q.was = q.was << 1 & 0xf
	if burst && !under || !burst && over {
		q.was |= 1
	}
	begins := over && (r.Latency == 0 || bits.OnesCount8(q.was) == 2)
	q.last = now
	switch {
	case burst && r.Hold != 0 && q.was == 0:
		q.calm = now
	case q.open == nil && begins:
		q.hold = int64(r.Hold)
		if since := now - q.ended; q.ended != 0 && since < int64(r.Longest) {
			q.hold = max(q.hold, min(2*since, int64(r.Longest)))
		}
		q.was = 1
		q.open = &SlowEpisode{QueueName: name, Begin: now, Bursts: 1, OfFlow: map[string]uint64{}, Waited: map[string][]uint32{}}
	case q.calm != 0 && begins:
		if now-q.over >= 10*ms {
			q.open.Bursts++
		}
		q.was, q.calm = 1, 0
	}
	if over && q.calm == 0 {
		q.over = now
	}
	return before
}

// end ends the episode.
func (q *slowQueue) end(at int64, silent bool) *SlowEpisode {
	e := q.open
	e.End, e.Silent = at, silent
	q.open, q.was, q.calm, q.ended = nil, 0, 0, at
	return e
}

func (e *SlowEpisode) add(at int64, flow string, size uint64, h slowHop) {
	e.Packets, e.Bytes = e.Packets+1, e.Bytes+size
	e.OfFlow[flow] += size
	e.Waited[flow] = append(e.Waited[flow], h.latency)
	if h.latency > e.Latency || e.Latency == 0 && h.occupancy > e.Occupancy {
		e.PeakAt = at
	}
	e.Latency, e.Occupancy = max(e.Latency, h.latency), max(e.Occupancy, h.occupancy)
}

// slowHop is what a packet tells of a queue. 0: nothing.
type slowHop struct{ latency, occupancy uint32 }

// readCaptured returns the flow of a packet, how long it is without INT, and what it tells of queues.
func readCaptured(f []byte) (flow string, size uint64, hops map[QueueName]slowHop) {
	const ip, udp, shim, md, stack = 14, 14 + 20, 14 + 28, 14 + 32, 14 + 44
	be := binary.BigEndian
	words := int(f[shim+1]) // behind the shim
	size = uint64(len(f) - 4 - 4*words)
	src := netip.AddrPortFrom(netip.AddrFrom4([4]byte(f[ip+12:])), be.Uint16(f[udp:]))
	dst := netip.AddrPortFrom(netip.AddrFrom4([4]byte(f[ip+16:])), be.Uint16(f[shim+2:])) // NPT 1: the port that was there
	flow = "udp:" + src.String() + "-" + dst.String()
	hops = map[QueueName]slowHop{}
	hopWords := int(f[md+2] & 0x1f)
	bitmap := be.Uint16(f[md+4:])
	for at := stack; at+4*hopWords <= shim+4+4*words; at += 4 * hopWords {
		name, h, w := QueueName{Egress: unknown16, Queue: 0xff}, slowHop{}, at
		for _, bit := range []uint16{bitNode, bitInterfaces, bitLatency, bitQueue} {
			if bitmap&bit == 0 {
				continue
			}
			v := be.Uint32(f[w:])
			w += 4
			switch bit {
			case bitNode:
				name.Node = v
			case bitInterfaces:
				name.Egress = uint16(v)
			case bitLatency:
				h.latency = v
			case bitQueue:
				name.Queue, h.occupancy = uint8(v>>24), v&0xffffff
			}
		}
		hops[name] = h
	}
	return flow, size, hops
}
