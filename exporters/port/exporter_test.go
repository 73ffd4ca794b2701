package port

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/report"
	"intsink/exporters"
)

// empty is a pool that has nothing left.
type empty struct{ *mbuf.Arena }

func (empty) AllocBulk(*mbuf.Vec, int) bool { return false }

// seal fills v with n report packets as the worker seals them, the i-th of
// 100 + i bytes.
func seal(t testing.TB, a *mbuf.Arena, v *mbuf.Vec, n int) {
	t.Helper()
	if !a.AllocBulk(v, n) {
		t.Fatal("no mbufs")
	}
	for i := range n {
		b := v[i].SetLen(report.HandoffLen + 100 + i)
		report.Handoff{Entropy: uint16(i), Reports: 1}.Put(b)
		copy(b[report.HandoffLen:], bytes.Repeat([]byte{byte(i)}, 100+i))
	}
}

// TestFramesOnTheWire: gopacket reads the frames, and finds every checksum right.
func TestFramesOnTheWire(t *testing.T) {
	const worker, n = 3, 5
	for _, c := range []struct {
		name   string
		config Config
		vlan   uint16
		port   SourcePort
		want   func(i int) uint16
	}{
		{"IPv4", four(), 0, SourcePort{}, func(int) uint16 { return 49155 }},
		{"IPv4, tagged, fixed source port", four(), 100, SourcePort{Fixed: true, Number: 7}, func(int) uint16 { return 7 }},
		{"IPv4, source port 0", four(), 0, SourcePort{Fixed: true}, func(int) uint16 { return 0 }},
		{"IPv6, hashed source port", six(), 0, SourcePort{Hash: true}, func(i int) uint16 { return 0xc000 | uint16(i) }},
		{"IPv6, tagged", six(), 4094, SourcePort{}, func(int) uint16 { return 49155 }},
	} {
		c.config.VLAN, c.config.SourcePort, c.config.GatewayMAC = c.vlan, c.port, theirs
		q := newQueue(t)
		e := New(ours).Exporter(c.config)
		s, v := e.Sender(worker, q, q.pool), mbuf.NewVec()
		seal(t, q.pool, v, n)
		s.Send(v, n)
		octets := uint64(0)
		for i, frame := range q.sent() {
			check(t, c.name, frame, c.config, c.want(i), bytes.Repeat([]byte{byte(i)}, 100+i))
			octets += uint64(100 + i)
		}
		if got := e.Counters(); got.Packets != n || got.Bytes != octets || octets == 0 || got.Dropped != [exporters.NumDropReasons]uint64{} {
			t.Errorf("%s: counters %+v", c.name, got)
		}
	}
}

// check reads a frame without our own code.
func check(t *testing.T, name string, frame []byte, c Config, source uint16, payload []byte) {
	t.Helper()
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	eth := p.Layer(layers.LayerTypeEthernet).(*layers.Ethernet)
	if !bytes.Equal(eth.SrcMAC, ours[:]) || !bytes.Equal(eth.DstMAC, theirs[:]) {
		t.Errorf("%s: from %v to %v", name, eth.SrcMAC, eth.DstMAC)
	}
	tag, tagged := p.Layer(layers.LayerTypeDot1Q).(*layers.Dot1Q)
	if tagged != (c.VLAN != 0) || tagged && tag.VLANIdentifier != c.VLAN {
		t.Errorf("%s: tag %+v", name, tag)
	}
	if ip, ok := p.Layer(layers.LayerTypeIPv4).(*layers.IPv4); ok && (ip.Flags != 0 || ip.Id == 0 || ip.TTL != 64) {
		t.Errorf("%s: %+v", name, ip)
	}
	src, dst := p.NetworkLayer().NetworkFlow().Endpoints()
	if src.String() != c.Source.String() || dst.String() != c.Collector.Addr().String() {
		t.Errorf("%s: from %v to %v", name, src, dst)
	}
	udp := p.Layer(layers.LayerTypeUDP).(*layers.UDP)
	if uint16(udp.SrcPort) != source || udp.DstPort != 8555 || !bytes.Equal(udp.Payload, payload) {
		t.Errorf("%s: %d to %d, %d bytes", name, udp.SrcPort, udp.DstPort, len(udp.Payload))
	}
	udp.SetNetworkLayerForChecksum(p.NetworkLayer())
	for _, l := range p.Layers() {
		l, ok := l.(gopacket.LayerWithChecksum)
		if !ok {
			continue
		}
		if err, result := l.VerifyChecksum(); err != nil || !result.Valid {
			t.Errorf("%s: %T: checksum %x, want %x, %v", name, l, result.Actual, result.Correct, err)
		}
	}
}

