// Station: one worker's part in finding neighbours on a port of reports: hears ARP and ND,
// answers with a limit, asks gateways.

package port

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"intsink/dpdk/mbuf"
)

// FrameKind says what became of a frame of ARP or Neighbor Discovery.
type FrameKind uint8

// The list is closed: it generates the metric label and docs/metrics.md.
const (
	FrameRequested FrameKind = iota
	FrameLearned
	FrameAnswered
	FrameLimited
	FrameUnsent
	FrameOther
	NumFrameKinds
)

var frameKinds = [NumFrameKinds]struct{ label, doc string }{
	FrameRequested: {"requested", "sent: a gateway was asked for its MAC address"},
	FrameLearned:   {"learned", "received: it gave a gateway's MAC address"},
	FrameAnswered:  {"answered", "received: it asked for a source address of reports, and was answered"},
	FrameLimited:   {"limited", "received: such a question beyond 100 a second, not answered"},
	FrameUnsent:    {"unsent", "a request or an answer that could not be sent: no mbuf, or the port took no more"},
	FrameOther:     {"other", "received: nothing of the above; on a port of the reports' own, everything else too"},
}

// String returns the value of the kind label.
func (k FrameKind) String() string { return frameKinds[k].label }

// Doc is one line for the documentation.
func (k FrameKind) Doc() string { return frameKinds[k].doc }

// Port is a DPDK port that reports leave by: the sink's own addresses on it, and the gateways to
// resolve. Its stations are made before a worker runs; exporters come and go.
type Port struct {
	sink     atomic.Pointer[[]MAC] // of all its ports: what comes from them is a loop or a lie
	stations []*Station

	changing  sync.Mutex // held while neighbors change; never by a worker; guards mac
	mac       MAC
	neighbors atomic.Pointer[[]*neighbor] // replaced as a whole
}

// New makes a port with that MAC address; others are the addresses of the sink's other ports.
func New(mac MAC, others ...MAC) *Port {
	p := &Port{mac: mac}
	all := append([]MAC{mac}, others...)
	p.sink.Store(&all)
	return p
}

// SetMAC gives the port another MAC address, of a device that was not there when the port was made. Exporters have it that
// are made from then on.
func (p *Port) SetMAC(mac MAC) {
	p.changing.Lock()
	defer p.changing.Unlock()
	p.mac = mac
}

// AlsoSink adds an address of another port of the sink, which was not there when p was made.
func (p *Port) AlsoSink(mac MAC) {
	p.changing.Lock()
	defer p.changing.Unlock()
	all := append(slices.Clone(*p.sink.Load()), mac)
	p.sink.Store(&all)
}

// neighbor is a gateway, and who we are for it. Collectors may share one.
type neighbor struct {
	mac     MAC
	vlan    uint16
	source  netip.Addr
	address netip.Addr // the gateway's; the zero Addr: its MAC is fixed
	fixed   uint64     // packed; 0: it is asked for
	gateway gateway
	users   int         // exporters; guarded by Port.changing
	speaks  atomic.Bool // answers for source: the first of its source and VLAN
}

func (n *neighbor) gatewayMAC() (MAC, bool) {
	x := n.fixed
	if x == 0 {
		x = n.gateway.mac.Load()
	}
	return unpack(x), x != 0
}

// known returns the neighbors of now.
func (p *Port) known() []*neighbor {
	if all := p.neighbors.Load(); all != nil {
		return *all
	}
	return nil
}

// Exporter makes the exporter of one collector that is reached by p. Safe from any goroutine.
func (p *Port) Exporter(c Config) *Exporter {
	p.changing.Lock()
	defer p.changing.Unlock()
	n := &neighbor{mac: p.mac, vlan: c.VLAN, source: c.Source, address: c.Gateway}
	if c.GatewayMAC != (MAC{}) {
		n.fixed, n.address = pack(c.GatewayMAC), netip.Addr{}
	}
	all := slices.Clone(p.known())
	at := slices.IndexFunc(all, func(o *neighbor) bool {
		return o.source == n.source && o.vlan == n.vlan && o.address == n.address && o.fixed == n.fixed && o.mac == n.mac
	})
	if at >= 0 {
		n = all[at]
	} else {
		all = append(all, n)
	}
	n.users++
	p.replace(all)
	return &Exporter{c: c, mac: p.mac, neighbor: n}
}

// Remove forgets the gateway of an exporter, unless another has the same. Nobody may send
// with e any more. Safe from any goroutine.
func (p *Port) Remove(e *Exporter) {
	p.changing.Lock()
	defer p.changing.Unlock()
	if e.neighbor.users--; e.neighbor.users == 0 {
		p.replace(slices.DeleteFunc(slices.Clone(p.known()), func(n *neighbor) bool { return n == e.neighbor }))
	}
}

// replace makes all the neighbors. The first of a source and VLAN speaks for it.
func (p *Port) replace(all []*neighbor) {
	for i, n := range all {
		n.speaks.Store(!slices.ContainsFunc(all[:i], func(o *neighbor) bool { return o.source == n.source && o.vlan == n.vlan }))
	}
	p.neighbors.Store(&all)
}

