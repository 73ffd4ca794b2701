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
	Silent         bool
	Packets, Bytes uint64
	Latency        uint32 // the highest
	Occupancy      uint32
	PeakAt         int64 // of the latency or, without one, of the occupancy
	OfFlow         map[string]uint64
	Waited         map[string]uint64 // latency of all its packets
	Passed         map[string]uint64 // packets of them
}

// Rise says when an episode begins and ends.
type Rise struct {
	Latency, Half uint32 // two of four packets of the queue with this latency begin it, one below half of it ends it; 0: the next two count
	Raise, Clear  uint32 // occupancies
	Timeout       time.Duration
}

// slowQueue is a queue with the last packets before an episode.
type slowQueue struct {
	open *SlowEpisode
	last int64
	was  uint8 // bit 0: the last packet was over, and so on
	calm int   // packets in a row that would end the episode
}

// CountSlowly returns the episodes of a capture whose packets are Ethernet, IPv4, UDP with INT-MD of version 2 behind it.
// Those that are open at its end are not in it.
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
			if c.Time-q.last >= int64(r.Timeout) {
				if q.was = 0; q.open != nil {
					q.open.End, q.open.Silent = q.last, true
					ended, q.open = append(ended, q.open), nil
				}
			}
			over, under := h.occupancy >= r.Raise, h.occupancy <= r.Clear
			if r.Latency != 0 {
				over, under = h.latency >= r.Latency, h.latency < r.Half
			}
			begins := over
			if r.Latency != 0 && q.open == nil {
				if q.was <<= 1; over {
					q.was |= 1
				}
				q.was &= 0xf
				begins = bits.OnesCount8(q.was) == 2
			}
			if q.last = c.Time; q.open == nil && begins {
				q.was, q.calm = 0, 0
				q.open = &SlowEpisode{QueueName: name, Begin: c.Time, OfFlow: map[string]uint64{}, Waited: map[string]uint64{}, Passed: map[string]uint64{}}
			}
			if q.open == nil {
				continue
			}
			if q.calm++; !under {
				q.calm = 0
			}
			if q.open.add(c.Time, flow, size, h); under && (name.Egress != 1<<16-1 || q.calm == 16) { // without interfaces, calm queues of a node say nothing of the full one
				q.open.End = c.Time
				ended, q.open = append(ended, q.open), nil
			}
		}
	}
	return ended
}

func (e *SlowEpisode) add(at int64, flow string, size uint64, h slowHop) {
	e.Packets, e.Bytes = e.Packets+1, e.Bytes+size
	e.OfFlow[flow] += size
	e.Waited[flow] += uint64(h.latency)
	e.Passed[flow]++
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
