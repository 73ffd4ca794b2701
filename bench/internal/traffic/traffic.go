// Package traffic makes the INT traffic that the benchmarks measure: what
// bench/cmd/compare writes into captures and bench/cmd/instructions feeds a worker. It
// is built with engine/wire/intgen, so the original of each frame is known.
package traffic

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"intsink/engine/wire/intgen"
	"intsink/internal/checksum"
)

// Encap is where INT stands.
type Encap string

const (
	UDP      Encap = "udp"       // behind UDP's header, told by its destination port (NPT 1)
	NPT2     Encap = "npt2"      // behind a UDP header of its own (NPT 2)
	DSCP     Encap = "dscp"      // behind the original L4 header, told by DSCP
	Probe    Encap = "probe"     // behind the original L4 header and a probe marker
	GRE      Encap = "gre"       // behind GRE's header
	VXLANGPE Encap = "vxlan-gpe" // behind VXLAN-GPE's header
	Geneve   Encap = "geneve"    // in a Geneve option
)

// What marks INT in these frames; a configuration of the sink says the same.
const (
	UDPPort           = 5000
	DSCPValue         = 23
	ProbeMarker       = 0x0123456789abcdef
	GREProtocol       = 0x88b6
	GPEPort           = 4790
	GPENextProtocol   = 0x82
	GenevePort        = 6081
	GeneveOptionClass = 0x0103
)

// Headers are those of a frame, INT's place among them.
type Headers struct {
	Encap Encap
	TCP   bool // the original is TCP, else UDP
	IPv6  bool
	Tags  int // VLAN tags: 0, 1 or 2 (QinQ)
}

// Spec describes traffic. It is comparable: equal specs make equal frames.
type Spec struct {
	Headers
	// Mix is how many entries of Mixed flows draw their headers from, at random; 0: all
	// have those above.
	Mix     int
	WithIFA bool // half of the flows, drawn at random, have IFA in place of INT
	Flows   int
	Frames  int  // of the whole capture; flows take turns
	Hops    int  // 20 bytes each, 36 with Stamps
	Stamps  bool // hops carry both timestamps
	Busy    int  // of so many flows one leaves the last hop by an interface with TxUtilization BusyTx; 0: none
	Size    int  // of each frame; headers and INT alone may need more

	Numbers bool   // the source numbers the packets of each flow: DomainID, in 4 bytes
	MX      bool   // INT-MX: no hop adds metadata
	Bitmap  uint16 // of all packets; 0: intgen.DefaultBitmap
	Bitmaps bool   // flows have one of two bitmaps at random, whose hops are of the same length
	Full    bool   // the queue of the last hop is as full, and packets wait in it for as long, as in an episode
	Queues  int    // how many queues the hops of all flows are spread over, each as full; 0: each hop has one queue
	Marked  bool   // a queue has marked all packets (ECN: CE)
	Noisy   int    // of so many packets one has a latency beyond every deadband; 0: none

	Format intgen.Format // of INT

	// Random is how many kinds of headers there are in place of those above, any that
	// intgen.Random makes, each of one flow, half of them without INT. Hops is how many a
	// packet has at most, Size does not count. 0: none.
	Random int
}

// DomainID is of the domain whose instruction 0 is a sequence number of 4 bytes that the source
// inserts.
const DomainID = 0x1234

// otherBitmap has the buffer in place of the utilization of intgen.DefaultBitmap.
const otherBitmap = intgen.DefaultBitmap&^0x0100 | 0x0080

// noise is how much longer a Noisy packet waits in its last hop.
const noise = 60_000

// fullQueue is how much longer packets wait in a Full queue, above the floor of thresholds by what is usual, and fullOccupancy how much
// more of it is taken.
const (
	fullQueue     = 300_000
	fullOccupancy = 5_000
)

// TxUtilization of interfaces.
const (
	CalmTx = 20
	BusyTx = 95
)

// Mixed are the headers of mixed traffic, the usual ones first.
var Mixed = [...]Headers{
	{Encap: DSCP},
	{Encap: DSCP, TCP: true},
	{Encap: DSCP, IPv6: true},
	{Encap: DSCP, Tags: 1},
	{Encap: DSCP, TCP: true, IPv6: true},
	{Encap: DSCP, TCP: true, Tags: 2},
	{Encap: NPT2, TCP: true},
	{Encap: Probe},
}

// Reference returns the input of the headline ratio: INT-MD over UDP, three hops.
func Reference() Spec {
	return Spec{Headers: Headers{Encap: UDP}, Flows: 1000, Frames: 1000, Hops: 3, Size: 138}
}

// Maker makes the frames of a Spec, in order.
type Maker struct {
	spec   Spec
	shapes []shape // one or, of mixed traffic, as many as Mix; two WithIFA
	kinds  []kind  // in place of shapes
	random *rand.Rand
	hops   []intgen.Hop
}

