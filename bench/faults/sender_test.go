//go:build engines

package faults

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/engine/wire/report"
)

const (
	perPacket = 8 // reports in a packet
	sinks     = 4 // sinks, with the addresses 127.0.0.2 and up
	workers   = 2
	streams   = sinks * workers
	innerLen  = 20 + 8 + 4 + 12 + 8 // length of the packet in a report: IPv4, UDP, shim, INT-MD, one hop

	firstNumber = 1<<22 - 5000 // first number of each stream: its 22 bits wrap soon
)

// sender sends report packets at a rate. Packet n belongs to stream n % streams and has number
// n / streams there.
type sender struct {
	t      testing.TB
	to     netip.AddrPort
	conns  [sinks]*net.UDPConn
	stray  *net.UDPConn // sends from an address that is not allowed
	rate   atomic.Int64 // reports a second
	limit  atomic.Int64 // run waits when so many packets are sent
	pause  sync.Mutex   // held while nothing must be sent
	sent   atomic.Int64 // packets sent so far
	others [numOthers]atomic.Int64
	stop   chan struct{}
	done   chan struct{}
}

// Kinds of datagrams that are sent besides report packets of the streams.
const (
	garbage = iota // no report packet
	cut            // a report packet of another node that ends early
	spoofed        // a report packet of a stream from an address that is not allowed
	numOthers
)

// cutNode is the node of report packets that end early.
const cutNode = 99

func newSender(t testing.TB, to string, rate int) *sender {
	t.Helper()
	s := &sender{t: t, to: netip.MustParseAddrPort(to), stop: make(chan struct{}), done: make(chan struct{})}
	s.rate.Store(int64(rate))
	for i := range s.conns {
		s.conns[i] = bind(t, byte(2+i))
	}
	s.stray = bind(t, 66)
	return s
}

func bind(t testing.TB, last byte) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, last)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// template returns a report packet of eight reports, each with one hop.
func template(t testing.TB) []byte {
	inner := []byte{
		0x45, 0, 0, 48, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 1, 0, 1,
		0x9c, 0x40, 0x13, 0x88, 0, 28, 0, 0,
		0x14, 4, 0, 53, // INT-MD, four words; the port was 53
		0x20, 0, 2, 7, 0xa0, 0, 0, 0, 0, 0, 0, 0, // two words a hop: node id and latency
		0, 0, 0, 42, 0, 0, 4, 0,
	}
	inner[3], inner[25], inner[29] = innerLen, innerLen-20, 5
	var p report.Packet
	p.Open(make([]byte, 1400))
	for range perPacket {
		if !p.Append(&report.Individual{RepType: report.INT, InType: report.IPv4, TrackedFlow: true, RepMdBits: report.MdInterfaces, Metadata: []byte{0, 1, 0, 2}, Inner: inner}) {
			t.Fatal("a report does not fit")
		}
	}
	return append([]byte(nil), p.Seal(report.GroupHeader{})...)
}

// run sends until stop is closed.
func (s *sender) run() {
	defer close(s.done)
	p := template(s.t)
	size := (len(p) - report.GroupHeaderLen) / perPacket
	r := rand.New(rand.NewPCG(1, 2))
	began, before, rate := time.Now(), int64(0), int64(0) // the rate is kept from here on
	for {
		select {
		case <-s.stop:
			return
		default:
		}
		s.pause.Lock()
		n := s.sent.Load()
		due := before + int64(time.Since(began).Seconds()*float64(rate)/perPacket)
		if now := s.rate.Load(); now != rate || due-n > rate/perPacket/5 { // another rate, or was held up
			began, before, rate, due = time.Now(), n, now, n
		}
		for ; n < min(due, s.limit.Load()); n++ {
			s.packet(p, size, n)
			s.sent.Store(n + 1)
			if n%50 == 0 {
				s.other(r, p)
			}
		}
		s.pause.Unlock()
		time.Sleep(time.Millisecond)
	}
}

// packet sends packet n.
func (s *sender) packet(p []byte, size int, n int64) {
	stream, number := uint32(n%streams), uint32(n/streams)+firstNumber
	binary.BigEndian.PutUint32(p, 2<<28|stream/sinks<<22|number&0x3fffff)
	binary.BigEndian.PutUint32(p[4:], 1+stream%sinks)
	for i := range perPacket { // the reports are of a thousand flows
		at := report.GroupHeaderLen + (i+1)*size - innerLen
		binary.BigEndian.PutUint16(p[at+20:], 1024+uint16(n)%125*8+uint16(i))
	}
	s.write(s.conns[stream%sinks], p)
}

// write sends one datagram. If nobody listens it is lost.
func (s *sender) write(c *net.UDPConn, p []byte) { c.WriteToUDPAddrPort(p, s.to) }

// other sends a datagram that is no report packet of the streams, of one kind after the other. p
// is a report packet to make it of.
func (s *sender) other(r *rand.Rand, p []byte) {
	switch kind := r.IntN(numOthers); kind {
	case garbage:
		b := make([]byte, r.IntN(64))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		if len(b) > 0 {
			b[0] |= 0xf0 // a version that does not exist
		}
		s.write(s.conns[0], b)
		s.others[kind].Add(1)
	case cut:
		b := append([]byte(nil), p[:8+r.IntN(len(p)-8)]...)
		binary.BigEndian.PutUint32(b[4:], cutNode)
		s.write(s.conns[0], b)
		s.others[kind].Add(1)
	case spoofed:
		s.write(s.stray, p)
		s.others[kind].Add(1)
	}
}

// hold stops sending, until the function that it returns is called.
func (s *sender) hold() (release func()) {
	s.pause.Lock()
	return s.pause.Unlock
}

// end stops sending for good.
func (s *sender) end() {
	close(s.stop)
	<-s.done
}

// all returns how many datagrams were sent.
func (s *sender) all() int64 {
	n := s.sent.Load()
	for i := range s.others {
		n += s.others[i].Load()
	}
	return n
}
