// The table of --encap: for each the marking of INT and the tunnel around it; checks flags
// against it, makes the intgen.Source.

package gen

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"intsink/engine/wire/intgen"
)

// Encapsulation is a value of --encap.
type Encapsulation struct {
	Name, Help string
	marking    intgen.Marking
	original   string   // key of tunnels: what the original packets are; "": no tunnel
	inserted   bool     // G = 1: a sink takes off, or changes back, what the source made
	formats    []string // values of --format that have it
	chains     bool     // takes --then-destination
	inTunnel   bool     // takes --tunnel
	outerIPv6  bool     // the header that the source makes is one of IPv6

	check  func(*Flags) error           // what else flags must be; nil: nothing
	source func(*Flags, *intgen.Source) // what else of the source they set; nil: nothing
}

// Encapsulations are the values of --encap.
var Encapsulations = slices.Concat(ofINT, foreignEncapsulations)

var ofINT = []Encapsulation{
	{
		Name: "udp", Help: "INT's UDP port; UDP keeps its header (NPT 1), TCP gets a new one (NPT 2)",
		marking: intgen.ByPort, formats: []string{"2"}, chains: true, inTunnel: true,
	},
	{
		Name: "udp-new", Help: "a new UDP header in front of any L4 header (NPT 2)",
		marking: intgen.ByNewUDP, formats: []string{"2"}, chains: true, inTunnel: true,
	},
	{
		Name: "dscp", Help: "marked by DSCP --dscp, over TCP and UDP",
		marking: intgen.ByDSCP, formats: []string{"2", "1"}, inTunnel: true,
	},
	{
		Name: "probe", Help: "marked by the 64-bit --probe-marker, over TCP and UDP",
		marking: intgen.ByProbeMarker, formats: []string{"2", "1"}, inTunnel: true,
	},
	{
		Name: "gre", Help: "in the GRE tunnel that the original packets are (G = 0)",
		marking: intgen.ByGRE, original: "gre", formats: []string{"2"}, chains: true,
	},
	{
		Name: "gre-inserted", Help: "in a new IP and GRE header around the IP packet (G = 1)",
		marking: intgen.ByGRE, inserted: true, formats: []string{"2"}, chains: true,
	},
	{
		Name: "vxlan-gpe", Help: "in the VXLAN-GPE tunnel that the original packets are (G = 0)",
		marking: intgen.ByVXLANGPE, original: "vxlan-gpe", formats: []string{"2", "1", "2016"}, chains: true,
	},
	{
		Name: "vxlan", Help: "in VXLAN-GPE made of the plain VXLAN that the original packets are (G = 1)",
		marking: intgen.ByVXLANGPE, original: "vxlan", inserted: true, formats: []string{"2"}, chains: true,
	},
	{
		Name: "geneve", Help: "options of the Geneve tunnel that the original packets are; up to 5 hops",
		marking: intgen.ByGeneve, original: "geneve", formats: []string{"2", "1", "2016"}, chains: true,
	},
}

// maxGeneveHops of 20 bytes and the INT-MD header fit the 124 bytes of an option, or
// maxStampedHops of 36 bytes.
const (
	maxGeneveHops  = 5
	maxStampedHops = 3
)

func (f *Flags) maxGeneveHops() int {
	if f.timestamps {
		return maxStampedHops
	}
	return maxGeneveHops
}

// destinationWords is the length of the Destination headers of gen, which no
// specification gives a format.
const destinationWords = 2

var (
	genTypes   = map[string]uint8{"md": intgen.TypeMD, "mx": intgen.TypeMX, "destination": intgen.TypeDestination}
	genFormats = map[string]intgen.Format{"2": intgen.Format2, "1": intgen.Format1, "2016": intgen.Format2016}
)

// encapNames are the values of --encap that ok accepts.
func encapNames(ok func(*Encapsulation) bool) string {
	var names []string
	for i := range Encapsulations {
		if ok(&Encapsulations[i]) {
			names = append(names, Encapsulations[i].Name)
		}
	}
	return orList(names)
}

// EncapNames are the values of --encap.
func EncapNames() (names []string) {
	for i := range Encapsulations {
		names = append(names, Encapsulations[i].Name)
	}
	return names
}

func anyEncap(*Encapsulation) bool { return true }

// orList is "a, b or c".
func orList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// EncapHelp is a line for each value of --encap.
func EncapHelp() string {
	var b strings.Builder
	for i := range Encapsulations {
		fmt.Fprintf(&b, "\n  %-12s %s", Encapsulations[i].Name, Encapsulations[i].Help)
	}
	return b.String()
}

