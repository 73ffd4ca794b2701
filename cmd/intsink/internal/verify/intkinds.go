// The table of the kinds of INT that verify tries: markings, versions, tunnels, header types, hops.

package verify

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"

	"intsink/conf"
	"intsink/engine/wire/intgen"
)

// kind is one way in which packets carry INT.
type kind struct {
	name, format string         // "udp", "2.1"
	version      string         // as in versions of the block int
	config       string         // of the block int of the sink that reads it
	source       intgen.Source  // writes the INT; a variant adds types and hops
	around       *intgen.Tunnel // the packet is put into this tunnel first, unless it comes in one, and INT into its headers; nil: none is needed
	outside      *intgen.Tunnel // the packet with its INT is put into this tunnel last
	chains       bool           // a Destination header may follow the MD header
	maxHops      int            // most hops that fit; 0: any number

	reads func(*conf.INT) bool // whether a sink with that block reads telemetry that is not INT; nil: it is INT
}

const probeMarker = 0x0102030405060708

// formats are the versions that a source can write.
var formats = []struct {
	name   string
	format intgen.Format
	number string // in the configuration
}{{"2.1", intgen.Format2, "2"}, {"1.0", intgen.Format1, "1"}, {"2016", intgen.Format2016, "0"}}

// kinds returns all kinds. r chooses the random fields of tunnels.
func kinds(r *rand.Rand) (all []kind) {
	udp := kind{name: "udp", config: "udp_port = 5000", source: intgen.Source{Marking: intgen.ByPort, UDPPort: 5000}, chains: true}
	newUDP := kind{name: "udp-new", config: udp.config, source: intgen.Source{Marking: intgen.ByNewUDP, UDPPort: 5000}, chains: true}
	dscp := kind{name: "dscp", config: "dscp = { value = 23, mask = 63 }", source: intgen.Source{Marking: intgen.ByDSCP, DSCP: 23, Mask: 63}}
	before := dscp
	before.name, before.config, before.source.BeforeOptions = "dscp-before-options", dscp.config+"\n  tcp_options = \"before\"", true
	probe := kind{name: "probe", config: `probe_marker = "0x0102030405060708"`, source: intgen.Source{Marking: intgen.ByProbeMarker, ProbeMarker: probeMarker}}
	gre := kind{name: "gre", config: "gre_protocol = 34998", source: intgen.Source{Marking: intgen.ByGRE}, around: tunnel(r, intgen.OverGRE), chains: true}
	inserted := kind{name: "gre-inserted", config: gre.config, source: insertedGRE(r), chains: true}
	ethernet := inserted
	ethernet.name, ethernet.source.GREEthernet = "gre-inserted-ethernet", true
	gpe := kind{name: "vxlan-gpe", config: "vxlan_gpe = {}", source: intgen.Source{Marking: intgen.ByVXLANGPE}, around: tunnel(r, intgen.VXLANGPE), chains: true}
	vxlan := kind{name: "vxlan", config: gpe.config, source: intgen.Source{Marking: intgen.ByVXLANGPE, FromVXLAN: true}, around: tunnel(r, intgen.VXLAN), chains: true}
	geneve := kind{name: "geneve", config: "geneve = {}", source: intgen.Source{Marking: intgen.ByGeneve}, around: tunnel(r, intgen.Geneve), chains: true, maxHops: 5}
	last := geneve
	last.name, last.source.GeneveLast = "geneve-last-option", true
	for _, k := range []kind{udp, newUDP, dscp, before, probe, gre, inserted, ethernet, gpe, vxlan, geneve, last} {
		all = append(all, k.in(0))
	}
	for _, k := range []kind{dscp, probe, gpe, geneve} {
		all = append(all, k.in(1))
	}
	for _, k := range []kind{gpe, geneve} {
		all = append(all, k.in(2))
	}
	for _, k := range []kind{udp, dscp} {
		for i, encap := range []intgen.Encap{intgen.VXLAN, intgen.Geneve, intgen.OverGRE, intgen.IPIP} {
			inside := k.in(0)
			inside.name, inside.outside = k.name+"-inside-"+[]string{"vxlan", "geneve", "gre", "ipip"}[i], tunnel(r, encap)
			all = append(all, inside)
		}
	}
	return append(all, foreignKinds...)
}

// readBy reports whether a sink with this block int reads the kind: whatever port or value marks it there.
func (k *kind) readBy(c *conf.INT) bool {
	if k.reads != nil {
		return k.reads(c)
	}
	if !slices.Contains(c.Versions, k.version) {
		return false
	}
	switch k.source.Marking {
	case intgen.ByPort, intgen.ByNewUDP:
		return c.UDPPort != nil
	case intgen.ByDSCP:
		return len(c.DSCP) > 0 && k.source.BeforeOptions == (c.TCPOptions == conf.INTBeforeOptions)
	case intgen.ByProbeMarker:
		return c.ProbeMarker != nil
	case intgen.ByGRE:
		return c.GREProtocol != nil
	case intgen.ByVXLANGPE:
		return c.VXLANGPE != nil
	}
	return c.Geneve != nil
}

