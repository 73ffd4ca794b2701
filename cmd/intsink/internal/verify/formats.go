// Telemetry that is not INT: the kinds of each format.

package verify

import (
	"net/netip"

	"intsink/conf"
	"intsink/engine/wire/intgen"
)

var foreignKinds = []kind{
	{
		name: "ifa", format: "2.0", config: "ifa {\n    protocol = 253\n    copies   = \"drop\"\n  }",
		source: intgen.Source{Marking: intgen.ByIFA}, reads: func(c *conf.INT) bool { return c.IFA != nil },
	},
	{
		name: "ioam", format: "RFC 9197", config: "ioam {\n    namespace = 123\n  }",
		source: intgen.Source{Marking: intgen.ByIOAM}, reads: func(c *conf.INT) bool { return c.IOAM != nil },
	},
	{
		name: "ioam-tunnel", format: "RFC 9486", config: "ioam {\n    namespace   = 123\n    decapsulate = \"2001:db8:ffff:1::1\"\n  }",
		source: intgen.Source{
			Marking: intgen.ByIOAM, Formats: intgen.Formats{IOAM: intgen.IOAM{Tunnel: true}},
			OuterSrc: netip.MustParseAddr("2001:db8:ffff::1"), OuterDst: netip.MustParseAddr("2001:db8:ffff:1::1"),
		},
		reads: func(c *conf.INT) bool { return c.IOAM != nil && len(c.IOAM.Decapsulate) > 0 },
	},
}
