package ipfix

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"net"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/engine/wire/inthdr"
	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
	"intsink/exporters/record"
)

// reader reads messages as RFC 7011 has them, by their templates, and keeps what it needs to know of each domain.
type reader struct {
	t         *testing.T
	templates map[uint32]map[uint16][]record.FlowField
	next      map[uint32]uint32 // sequence number that the next message must have
	told      int               // templates
	flows     []map[uint16]uint64
}

func newReader(t *testing.T) *reader {
	return &reader{t: t, templates: map[uint32]map[uint16][]record.FlowField{}, next: map[uint32]uint32{}}
}

// message reads one message, and fails the test where it has anything that does not belong there.
func (r *reader) message(m []byte) {
	r.t.Helper()
	if len(m) < headerLength || be.Uint16(m) != 10 || int(be.Uint16(m[2:])) != len(m) {
		r.t.Fatalf("header of %x", m)
	}
	sequence, id := be.Uint32(m[8:]), be.Uint32(m[12:])
	if want, known := r.next[id]; known && sequence != want || !known && sequence != 0 {
		r.t.Fatalf("domain %d: sequence %d, want %d", id, sequence, want)
	}
	if r.templates[id] == nil {
		r.templates[id] = map[uint16][]record.FlowField{}
	}
	for sets := m[headerLength:]; len(sets) > 0; {
		set, n := be.Uint16(sets), int(be.Uint16(sets[2:]))
		if n <= setHeaderLength || n > len(sets) {
			r.t.Fatalf("set %d of %d bytes in %x", set, n, m)
		}
		body := sets[setHeaderLength:n]
		sets = sets[n:]
		if set == templateSet {
			r.template(id, body)
			continue
		}
		fields := r.templates[id][set]
		if fields == nil {
			r.t.Fatalf("domain %d: data of template %d, which was not told", id, set)
		}
		for len(body) > 0 {
			flow := map[uint16]uint64{0: uint64(id)}
			for _, f := range fields {
				var b [8]byte
				copy(b[max(0, 8-int(f.Length)):], body[max(0, int(f.Length)-8):f.Length]) // the last bytes of an address
				flow[f.ID] = binary.BigEndian.Uint64(b[:])
				body = body[f.Length:]
			}
			r.flows = append(r.flows, flow)
			sequence++
		}
	}
	r.next[id] = sequence
}

func (r *reader) template(id uint32, b []byte) {
	r.told++
	n := int(be.Uint16(b[2:]))
	name := be.Uint16(b)
	var fields []record.FlowField
	b = b[4:]
	for range n {
		f := record.FlowField{ID: be.Uint16(b), Length: be.Uint16(b[2:])}
		if b = b[4:]; f.ID>>15 != 0 {
			b = b[4:]
		}
		fields = append(fields, f)
	}
	if len(b) > 0 {
		r.t.Fatalf("template %d has %x behind its fields", name, b)
	}
	r.templates[id][name] = fields
}

// flowOf is a record of a packet over three hops with times, of node 7.
func flowOf() *record.Record {
	return &record.Record{
		Exporter: netip.MustParseAddr("192.0.2.1"), Time: 1763776800_123456789, NodeID: 7, Length: 1500, Protocol: 6, DSCP: 46, ECN: 3, TCPFlags: 0x12, VLANs: []uint16{100},
		Source: netip.MustParseAddr("10.0.0.1"), Destination: netip.MustParseAddr("10.1.0.1"), SourcePort: 1024, DestinationPort: 443,
		Known:    record.KnownAddresses | record.KnownPorts | record.KnownTCPFlags | record.KnownHopCount | record.KnownLatency | record.KnownPath | record.KnownMaxHop,
		HopCount: 3, Hops: make([]record.Hop, 3), Links: []record.Link{{LatencyNs: 1000}, {LatencyNs: 2000}}, LatencyNs: 7499, Path: 0xabc, MaxHop: 9,
	}
}