// in returns k in one of the formats.
func (k kind) in(format int) kind {
	f := formats[format]
	k.format, k.version, k.source.Format = f.name, f.number, f.format
	k.config += "\n  versions = [\"" + f.number + "\"]"
	k.chains = k.chains && format == 0
	return k
}

func tunnel(r *rand.Rand, e intgen.Encap) *intgen.Tunnel {
	t := &intgen.Tunnel{
		Encap: e, SrcMAC: [6]byte{2, 0, 0, 0, 0, 3}, DstMAC: [6]byte{2, 0, 0, 0, 0, 4}, VNI: r.Uint32N(1 << 24),
		Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2"), SrcPort: 49152, Ethernet: e != intgen.OverGRE, Checksum: r.IntN(2) == 0,
	}
	if r.IntN(2) == 0 {
		t.Src, t.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	}
	return t
}

// insertedGRE returns a source that makes a GRE tunnel of its own (G = 1).
func insertedGRE(r *rand.Rand) intgen.Source {
	return intgen.Source{
		Marking: intgen.ByGRE, GREInserted: true, GREChecksum: r.IntN(2) == 0, GREKey: r.IntN(2) == 0, GRESequence: r.IntN(2) == 0,
		OuterSrc: netip.MustParseAddr("192.0.2.1"), OuterDst: netip.MustParseAddr("192.0.2.2"),
	}
}

// variant is a header type with a number of hops. Packets of one kind differ in it.
type variant struct {
	kind        string // of header: "md", "mx", "destination", "md+destination"
	hops        int
	instruction uint16
}

// allInstructions asks for all metadata except the checksum complement and reserved bits.
const allInstructions = 0xff80

// variants returns the header types and hop counts that k is tried with.
func (k *kind) variants() (all []variant) {
	for _, hops := range []int{0, 1, 3, 8} {
		if k.maxHops == 0 || hops <= k.maxHops {
			all = append(all, variant{"md", hops, intgen.DefaultBitmap})
		}
	}
	if k.reads != nil {
		return all
	}
	if k.format != "2.1" {
		return append(all, variant{"destination", 0, 0})
	}
	all = append(all, variant{"md", 1, allInstructions}, variant{"mx", 0, intgen.DefaultBitmap}, variant{"destination", 0, 0})
	if k.chains {
		all = append(all, variant{"md+destination", 2, intgen.DefaultBitmap})
	}
	return all
}

// original returns a frame that k's INT can be put into: a frame of the capture as it is, or in
// a tunnel if k needs one.
func (k *kind) original(frame []byte) ([]byte, error) {
	if k.around == nil {
		return frame, nil
	}
	s := k.sourceOf(variant{kind: "md"})
	if _, err := s.Insert(frame, nil); err == nil {
		return frame, nil // the packet comes in such a tunnel
	}
	return k.around.Wrap(frame)
}

func (k *kind) sourceOf(v variant) *intgen.Source {
	s := k.source
	s.Bitmap, s.MaxHops, s.DestinationWords = v.instruction, v.hops+4, 2
	switch v.kind {
	case "mx":
		s.Type = intgen.TypeMX
	case "destination":
		s.Type = intgen.TypeDestination
	case "md+destination":
		s.Type, s.ThenDestination = intgen.TypeMD, true
	default:
		s.Type = intgen.TypeMD
	}
	return &s
}

// marked returns the original with INT of variant v, and the frame that the sink must give back.
func (k *kind) marked(original []byte, v variant, r *rand.Rand) (marked, want []byte, err error) {
	hops := make([]intgen.Hop, v.hops)
	for i := range hops {
		hops[i] = intgen.Hop{
			NodeID: r.Uint32(), Ingress: uint16(r.Uint32()), Egress: uint16(r.Uint32()), LatencyNs: r.Uint32(), QueueID: uint8(r.Uint32()),
			QueueOccupancy: r.Uint32() & 0xffffff, IngressTimestamp: r.Uint64(), EgressTimestamp: r.Uint64(), TxUtilization: r.Uint32(),
		}
	}
	if marked, err = k.sourceOf(v).Insert(original, hops); err != nil || k.outside == nil {
		return marked, original, err
	}
	if marked, err = k.outside.Wrap(marked); err != nil {
		return nil, nil, err
	}
	want, err = k.outside.Wrap(original)
	return marked, want, err
}

// whyNot returns a text for people that says why INT of a kind cannot be put into a packet.
func whyNot(err error) string {
	switch {
	case errors.Is(err, intgen.ErrProto):
		return "the packet has no header that this kind of INT goes into"
	case errors.Is(err, intgen.ErrLength):
		return "it would be too long with its INT"
	case errors.Is(err, intgen.ErrPadding):
		return "its options are padded otherwise than as little as can be, which no sink restores"
	case errors.Is(err, intgen.ErrNotIP):
		return "its headers are cut, or of kinds that the source of INT does not know"
	case errors.Is(err, intgen.ErrChain), errors.Is(err, intgen.ErrFormat):
		return "this kind has no such header"
	}
	return err.Error()
}
