// Crowd: the hosts, or the services, with the most bytes of a queue; which packets are looked at for that.

package episode

import (
	"math"
	"math/bits"
	"slices"

	"intsink/flows"
)

// Members is how many hosts or services a Crowd has room for.
const Members = 32

// Member is a host or a service: its bytes are at most Bytes, and at least Bytes - Over.
type Member struct {
	Flow        flows.Key // of one of its packets: the host is the source, the service the lower port with its protocol
	Bytes, Over uint64
	Added       uint64 // how much longer its packets were in the queue than is usual, nanoseconds
}

// Crowd is hosts or services with their sums, in no order, by Space-Saving as Top. It holds no pointer.
type Crowd struct {
	members [Members]Member
	tags    [Members / 8]uint64 // eight bits of each member, to find it without a look at all
	used    int
}

// Port is that of a flow's service: the lower one.
func Port(k *flows.Key) uint16 { return min(k.SrcPort(), k.DstPort()) }

func sameHost(a, b *flows.Key) bool { return a.Version() == b.Version() && a.Src() == b.Src() }

func sameService(a, b *flows.Key) bool { return a.Proto() == b.Proto() && Port(a) == Port(b) }

// hostTag and serviceTag are eight bits that are the same of the same host and service.
func hostTag(k *flows.Key) uint8 {
	s := k.Src()
	return tagOf(s[0] ^ s[1])
}

func serviceTag(k *flows.Key) uint8 { return tagOf(uint64(k.Proto())<<16 | uint64(Port(k))) }

func tagOf(x uint64) uint8 { return uint8(x * 0x9e3779b97f4a7c15 >> 56) }

// add adds to the sums of the member that is the same as flow, and has its tag.
func (c *Crowd) add(flow *flows.Key, tag uint8, same func(a, b *flows.Key) bool, bytes, added uint64) {
	for i := range c.tags {
		for equal := tagged(c.tags[i], tag); equal != 0; equal &= equal - 1 {
			at := 8*i + bits.TrailingZeros64(equal)/8
			if at < c.used && same(&c.members[at%Members].Flow, flow) {
				m := &c.members[at%Members]
				m.Bytes, m.Added = m.Bytes+bytes, m.Added+added
				return
			}
		}
	}
	at := c.used
	if at < Members {
		c.used++
	} else {
		at = c.least()
	}
	m := &c.members[at%Members]
	*m = Member{*flow, m.Bytes + bytes, m.Bytes, added}
	setTag(&c.tags[at/8%len(c.tags)], at%8, tag)
}

// least is the place of the lowest sum.
func (c *Crowd) least() (least int) {
	bytes := uint64(math.MaxUint64)
	for i := range c.members {
		if n := c.members[i].Bytes; n < bytes {
			least, bytes = i, n
		}
	}
	return least
}

// Most returns at most n members, those with the highest sums first. Those that may be there by chance are left out.
func (c *Crowd) Most(n int) []Member {
	all := slices.DeleteFunc(slices.Clone(c.members[:c.used]), func(m Member) bool { return m.Over > m.Bytes/2 })
	slices.SortStableFunc(all, func(a, b Member) int { return int(b.Bytes-b.Over/2) - int(a.Bytes-a.Over/2) })
	return all[:min(n, len(all))]
}

// Hosts, services and who fills the queue just now are known of a sample of packets: of the first ones of each ten seconds all, of the
// next ones one in 8 at random, then one in 64. A packet of the sample counts for as many.
const (
	spanNs     = 10e9
	firstOfAll = 1024
	nextOfAll  = 8 * firstOfAll
)

// picker picks the packets of the sample. What it picks does not depend on what it picked: workers may go on with copies of it.
type picker struct {
	first int // packets that are all in the sample yet; below zero: as many came behind them
	dice  uint32
}

// pick returns how many packets the next one stands for; 0: it is not in the sample.
func (k *picker) pick() (weight uint64) {
	if k.first--; k.first >= 0 {
		return 1
	}
	weight = 64
	if k.first >= -nextOfAll {
		weight = 8
	}
	if k.dice = k.dice*1664525 + 1013904223; uint64(k.dice)*weight < 1<<32 {
		return weight
	}
	return 0
}

// turn begins the next ten seconds, if they are over.
func (r *Record) turn(now int64) {
	if now-r.spanAt < spanNs {
		return
	}
	if r.before = r.now; now-r.spanAt >= 2*spanNs {
		r.before = Top{}
	}
	r.now, r.spanAt, r.first = Top{}, now, firstOfAll
}

// sample takes one packet of the sample up, which stands for so many.
func (r *Record) sample(p *Packet, weight uint64) {
	bytes, added := weight*uint64(p.Bytes), weight*p.added(r.UsualLatency)
	r.Hosts.add(p.Flow, hostTag(p.Flow), sameHost, bytes, added)
	r.Services.add(p.Flow, serviceTag(p.Flow), sameService, bytes, added)
	r.now.Total += bytes
	r.now.add(p.Flow, bytes)
}

// Now is who filled the queue in the last ten seconds of it, or the last that are over.
func (r *Record) Now() *Top {
	if r.before.Total != 0 && r.Last-r.spanAt < spanNs/2 {
		return &r.before
	}
	return &r.now
}