// TestEveryPacketIsSentOrCounted: bytes, counters and mbufs where the gateway is
// unknown, and where the port takes little or nothing.
func TestEveryPacketIsSentOrCounted(t *testing.T) {
	for _, c := range []struct {
		name       string
		mac        MAC
		room, most int
		sent       int
		reason     exporters.DropReason
	}{
		{"unknown", MAC{}, 100, 64, 0, exporters.DropUnresolved},
		{"all", theirs, 100, 64, 40, exporters.DropPortFull},
		{"in pieces", theirs, 100, 5, 40, exporters.DropPortFull},
		{"retries end", theirs, 100, 2, 18, exporters.DropPortFull},
		{"half", theirs, 17, 64, 17, exporters.DropPortFull},
		{"nothing", theirs, 0, 64, 0, exporters.DropPortFull},
	} {
		config := four()
		config.GatewayMAC = c.mac
		q := newQueue(t)
		q.room, q.most = c.room, c.most
		e := New(ours).Exporter(config)
		s, v := e.Sender(0, q, q.pool), mbuf.NewVec()
		seal(t, q.pool, v, 40)
		s.Send(v, 40)
		octets := 0
		for i, frame := range q.tx {
			if frame[42] != byte(i) {
				t.Errorf("%s: frame %d is report packet %d", c.name, i, frame[42])
			}
			octets += len(frame) - 42
		}
		got := e.Counters()
		if got.Packets != uint64(c.sent) || got.Dropped[c.reason] != uint64(40-c.sent) || len(q.tx) != c.sent || got.Bytes != uint64(octets) {
			t.Errorf("%s: %d on the wire of %d bytes, counters %+v", c.name, len(q.tx), octets, got)
		}
	}
}

// pickyQueue is a port with an MTU, and a link that may be down.
type pickyQueue struct {
	*memQueue
	longest int
	broken  int // index of the report packet whose frame the port does not take; 0: none
	down    bool
	why     mbuf.Refusal
}

func (q *pickyQueue) TxBurst(v *mbuf.Vec, n int) int {
	if q.down {
		q.why = mbuf.RefusedDown
		return 0
	}
	for i, m := range v[:n] {
		if m.PktLen() > q.longest {
			q.why = mbuf.RefusedTooLong
			return q.memQueue.TxBurst(v, i)
		}
		if q.broken > 0 && int(m.Bytes()[42]) == q.broken {
			q.why = mbuf.RefusedFrame
			return q.memQueue.TxBurst(v, i)
		}
	}
	q.why = mbuf.RefusedFull
	return q.memQueue.TxBurst(v, n)
}

func (q *pickyQueue) Refusal() mbuf.Refusal { return q.why }

// TestReportPacketsThatThePortRefuses: one that is too long costs itself only.
func TestReportPacketsThatThePortRefuses(t *testing.T) {
	config := four()
	config.GatewayMAC = theirs
	q := &pickyQueue{memQueue: newQueue(t), longest: 42 + 100 + 20}
	e := New(ours).Exporter(config)
	s, v := e.Sender(0, q, q.pool), mbuf.NewVec()
	seal(t, q.pool, v, 64)
	for i := 0; i < 32; i += 2 { // those that fit among the others
		v[i], v[63-i] = v[63-i], v[i]
	}
	s.Send(v, 64)
	octets := 0
	for _, f := range q.sent() {
		octets += len(f) - 42
	}
	const fit = 21
	c := e.Counters()
	if c.Packets != fit || c.Dropped[exporters.DropPacketTooBig] != 64-fit || c.Bytes != uint64(octets) || octets != fit*100+20*21/2 {
		t.Errorf("%d bytes, %+v", octets, c)
	}
	q.broken = 7
	seal(t, q.pool, v, 10)
	s.Send(v, 10)
	if c := e.Counters(); c.Dropped[exporters.DropPortFull] != 1 || c.Packets != fit+9 || len(q.sent()) != 9 {
		t.Errorf("a frame that the port does not take: %+v", c)
	}
	q.down = true
	seal(t, q.pool, v, 10)
	s.Send(v, 10)
	if c := e.Counters(); c.Dropped[exporters.DropPortFull] != 11 {
		t.Errorf("down: %+v", c)
	}
}

// TestSendersAreSummed: the counters of an exporter are those of all workers.
func TestSendersAreSummed(t *testing.T) {
	config := four()
	config.GatewayMAC = theirs
	e, v := New(ours).Exporter(config), mbuf.NewVec()
	for w := range 3 {
		q := newQueue(t)
		s := e.Sender(w, q, q.pool)
		seal(t, q.pool, v, 10)
		s.Send(v, 10)
		if from := q.tx[0][34:36]; from[0] != 0xc0 || from[1] != byte(w) {
			t.Errorf("worker %d sends from port %x", w, from)
		}
	}
	if c := e.Counters(); c.Packets != 30 {
		t.Errorf("%+v", c)
	}
}

// TestCollectorsShareAGateway: it is asked for once.
func TestCollectorsShareAGateway(t *testing.T) {
	p, q := New(ours), newQueue(t)
	second := four()
	second.Collector = netip.MustParseAddrPort("198.51.100.11:8555")
	a, b := p.Exporter(four()), p.Exporter(second)
	s := p.Station(0, q, q.pool, false)
	s.Tick(0)
	s.Hear(arpFrom(gatewayOf(four(), theirs), arpReply, ours, "192.0.2.1"), 0)
	s.Tick(ms)
	if len(q.sent()) != 1 || !a.Resolved() || !b.Resolved() {
		t.Errorf("resolved %v %v", a.Resolved(), b.Resolved())
	}
	for i, e := range []*Exporter{a, b} {
		if p.Remove(e); len(p.known()) != 1-i {
			t.Errorf("%d gateways after %d of 2 collectors are gone", len(p.known()), i+1)
		}
	}
}
