// PathID: FNV-1a over nodes and interfaces, the id of a path that people see; the same on each
// worker.

package inthdr

// PathID tells paths through the network apart. It has no key: it is the same on every
// worker, after every start, and in whatever reads the same hops.
type PathID uint64

// Parameters of FNV-1a with 64 bits, here over words.
const (
	StartOfPath PathID = 0xcbf29ce484222325
	fnvPrime    uint64 = 0x100000001b3
)

// Via is id with one more node and its interfaces; the source's comes first. level2 is
// both level 2 interfaces, 0 where there are none.
func (id PathID) Via(node uint32, ingress, egress uint16, level2 uint64) PathID {
	h := (uint64(id) ^ (uint64(node)<<32 | uint64(ingress)<<16 | uint64(egress))) * fnvPrime
	return PathID((h ^ h>>32 ^ level2) * fnvPrime)
}
