package traffic

import (
	"intsink/engine/wire/ifa"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
)

// Format is telemetry that is not INT, which a row of each benchmark is about.
type Format struct {
	Headers
	Title   string
	Block   string         // of the sink's configuration, in int
	Parser  inthdr.Formats // the same
	marking intgen.Marking
}

// Encapsulations that are not INT.
const (
	IFA  Encap = "ifa"  // by the protocol of IP, with hops of 32 bytes
	IOAM Encap = "ioam" // a pre-allocated trace in hop-by-hop options of IPv6, with hops of 20 bytes
)

// Formats are in the order of the rows.
var Formats = []Format{
	{
		Headers: Headers{Encap: IFA}, Title: "IFA", marking: intgen.ByIFA,
		Block:  "ifa {\n    protocol = 253\n    copies   = \"drop\"\n  }",
		Parser: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, MaxResidence: 1e9}},
	},
	{
		Headers: Headers{Encap: IOAM, IPv6: true}, Title: "IOAM", marking: intgen.ByIOAM,
		Block:  "ioam {\n    namespace = 123\n  }",
		Parser: inthdr.Formats{IOAM: &ioam.Config{Namespaces: []uint16{123}}},
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
