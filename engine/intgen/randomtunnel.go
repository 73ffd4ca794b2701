package intgen

import "math/rand/v2"

// RandomTunnel is any tunnel, with a valid checksum or none. Its source port does
// not depend on what is inside.
func RandomTunnel(r *rand.Rand) *Tunnel {
	t := randomTunnel(r, Encap(r.IntN(int(IPIP)+1)))
	t.Checksum, t.SrcPort = one(r, 2), uint16(1+r.IntN(0xffff))
	return t
}