// TestSession: sequence numbers, templates and messages of two domains, by bytes.
func TestSession(t *testing.T) {
	now := time.Unix(1763776800, 0)
	r := newReader(t)
	sizes := []int{}
	s := session{limit: 512, repeat: time.Minute, now: func() time.Time { return now }, write: func(m []byte) error {
		sizes = append(sizes, len(m))
		r.message(m)
		return nil
	}}
	one, six := flowOf(), flowOf()
	six.Source, six.Destination, six.VLANs, six.Links = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2"), nil, nil
	for i := range 20 {
		s.add(uint32(7+i/15), 1, record.AppendFlow(nil, one))
		s.add(uint32(7+i/15), 1, record.AppendFlow(nil, six))
	}
	s.flush()
	if r.next[7] != 30 || r.next[8] != 10 || r.told != 4 {
		t.Errorf("next sequence numbers %v, %d templates", r.next, r.told)
	}
	if slices.Max(sizes) > 512 {
		t.Errorf("messages of %d bytes", sizes)
	}
	want := map[uint16]uint64{
		0: 7, 1: 1500, 2: 1, 4: 6, 5: 46<<2 | 3, 6: 0x12, 7: 1024, 8: 0x0a000001, 11: 443, 12: 0x0a010001, 58: 100, 89: 64, 130: 0xc0000201,
		152: 1763776800123, 153: 1763776800123, 325: (1763776800+2208988800)<<32 | 123456789<<32/1000000000, 530: 10, 531: 10, 532: 10, 533: 10,
	}
	for id, v := range r.flows[0] {
		if want[id] != v {
			t.Errorf("field %d is %d, want %d", id, v, want[id])
		}
	}
	if len(r.flows[0]) != len(want) {
		t.Errorf("%d fields, want %d", len(r.flows[0]), len(want))
	}
	if f := r.flows[1]; f[28] != 2 || f[530] != 0 { // a delay whose links are not known is none
		t.Errorf("IPv6: %v", f)
	}

	for _, after := range []struct {
		wait time.Duration
		told int
	}{{time.Second / 2, 4}, {time.Second / 2, 5}, {time.Second, 5}, {58 * time.Second, 5}, {time.Second, 6}} { // a second after it was new, then each minute
		now = now.Add(after.wait)
		s.add(8, 1, record.AppendFlow(nil, one))
		s.flush()
		if r.told != after.told {
			t.Errorf("%v later: %d templates were told, want %d", after.wait, r.told, after.told)
		}
	}

	s.enterprise = 4711
	one.INTType = inthdr.IFA
	s.add(9, 1, record.AppendFlow(nil, one))
	s.flush()
	if f := r.flows[len(r.flows)-1]; f[1<<15|1] != 3 || f[1<<15|2] != 0xabc || f[1<<15|3] != 7499 || f[1<<15|4] != 9 || f[1<<15|5] != 4 {
		t.Errorf("fields with an enterprise number: %v", f)
	}
}

// TestDomainsAreBounded: whoever makes up nodes has so many domains, in which his own make room for each other: those of other
// exporters go on in sequence, and one that comes later has its own.
func TestDomainsAreBounded(t *testing.T) {
	r := newReader(t)
	s := session{limit: 1400, now: time.Now, write: func(m []byte) error { r.message(m); return nil }}
	flow := record.AppendFlow(nil, flowOf())
	real := func(node uint32) {
		if err := s.add(node, uint16(node), flow); err != nil {
			t.Error(err)
		}
	}
	real(7)
	for i := range uint32(100 * maxDomains) {
		if s.add(i+1000, 1, flow); i > 2*maxDomains && i%maxDomains == 0 { // seldom
			real(7)
			real(8)
		}
	}
	s.flush()
	if len(s.domains) != maxDomains || len(r.flows) != 1+100*maxDomains+2*97 || r.next[7] != 98 || r.next[8] != 97 || len(s.owned) != 3 {
		t.Errorf("%d domains, %d flows, %d and %d of real nodes", len(s.domains), len(r.flows), r.next[7], r.next[8])
	}
}

// TestNoAllocations: neither a record nor a message allocates.
func TestNoAllocations(t *testing.T) {
	s := session{limit: 1400, now: time.Now, write: func([]byte) error { return nil }}
	r, flow := flowOf(), []byte(nil)
	if n := testing.AllocsPerRun(1000, func() {
		flow = record.AppendFlow(flow[:0], r)
		s.add(7, 1, flow)
	}); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}

// collector takes messages over TCP, and keeps the flows of each connection apart.
type tcpCollector struct {
	l     net.Listener
	mu    sync.Mutex
	flows int
	conns []net.Conn
}

func (c *tcpCollector) run(t *testing.T) {
	for {
		conn, err := c.l.Accept()
		if err != nil {
			return
		}
		c.mu.Lock()
		c.conns = append(c.conns, conn)
		c.mu.Unlock()
		r := newReader(t)
		for {
			head := make([]byte, 4)
			if _, err := io.ReadFull(conn, head); err != nil {
				break
			}
			rest := make([]byte, be.Uint16(head[2:])-4)
			if _, err := io.ReadFull(conn, rest); err != nil {
				break
			}
			before := len(r.flows)
			r.message(append(head, rest...))
			c.mu.Lock()
			c.flows += len(r.flows) - before
			c.mu.Unlock()
		}
	}
}

func (c *tcpCollector) have() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flows
}

