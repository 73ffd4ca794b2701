// Package traffic makes the INT traffic that the benchmarks measure: what
// bench/cmd/compare writes into captures and bench/cmd/instructions feeds a worker. It
// is built with engine/intgen, so the original of each frame is known.
package traffic

import (
	"fmt"
	"math/rand/v2"
	"net/netip"

	"intsink/engine/intgen"
)

// Encap is where INT stands.
type Encap string

const (
	UDP      Encap = "udp"       // behind UDP's header, told by its destination port (NPT 1)
	NPT2     Encap = "npt2"      // behind a UDP header of its own (NPT 2)
	DSCP     Encap = "dscp"      // behind the original L4 header, told by DSCP
	GRE      Encap = "gre"       // behind GRE's header
	VXLANGPE Encap = "vxlan-gpe" // behind VXLAN-GPE's header
	Geneve   Encap = "geneve"    // in a Geneve option
)

// What marks INT in these frames; a configuration of the sink says the same.
const (
	UDPPort           = 5000
	DSCPValue         = 23
	GREProtocol       = 0x88b6
	GPEPort           = 4790
	GPENextProtocol   = 0x82
	GenevePort        = 6081
	GeneveOptionClass = 0x0103
)

// Spec describes traffic. It is comparable: equal specs make equal frames.
type Spec struct {
	Encap  Encap
	TCP    bool // the original is TCP, else UDP
	IPv6   bool
	Flows  int
	Frames int // of the whole capture; flows take turns
	Hops   int // 20 bytes each
	Size   int // of each frame; headers and INT alone may need more
}

// Reference is the input of the headline ratio: INT-MD over UDP, three hops.
func Reference() Spec {
	return Spec{Encap: UDP, Flows: 1000, Frames: 1000, Hops: 3, Size: 138}
}

// Maker makes the frames of a Spec, in order.
type Maker struct {
	spec    Spec
	source  intgen.Source
	tunnel  *intgen.Tunnel
	payload int
	random  *rand.Rand
	hops    []intgen.Hop
}

// New finds the payload that makes frames as long as asked, or the shortest.
func New(s Spec) (*Maker, error) {
	if s.Flows < 1 || s.Flows > 1<<24 || s.Frames < 1 || s.Hops < 1 || s.Hops > 12 {
		return nil, fmt.Errorf("traffic: %+v: flows 1 to 16777216, frames at least 1, hops 1 to 12", s)
	}
	m := &Maker{
		spec: s, random: rand.New(rand.NewPCG(1, 0)), hops: make([]intgen.Hop, s.Hops),
		source: intgen.Source{
			UDPPort: UDPPort, DSCP: DSCPValue, Mask: 0x3f, GREProtocol: GREProtocol,
			Bitmap: intgen.DefaultBitmap, MaxHops: 12 + s.Hops,
		},
	}
	if err := m.encapsulate(); err != nil {
		return nil, err
	}
	_, empty, err := m.Frame(0)
	if err != nil {
		return nil, err
	}
	m.payload = max(0, s.Size-len(empty))
	m.random = rand.New(rand.NewPCG(1, 0))
	return m, nil
}

func (m *Maker) encapsulate() error {
	tunnel := func(e intgen.Encap) {
		m.tunnel = &intgen.Tunnel{
			Encap: e, SrcMAC: intgen.SourceMAC, DstMAC: intgen.DestinationMAC, VNI: 7, Ethernet: e != intgen.OverGRE,
			Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("198.51.100.1"),
		}
	}
	switch m.spec.Encap {
	case UDP:
		m.source.Marking = intgen.ByPort
	case NPT2:
		m.source.Marking = intgen.ByNewUDP
	case DSCP:
		m.source.Marking = intgen.ByDSCP
	case GRE:
		m.source.Marking = intgen.ByGRE
		tunnel(intgen.OverGRE)
	case VXLANGPE:
		m.source.Marking = intgen.ByVXLANGPE
		tunnel(intgen.VXLANGPE)
	case Geneve:
		m.source.Marking = intgen.ByGeneve
		tunnel(intgen.Geneve)
	default:
		return fmt.Errorf("traffic: no encapsulation %q", m.spec.Encap)
	}
	return nil
}

// Frame is the i-th frame, and the original that a sink must give back. Calls are
// in order, from 0.
func (m *Maker) Frame(i int) (original, frame []byte, err error) {
	original = intgen.NthFlow(i%m.spec.Flows, m.spec.TCP, m.spec.IPv6).Frame(m.payload, uint32(i))
	if m.tunnel != nil {
		if original, err = m.tunnel.Wrap(original); err != nil {
			return nil, nil, err
		}
	}
	for h := range m.hops {
		// Jitter stays below what any event calls a change. The newest hop is first.
		m.hops[h] = intgen.Hop{
			NodeID: uint32(100 + len(m.hops) - h), Ingress: 1, Egress: 2,
			LatencyNs: uint32(10_000 + m.random.IntN(2000)),
			QueueID:   1, QueueOccupancy: uint32(m.random.IntN(100)), TxUtilization: 20,
		}
	}
	frame, err = m.source.Insert(original, m.hops)
	return original, frame, err
}