// Station is one worker's ears on a port, and on worker 0 the voice that asks.
// Hear and Tick belong to the worker.
type Station struct {
	port     *Port
	queue    Queue
	pool     Pool
	own      bool // nobody else receives from queue
	asks     bool
	vec, one *mbuf.Vec
	scratch  [128]byte
	answers  int   // that are left until refill
	refill   int64 // when there are more

	frames [NumFrameKinds]atomic.Uint64 // written by the worker only
}

// An attacker who asks for our address all the time gets answersPerRefill
// answers each refillEvery nanoseconds.
const (
	answersPerRefill = 10
	refillEvery      = 100e6
)

// Station makes worker's station; pool is where the frames that it sends come
// from. own: nobody else receives from the port, so Tick does.
func (p *Port) Station(worker int, queue Queue, pool Pool, own bool) *Station {
	s := &Station{port: p, queue: queue, pool: pool, own: own, asks: worker == 0, one: mbuf.NewVec()}
	if own {
		s.vec = mbuf.NewVec()
	}
	p.stations = append(p.stations, s)
	return s
}

// Frames returns the sums of all stations. Safe from any goroutine once all stations are made.
func (p *Port) Frames() (sum [NumFrameKinds]uint64) {
	for _, s := range p.stations {
		for k := range sum {
			sum[k] += s.frames[k].Load()
		}
	}
	return sum
}

// ownBursts bounds what a port of the reports' own may take of a worker's time,
// each millisecond.
const ownBursts = 4

// Tick receives on a port of the reports' own and asks the gateways that are due.
func (s *Station) Tick(now int64) {
	if s.own {
		for range ownBursts {
			n := s.queue.RxBurst(s.vec)
			for _, m := range s.vec[:n] {
				s.Hear(m.Bytes(), now)
			}
			if n > 0 {
				s.pool.FreeBulk(s.vec, n)
			}
			if n < mbuf.MaxBurst {
				break
			}
		}
	}
	if !s.asks {
		return
	}
	for _, n := range s.port.known() {
		if n.fixed == 0 && n.gateway.tick(now) {
			s.ask(n)
		}
	}
}

// Hear reads a received frame: it takes over a gateway's MAC address from it, or answers it if
// it asks for an address of the sink. The frame stays the caller's, unchanged. MAC addresses
// of the sink are refused as a gateway's: reports would come back.
func (s *Station) Hear(frame []byte, now int64) {
	m, ok := parse(frame)
	if !ok || slices.Contains(*s.port.sink.Load(), m.mac) {
		s.frames[FrameOther].Add(1)
		return
	}
	kind := FrameOther
	for _, n := range s.port.known() {
		if n.learn(&m) {
			kind = FrameLearned
		}
	}
	for _, n := range s.port.known() {
		if n.asked(&m) {
			kind = s.answer(n, &m, now)
			break
		}
	}
	s.frames[kind].Add(1)
}

// near: m is of n's VLAN. Some drivers take the tag off: none is good too.
func (n *neighbor) near(m *message) bool { return m.vlan == 0 || m.vlan == n.vlan }

// learn takes the gateway's MAC address from a message to us, or to everybody
// where the gateway moves. Without the override flag it replaces no other one
// (RFC 4861, section 7.2.5).
func (n *neighbor) learn(m *message) bool {
	if n.fixed != 0 || m.from != n.address || !m.tells || !n.near(m) {
		return false
	}
	if m.target != n.source && m.target != m.from && !m.target.IsMulticast() {
		return false
	}
	x := pack(m.mac)
	if old := n.gateway.mac.Load(); old != 0 && old != x && !m.override && !m.question {
		return false
	}
	n.gateway.offer.Store(x)
	return true
}

// asked: m asks for our address, and is not from somebody who has it too.
func (n *neighbor) asked(m *message) bool {
	return n.speaks.Load() && m.question && m.target == n.source && m.from != n.source && n.near(m)
}

func (s *Station) ask(n *neighbor) {
	var length int
	if n.address.Is4() {
		length = n.putARP(s.scratch[:], arpRequest, MAC{}, n.address)
	} else {
		length = n.putSolicitation(s.scratch[:], n.address)
	}
	s.frames[s.send(length, FrameRequested)].Add(1)
}

func (s *Station) answer(n *neighbor, q *message, now int64) FrameKind {
	if now >= s.refill {
		s.answers, s.refill = answersPerRefill, now+refillEvery
	}
	if s.answers == 0 {
		return FrameLimited
	}
	s.answers--
	if n.source.Is4() {
		return s.send(n.putARP(s.scratch[:], arpReply, q.mac, q.from), FrameAnswered)
	}
	return s.send(n.putAdvertisement(s.scratch[:], q), FrameAnswered)
}

// send transmits scratch[:length] and returns sent, or FrameUnsent.
func (s *Station) send(length int, sent FrameKind) FrameKind {
	if !s.pool.AllocBulk(s.one, 1) {
		return FrameUnsent
	}
	copy(s.one[0].SetLen(length), s.scratch[:length])
	if transmit(s.queue, s.pool, s.one, 1).left == 0 {
		return FrameUnsent
	}
	return sent
}
