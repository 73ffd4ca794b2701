// IFA: the values of --encap that make it.

package gen

import "intsink/engine/wire/intgen"

var ofIFA = []Encapsulation{
	{
		Name: "ifa", Help: "no INT, but IFA 2.0 by IP protocol 253 in live packets, with hops of 32 bytes; up to 31 hops",
		marking: intgen.ByIFA, formats: []string{"2"}, inTunnel: true,
	},
	{
		Name: "ifa-copy", Help: "the same in copies of packets (I = 0); with --live each packet goes beside its copy",
		marking: intgen.ByIFA, formats: []string{"2"}, inTunnel: true,
		source: func(_ *Flags, s *intgen.Source) { s.IFA.Copy = true },
	},
}
