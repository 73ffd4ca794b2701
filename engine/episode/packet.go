// Packet: what packets add to a record, one by one, and what flows keep of it.

package episode

import (
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// Packet is what one packet adds.
type Packet struct {
	Flow   *flows.Key
	Shares *[flows.MaxShares]flows.Share // of its flow; nil: the record takes each packet at once
	Values
}

// Values are what a packet says of a queue, and what it is for the queue.
type Values struct {
	Latency, Occupancy uint32 // all ones: not told
	Bytes              uint32
	ECN                uint8 // of RFC 3168
	_                  [3]uint8
}

// added is by how much the packet was longer in the queue than is usual.
func (v *Values) added(usual uint32) uint64 {
	if v.Latency > usual && v.Latency != unknown {
		return uint64(v.Latency - usual)
	}
	return 0
}

// sums are those of packets.
type sums struct {
	ecn                [4]uint64 // packets by their ECN field
	bytes, added       uint64    // beside those that the record had when the run began
	told, occupancies  uint64
	latency, occupancy uint32 // the highest; 0: none was told
}

// packets is how many there are.
func (s *sums) packets() uint64 { return s.ecn[0] + s.ecn[1] + s.ecn[2] + s.ecn[3] }

// add adds a packet.
func (s *sums) add(v *Values, usual uint32) {
	s.ecn[v.ECN&3]++
	s.bytes += uint64(v.Bytes)
	s.added += v.added(usual)
	if v.Latency != unknown {
		s.latency = max(s.latency, v.Latency)
	}
	if v.Occupancy != unknown {
		s.told++
		s.occupancies += uint64(v.Occupancy)
		s.occupancy = max(s.occupancy, v.Occupancy)
	}
}

// take adds what packets that passed at now came to, in a run that began when the record had so many bytes and such a delay.
func (r *Record) take(now int64, s *sums, bytes, added uint64) {
	packets := s.packets()
	bytes, added = s.bytes-bytes, s.added-added
	r.Packets, r.Bytes, r.Capable, r.Marked = r.Packets+packets, r.Bytes+bytes, r.Capable+packets-s.ecn[packet.NotECT], r.Marked+s.ecn[packet.CE]
	r.told, r.occupancies = r.told+s.told, r.occupancies+s.occupancies
	r.Culprits.Total, r.Victims.Total = r.Culprits.Total+bytes, r.Victims.Total+added
	r.Last = max(r.Last, now)
	w := r.windowAt(now)
	w.Packets, w.Bytes = w.Packets+packets, w.Bytes+bytes
	w.Latency, w.Occupancy = max(w.Latency, s.latency), max(w.Occupancy, s.occupancy)
	if s.occupancy > r.PeakOccupancy {
		if r.PeakOccupancy = s.occupancy; r.PeakLatency == 0 {
			r.PeakAt = now
		}
	}
	if s.latency > r.PeakLatency {
		r.PeakLatency, r.PeakAt = s.latency, now
	}
}

// A flow keeps what its packets came to, its Share, until that is one in Unshared of all packets of the record, by bytes or by delay, or
// until its packets are twice as many as the record has of it. So a record's flows are seldom touched, and their sums are too low by less
// than one in Unshared of all, for each worker that the flow's packets come to.
const (
	Unshared      = 1 << unsharedShift
	unsharedShift = 10
)

// settle takes the share of a flow.
func (r *Record) settle(flow *flows.Key, s *flows.Share) {
	if s.Bytes > 0 {
		r.Culprits.add(flow, s.Bytes)
	}
	if s.Added > 0 {
		r.Victims.add(flow, s.Added)
	}
	s.Taken, s.Packets, s.Bytes, s.Added = s.Taken+uint64(s.Packets), 0, 0, 0
}

// Count adds a packet to the record with that number, and reports whether it is open.
func (b *Book) Count(now int64, id uint32, p *Packet) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.find(id)
	if r == nil {
		return false
	}
	r.turn(now)
	q := Tally{id: id}
	q.begin(r)
	weight, share := q.count(p.Shares, &p.Values)
	b.take(r, p, weight, share)
	r.take(now, &q.own, q.wasBytes, q.wasAdded)
	r.first, r.dice = r.first-1, q.dice
	return true
}

// take takes at once what Tally.count tells of a packet of r.
func (b *Book) take(r *Record, p *Packet, weight uint64, share uint8) {
	if weight != 0 {
		r.sample(p, weight)
	}
	switch {
	case share < flows.MaxShares && p.Shares != nil:
		r.settle(p.Flow, &p.Shares[share])
	case share == noShare:
		own := flows.Share{Record: r.ID, Packets: 1, Bytes: uint64(p.Bytes), Added: p.added(r.UsualLatency)}
		s := &own
		if p.Shares != nil {
			s = b.room(p)
			*s = own
		}
		r.settle(p.Flow, s)
	}
}

// room is where the flow of a packet gets a new share: in place of one whose record is not open, or of the second one, which its record
// takes before.
func (b *Book) room(p *Packet) *flows.Share {
	for i := range p.Shares {
		if b.find(p.Shares[i].Record) == nil {
			return &p.Shares[i]
		}
	}
	s := &p.Shares[flows.MaxShares-1]
	b.find(s.Record).settle(p.Flow, s)
	return s
}

// Forget has records take the shares of a flow that is about to go.
func (b *Book) Forget(f *flows.Flow) {
	if !f.HasCold() {
		return
	}
	shares := &f.Cold().Shares
	for i := range shares {
		s := &shares[i]
		if s.Packets == 0 {
			continue
		}
		b.mu.Lock()
		if r := b.find(s.Record); r != nil {
			r.settle(&f.Key, s)
		}
		b.mu.Unlock()
	}
}
