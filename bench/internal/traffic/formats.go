package traffic

import (
	"net/netip"

	"intsink/engine/wire/ifa"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
)

// Format is telemetry that is not INT, which a row of each benchmark is about.
type Format struct {
	Headers
	Title  string
	Block  string         // of the sink's configuration, in int
	Parser inthdr.Formats // the same
	source intgen.Source  // what else it is than that of INT
}

// Encapsulations that are not INT.
const (
	IFA        Encap = "ifa"         // by the protocol of IP, with hops of 32 bytes
	IOAM       Encap = "ioam"        // a pre-allocated trace in hop-by-hop options of IPv6, with hops of 20 bytes
	IOAMTunnel Encap = "ioam-tunnel" // the same in an IPv6 header around the packet, which ends at the sink
)

var tunnelEnd = netip.MustParseAddr("2001:db8:ffff:1::1")

// Formats are in the order of the rows.
var Formats = []Format{
	{
		Headers: Headers{Encap: IFA}, Title: "IFA", source: intgen.Source{Marking: intgen.ByIFA},
		Block:  "ifa {\n    protocol = 253\n    copies   = \"drop\"\n  }",
		Parser: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, MaxResidence: 1e9}},
	},
	{
		Headers: Headers{Encap: IOAM, IPv6: true}, Title: "IOAM", source: intgen.Source{Marking: intgen.ByIOAM},
		Block:  "ioam {\n    namespace = 123\n  }",
		Parser: inthdr.Formats{IOAM: &ioam.Config{Namespaces: []uint16{123}}},
	},
	{
		Headers: Headers{Encap: IOAMTunnel}, Title: "IOAM in a tunnel that ends here",
		source: intgen.Source{
			Marking: intgen.ByIOAM, Formats: intgen.Formats{IOAM: intgen.IOAM{Tunnel: true}},
			OuterSrc: netip.MustParseAddr("2001:db8:ffff::1"), OuterDst: tunnelEnd,
		},
		Block:  "ioam {\n    namespace   = 123\n    decapsulate = \"" + tunnelEnd.String() + "\"\n  }",
		Parser: inthdr.Formats{IOAM: &ioam.Config{Namespaces: []uint16{123}, Ends: [][16]byte{tunnelEnd.As16()}}},
	},
}

// formatOf is nil where e is of INT.
func formatOf(e Encap) *Format {
	for i := range Formats {
		if Formats[i].Encap == e {
			return &Formats[i]
		}
	}
	return nil
}