// TestTCP: a connection that breaks begins a new session, with sequence numbers and templates from the beginning; all arrives.
func TestTCP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &tcpCollector{l: l}
	go c.run(t)
	defer l.Close()
	b := collecttest.New(t, collect.Options{}, 1<<30, New(Config{Address: l.Addr().String(), Network: "tcp", Message: 512}))
	b.Send(50)
	b.Wait("all has arrived", func() bool { return b.C.Snapshot().Outputs[0].Delivered == 100 })
	c.mu.Lock()
	c.conns[0].(*net.TCPConn).SetLinger(0)
	c.conns[0].Close()
	c.mu.Unlock()
	b.Send(50)
	b.Wait("all has arrived over a second connection", func() bool { return b.C.Snapshot().Outputs[0].Delivered == 200 })
	b.Wait("the collector has read it", func() bool { return c.have() >= 200 })
	b.Stop()
}

// TestUDPSocket: routers on the way may cut messages, and the kernel tells what ICMP says.
func TestUDPSocket(t *testing.T) {
	for network, address := range map[string]string{"udp4": "127.0.0.1:4739", "udp6": "[::1]:4739"} {
		o := New(Config{Address: address, Network: "udp", Message: 1400})
		if err := o.connect(); err != nil {
			t.Fatal(err)
		}
		level, mtu, errs := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_RECVERR
		if network == "udp6" {
			level, mtu, errs = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_RECVERR
		}
		o.raw.Control(func(fd uintptr) {
			discovers, err := unix.GetsockoptInt(int(fd), level, mtu)
			told, err2 := unix.GetsockoptInt(int(fd), level, errs)
			if err != nil || err2 != nil || discovers != 0 || told != 1 {
				t.Errorf("%s: path MTU discovery %d, errors %d, %v, %v", network, discovers, told, err, err2)
			}
		})
		o.Close()
	}
}

// TestUDPRefused: while nobody listens on the port, nothing counts as delivered; it arrives when somebody does.
func TestUDPRefused(t *testing.T) {
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.LocalAddr().String()
	l.Close()
	b := collecttest.New(t, collect.Options{}, 1<<30, New(Config{Address: address, Network: "udp", Message: 1400, Repeat: time.Minute}))
	b.Send(10)
	b.Wait("the host has refused it", func() bool { return b.C.Snapshot().Outputs[0].Retried > 0 })
	if n := b.C.Snapshot().Outputs[0].Delivered; n != 0 {
		t.Errorf("%d records are delivered to nobody", n)
	}
	if l, err = net.ListenPacket("udp", address); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := newReader(t)
	m := make([]byte, 65535)
	for len(r.flows) < 20 {
		l.SetReadDeadline(time.Now().Add(time.Minute))
		n, _, err := l.ReadFrom(m)
		if err != nil {
			t.Fatal(err)
		}
		r.message(m[:n])
	}
	b.Wait("it counts as delivered", func() bool { return b.C.Snapshot().Outputs[0].Delivered == 20 })
	b.Stop()
}

// TestTLS: messages over TLS arrive as over TCP, also after the session was broken. A collector that does not take this side's certificate,
// or shows one that this side does not take, gets nothing counted as delivered, and what is wrong is said.
func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(web.Certificate())
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	var asks atomic.Int32 // tls.ClientAuthType
	l := tls.NewListener(plain, &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: web.TLS.Certificates, ClientAuth: tls.ClientAuthType(asks.Load())}, nil
	}})
	c := &tcpCollector{l: l}
	go c.run(t)
	address := plain.Addr().String()
	for _, wrong := range []struct {
		asks  tls.ClientAuthType
		roots *x509.CertPool
		want  string
	}{{tls.RequireAnyClientCert, trusted, "certificate required"}, {tls.NoClientCert, x509.NewCertPool(), "unknown authority"}} {
		asks.Store(int32(wrong.asks))
		o := New(Config{Address: address, Network: "tcp", Message: 512, TLS: &tls.Config{RootCAs: wrong.roots}})
		b := collecttest.New(t, collect.Options{}, 1<<30, o)
		b.Send(5)
		b.Wait("it is said", func() bool { return o.Away() != nil && strings.Contains(o.Away().Error(), wrong.want) })
		if n := b.C.Snapshot().Outputs[0].Delivered; n != 0 {
			t.Errorf("%s: %d records are delivered", wrong.want, n)
		}
		b.Stop()
	}
	asks.Store(int32(tls.NoClientCert))
	if c.have() != 0 {
		t.Fatalf("%d flows", c.have())
	}
	b := collecttest.New(t, collect.Options{}, 1<<30, New(Config{Address: address, Network: "tcp", Message: 512, TLS: &tls.Config{RootCAs: trusted}}))
	b.Send(50)
	b.Wait("all has arrived", func() bool { return b.C.Snapshot().Outputs[0].Delivered == 100 })
	c.mu.Lock()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.mu.Unlock()
	b.Send(50)
	b.Wait("all has arrived over another session", func() bool { return b.C.Snapshot().Outputs[0].Delivered == 200 })
	b.Wait("the collector has read it", func() bool { return c.have() >= 200 })
	b.Stop()
}
