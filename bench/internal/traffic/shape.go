package traffic

import (
	"cmp"
	"fmt"
	"net/netip"

	"intsink/engine/wire/intgen"
)

// VLAN ids of tagged frames.
const (
	ServiceTag  = 200
	CustomerTag = 100
)

// shape makes frames with the same headers.
type shape struct {
	headers Headers
	source  intgen.Source
	tunnel  *intgen.Tunnel // around the original; nil: none
	payload int
}

func newShape(h Headers, s *Spec) (shape, error) {
	sh := shape{headers: h, source: intgen.Source{
		UDPPort: UDPPort, DSCP: DSCPValue, Mask: 0x3f, ProbeMarker: ProbeMarker, GREProtocol: GREProtocol,
		Bitmap: cmp.Or(s.Bitmap, intgen.DefaultBitmap), MaxHops: 12 + s.Hops, Format: s.Format,
	}}
	if s.Stamps {
		sh.source.Bitmap |= 0x0c00
	}
	if s.Numbers {
		sh.source.DomainID, sh.source.DSInstruction, sh.source.SourceOnly = DomainID, 1<<15, make([]byte, 4)
	}
	if s.MX {
		sh.source.Type = intgen.TypeMX
	}
	if h.Tags < 0 || h.Tags > 2 {
		return sh, fmt.Errorf("traffic: %d VLAN tags; 0 to 2", h.Tags)
	}
	return sh, sh.encapsulate()
}

// encapsulate sets where the source puts INT, and the tunnel that it needs for that.
func (sh *shape) encapsulate() error {
	switch sh.headers.Encap {
	case UDP:
		sh.source.Marking = intgen.ByPort
	case NPT2:
		sh.source.Marking = intgen.ByNewUDP
	case DSCP:
		sh.source.Marking = intgen.ByDSCP
	case Probe:
		sh.source.Marking = intgen.ByProbeMarker
	case GRE:
		sh.source.Marking = intgen.ByGRE
		sh.wrap(intgen.OverGRE)
	case VXLANGPE:
		sh.source.Marking = intgen.ByVXLANGPE
		sh.wrap(intgen.VXLANGPE)
	case Geneve:
		sh.source.Marking = intgen.ByGeneve
		sh.wrap(intgen.Geneve)
	default:
		f := formatOf(sh.headers.Encap)
		if f == nil {
			return fmt.Errorf("traffic: no encapsulation %q", sh.headers.Encap)
		}
		sh.source.Marking, sh.source.Formats, sh.source.OuterSrc, sh.source.OuterDst = f.source.Marking, f.source.Formats, f.source.OuterSrc, f.source.OuterDst
	}
	return nil
}

// wrap puts originals into a tunnel, whose outer headers have the tags.
func (sh *shape) wrap(e intgen.Encap) {
	sh.tunnel = &intgen.Tunnel{
		Encap: e, SrcMAC: intgen.SourceMAC, DstMAC: intgen.DestinationMAC, VNI: 7, Ethernet: e != intgen.OverGRE,
		Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("198.51.100.1"),
	}
	sh.tunnel.VLANs = tags(sh.headers.Tags)
}

func tags(n int) []uint16 { return []uint16{ServiceTag, CustomerTag}[2-n:] }

// pad sets the length of the payload so that frames with these hops are size bytes long, or as
// short as they can be.
func (sh *shape) pad(hops []intgen.Hop, size int) error {
	_, empty, err := sh.frame(0, 0, hops)
	sh.payload = max(0, size-len(empty))
	return err
}

// frame returns a packet of a flow, and its original.
func (sh *shape) frame(flow, id int, hops []intgen.Hop) (original, frame []byte, err error) {
	f := intgen.NthFlow(flow, sh.headers.TCP, sh.headers.IPv6)
	if sh.tunnel == nil {
		f.VLANs = tags(sh.headers.Tags)
	}
	original = f.Frame(sh.payload, uint32(id))
	if sh.tunnel != nil {
		if original, err = sh.tunnel.Wrap(original); err != nil {
			return nil, nil, err
		}
	}
	frame, err = sh.source.Insert(original, hops)
	return original, frame, err
}
