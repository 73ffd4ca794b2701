// Crowd: the hosts, or the services, with the most bytes of a queue; which packets are looked at for that.

package episode

import (
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
	used    int
}

// Port is that of a flow's service: the lower one.
func Port(k *flows.Key) uint16 { return min(k.SrcPort(), k.DstPort()) }

func sameHost(a, b *flows.Key) bool { return a.Version() == b.Version() && a.Src() == b.Src() }

func sameService(a, b *flows.Key) bool { return a.Proto() == b.Proto() && Port(a) == Port(b) }

// add adds to the sums of the member that is the same as flow.
func (c *Crowd) add(flow *flows.Key, same func(a, b *flows.Key) bool, bytes, added uint64) {
	least := 0
	for i := range c.members[:c.used] {
		m := &c.members[i]
		if same(&m.Flow, flow) {
			m.Bytes, m.Added = m.Bytes+bytes, m.Added+added
			return
		}
		if m.Bytes < c.members[least].Bytes {
			least = i
		}
	}
	if c.used < Members {
		least = c.used
		c.used++
	}
	m := &c.members[least]
	*m = Member{*flow, m.Bytes + bytes, m.Bytes, added}
}

// Most returns at most n members, those with the highest sums first. Those that may be there by chance are left out.
func (c *Crowd) Most(n int) []Member {
	all := slices.DeleteFunc(slices.Clone(c.members[:c.used]), func(m Member) bool { return m.Over > m.Bytes/2 })
	slices.SortStableFunc(all, func(a, b Member) int { return int(b.Bytes-b.Over/2) - int(a.Bytes-a.Over/2) })
	return all[:min(n, len(all))]
}

// Hosts, services and who fills the queue just now are known of a sample of packets: of the first ones of each ten seconds all, then
// one in eight at random, which counts for eight.
const (
	spanNs     = 10e9
	firstOfAll = 1024
	oneIn      = 8
)

// sample takes one packet of the sample up.
func (r *Record) sample(now int64, p *Packet) {
	weight := uint64(1)
	if r.first--; r.first < 0 {
		r.first, weight = -1, oneIn
	}
	if now-r.spanAt >= spanNs {
		if r.before = r.now; now-r.spanAt >= 2*spanNs {
			r.before = Top{}
		}
		r.now, r.spanAt, r.first = Top{}, now, firstOfAll
	}
	bytes, added := weight*uint64(p.Bytes), uint64(0)
	if p.Latency != unknown && p.Latency > r.UsualLatency {
		added = weight * uint64(p.Latency-r.UsualLatency)
	}
	r.Hosts.add(p.Flow, sameHost, bytes, added)
	r.Services.add(p.Flow, sameService, bytes, added)
	r.now.add(p.Flow, bytes)
}

// Now is who filled the queue in the last ten seconds of it, or the last that are over.
func (r *Record) Now() *Top {
	if r.before.Total != 0 && r.Last-r.spanAt < spanNs/2 {
		return &r.before
	}
	return &r.now
}
