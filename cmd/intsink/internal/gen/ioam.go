// IOAM: the values of --encap that make it, and which flags go with them.

package gen

import (
	"errors"
	"fmt"

	"intsink/engine/wire/intgen"
)

var ofIOAM = []Encapsulation{
	{
		Name: "ioam", Help: "no INT, but IOAM of namespace 123 in hop-by-hop options, a pre-allocated trace; with --ipv6; up to 10 hops with --timestamps",
		marking: intgen.ByIOAM, formats: []string{"2"}, inTunnel: true,
		check:  func(f *Flags) error { return f.checkIOAM(f.ipv6) },
		source: func(f *Flags, s *intgen.Source) { s.IOAM.Type = f.ioamType() },
	},
	{
		Name: "ioam-tunnel", Help: "the same in a new IPv6 header around the IP packet, to 2001:db8:ffff:1::1; without --ipv6, too",
		marking: intgen.ByIOAM, formats: []string{"2"}, outerIPv6: true,
		check:  func(f *Flags) error { return f.checkIOAM(true) },
		source: func(f *Flags, s *intgen.Source) { s.IOAM.Type, s.IOAM.Tunnel = f.ioamType(), true },
	},
}

// maxStampedIOAMHops of 24 bytes fit into an option.
const maxStampedIOAMHops = 10

// checkIOAM: extension headers are those of IPv6, and an option has 255 bytes at most.
func (f *Flags) checkIOAM(ipv6 bool) error {
	switch {
	case !ipv6:
		return errors.New("--encap ioam needs --ipv6: IOAM stands in its extension headers")
	case f.timestamps && f.hops > maxStampedIOAMHops:
		return fmt.Errorf("--hops %d with --encap ioam --timestamps: must be 0 to %d, an option holds no more", f.hops, maxStampedIOAMHops)
	}
	return nil
}

// ioamType is the type of traces: hop limit and node id, interfaces, transit delay and queue depth; with --timestamps both parts of
// the time.
func (f *Flags) ioamType() uint32 {
	if f.timestamps {
		return 0xfa0000
	}
	return 0xca0000
}