// New finds the payloads that make frames as long as asked, or the shortest.
func New(s Spec) (*Maker, error) {
	if s.Flows < 1 || s.Flows > 1<<24 || s.Frames < 1 || s.Hops < 1 || s.Hops > 16 {
		return nil, fmt.Errorf("traffic: %+v: flows 1 to 16777216, frames at least 1, hops 1 to 16", s)
	}
	if s.Mix < 0 || s.Mix > len(Mixed) {
		return nil, fmt.Errorf("traffic: %+v: a mix of 0 to %d headers", s, len(Mixed))
	}
	m := &Maker{spec: s, random: rand.New(rand.NewPCG(1, 0)), hops: make([]intgen.Hop, s.Hops)}
	if s.Random > 0 {
		m.kinds = randomKinds(m.random, s.Random, s.Hops)
		return m, nil
	}
	headers := Mixed[:s.Mix]
	switch {
	case s.WithIFA:
		headers = []Headers{s.Headers, {Encap: IFA, TCP: s.TCP, IPv6: s.IPv6, Tags: s.Tags}}
	case s.Mix == 0:
		headers = []Headers{s.Headers}
	}
	for _, h := range headers {
		sh, err := newShape(h, &s)
		if err != nil {
			return nil, err
		}
		m.fillHops(0, 0)
		if err := sh.pad(m.hops, s.Size); err != nil {
			return nil, err
		}
		m.shapes = append(m.shapes, sh)
	}
	m.random = rand.New(rand.NewPCG(1, 0))
	return m, nil
}

// Frame returns the i-th frame, and the original that a sink must give back. Calls are in order,
// from 0.
func (m *Maker) Frame(i int) (original, frame []byte, err error) {
	if m.kinds != nil {
		k := &m.kinds[m.random.IntN(len(m.kinds))]
		return k.original, k.frame, nil
	}
	flow := i % m.spec.Flows
	sh := &m.shapes[0]
	if n := uint64(len(m.shapes)); n > 1 {
		sh = &m.shapes[rand.NewPCG(uint64(flow), 1).Uint64()%n]
	}
	m.fillHops(i, flow)
	if m.spec.Noisy > 0 && (i/m.spec.Flows+flow)%m.spec.Noisy == 0 {
		m.hops[0].LatencyNs += noise
	}
	if m.spec.Numbers {
		sh.source.SourceOnly = binary.BigEndian.AppendUint32(nil, uint32(i/m.spec.Flows))
	}
	if m.spec.Bitmaps {
		sh.source.Bitmap = [...]uint16{intgen.DefaultBitmap, otherBitmap}[rand.NewPCG(uint64(flow), 1).Uint64()%2]
	}
	hops := m.hops
	if m.spec.MX {
		hops = nil
	}
	if original, frame, err = sh.frame(flow, i, hops); m.spec.Marked && err == nil {
		mark(original[ethernetLen:])
		mark(frame[ethernetLen:])
	}
	return original, frame, err
}

const ethernetLen = 14

// mark makes an IPv4 packet one that a queue has marked (ECN: CE).
func mark(ip []byte) {
	ip[1] |= 3
	ip[10], ip[11] = 0, 0
	binary.BigEndian.PutUint16(ip[10:], ^checksum.Sum(ip[:20]))
}

// fillHops sets what the hops of the i-th frame say. Jitter stays below what any
// event calls a change. The newest hop is first.
func (m *Maker) fillHops(i, flow int) {
	// The source's clock; timestamps are of use between hops only, as captures are
	// played again and again.
	at := uint64(1_700_000_000e9) + uint64(i)*1000
	for h := len(m.hops) - 1; h >= 0; h-- {
		latency := uint32(10_000 + m.random.IntN(2000))
		hop := intgen.Hop{
			NodeID: uint32(100 + len(m.hops) - h), Ingress: 1, Egress: 2, LatencyNs: latency,
			QueueID: 1, QueueOccupancy: uint32(m.random.IntN(100)), TxUtilization: CalmTx,
		}
		if m.spec.Stamps {
			hop.IngressTimestamp, hop.EgressTimestamp = at, at+uint64(latency)
			at = hop.EgressTimestamp + 5000 + uint64(i%7)*100
		}
		if n := m.spec.Queues; n > 0 {
			at := (flow*len(m.hops) + h) % n
			hop.Egress, hop.QueueID = uint16(2+at/8), uint8(at%8)
		}
		if m.spec.Full && (h == 0 || m.spec.Queues > 0) {
			hop.LatencyNs += fullQueue
			hop.QueueOccupancy += fullOccupancy
		}
		if h == 0 && m.spec.Busy > 0 && flow%m.spec.Busy == 0 {
			hop.Egress, hop.TxUtilization = 3, BusyTx
		}
		m.hops[h] = hop
	}
}