func (f *Flags) encapsulation() (*Encapsulation, error) {
	for i := range Encapsulations {
		if Encapsulations[i].Name == strings.ToLower(f.encap) {
			return &Encapsulations[i], nil
		}
	}
	return nil, fmt.Errorf("--encap %q: must be %s", f.encap, encapNames(anyEncap))
}

// checkINT checks the flags that say how INT stands in the packets, each alone and
// with the others.
func (f *Flags) checkINT() error {
	e, err := f.encapsulation()
	if err != nil {
		return err
	}
	if err := f.checkType(e); err != nil {
		return err
	}
	format := func(x *Encapsulation) bool { return slices.Contains(x.formats, f.format) }
	switch _, known := genFormats[f.format]; {
	case !known:
		return fmt.Errorf("--format %q: must be 2, 1 or 2016", f.format)
	case !format(e):
		return fmt.Errorf("--format %s does not have --encap %s: use --encap %s", f.format, e.Name, encapNames(format))
	case f.format != "2" && f.kind == "mx":
		return fmt.Errorf("--type mx came with INT 2: leave --format %s out", f.format)
	case e.marking == intgen.ByGeneve && f.hops > f.maxGeneveHops():
		return fmt.Errorf("--hops %d with --encap geneve: must be 0 to %d, an option holds no more", f.hops, f.maxGeneveHops())
	}
	if e.check != nil {
		if err := e.check(f); err != nil {
			return err
		}
	}
	return f.checkTunnel(e)
}

func (f *Flags) checkType(e *Encapsulation) error {
	chains := func(x *Encapsulation) bool { return x.chains }
	_, known := genTypes[f.kind]
	switch {
	case !known:
		return fmt.Errorf("--type %q: must be md, mx or destination", f.kind)
	case f.kind != "md" && e.marking.Foreign():
		return fmt.Errorf("--type %s is one of INT: --encap %s has none", f.kind, e.Name)
	case f.kind != "md" && f.Given("hops"):
		return fmt.Errorf("--hops needs --type md: headers of type %s carry no metadata of hops", f.kind)
	case f.kind != "md" && (f.pathEvery|f.stepEvery != 0 || f.latencyStepAfter+f.pathChangeAfter != ""):
		return fmt.Errorf("path changes and latency steps need --type md: headers of type %s carry no metadata of hops", f.kind)
	case !f.thenDestination:
		return nil
	case f.kind == "destination":
		return errors.New("--then-destination needs --type md or mx: with --type destination there is one already")
	case !e.chains:
		return fmt.Errorf("--then-destination cannot follow with --encap %s: use --encap %s", e.Name, encapNames(chains))
	}
	return nil
}

func (f *Flags) checkTunnel(e *Encapsulation) error {
	ports := map[string]uint16{"vxlan": 4789, "geneve": 6081}
	inTunnel := func(x *Encapsulation) bool { return x.inTunnel }
	_, known := tunnels[f.tunnel]
	switch {
	case f.tunnel == "none":
		return nil
	case !known || f.tunnel == "vxlan-gpe":
		return fmt.Errorf("--tunnel %q: must be none, vxlan, gre, geneve or ipip", f.tunnel)
	case f.live != "":
		return errors.New("--tunnel needs --out: live packets come in tunnels of their own, or in none")
	case !e.inTunnel:
		return fmt.Errorf("--tunnel is for INT inside of a tunnel that knows nothing of it: use --encap %s, or leave it out", encapNames(inTunnel))
	case e.marking <= intgen.ByNewUDP && f.udpPort == ports[f.tunnel]:
		return fmt.Errorf("--udp-port %d is that of --tunnel %s: use another", f.udpPort, f.tunnel)
	}
	return nil
}

// source is the INT source that the flags describe; check has seen them.
func (f *Flags) source() (*intgen.Source, error) {
	e, err := f.encapsulation()
	if err != nil {
		return nil, err
	}
	s := &intgen.Source{
		Marking: e.marking, Format: genFormats[f.format],
		UDPPort: f.udpPort, DSCP: f.dscp, Mask: 0x3f, ProbeMarker: f.marker,
		Type: genTypes[f.kind], ThenDestination: f.thenDestination, DestinationWords: destinationWords,
		Bitmap: f.bitmap(), MaxHops: 12 + f.hops,
		GREInserted: e.marking == intgen.ByGRE && e.inserted,
		FromVXLAN:   e.marking == intgen.ByVXLANGPE && e.inserted,
	}
	if e.source != nil {
		e.source(f, s)
	}
	s.OuterSrc, s.OuterDst = tunnelAddrs(0, f.ipv6 || e.outerIPv6)
	return s, nil
}
