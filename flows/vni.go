// Keys of flows inside of a tunnel that has a network identifier (VNI): the same addresses and ports in another virtual
// network are another flow.

package flows

// A key has no room for the 24 bits of a VNI beside all others, but for the bits that no key needs: of the version two
// bits tell all, 15 bits are zero, and of protocols with ports there are five. So the low word of a key with a VNI is
//
//	0       VNI bit 0            8-10   portCode: 1 to 5, a protocol with ports; 0: another, whose number is in bits 32-39
//	1-2     version, as ever     11-14  VNI bits 20-23
//	3-6     VNI bits 1-4         15     zero
//	7       hasVNI               16     tombstone
//	                             17-31  VNI bits 5-19
//
// and the ports stand where they always do.
const (
	hasVNI   = 1 << 7
	portCode = 7
)

// withPorts are the protocols of HasPorts; portCode is the place, from 1 on.
var withPorts = [...]uint8{6, 17, 33, 132, 136}

// SetVNI makes k the key of a flow in the virtual network vni, of 24 bits. It is called last.
func (k *Key) SetVNI(vni uint32) { k.portsProto = WithVNI(k.portsProto, vni) }

// WithVNI is PortsProto's result in the virtual network vni, of 24 bits.
func WithVNI(portsProto uint64, vni uint32) uint64 {
	proto, ports, code := uint8(portsProto>>8), portsProto>>32, uint64(0)
	for i, p := range withPorts {
		if p == proto {
			code = uint64(i) + 1
		}
	}
	if code == 0 {
		ports = uint64(proto)
	}
	v := uint64(vni)
	return ports<<32 | v>>5&0x7fff<<17 | v>>20&0xf<<11 | code<<8 | hasVNI | v>>1&0xf<<3 | portsProto&(4|sixBit) | v&1
}

// VNI returns the virtual network of the flow; false: it is in none.
func (k *Key) VNI() (vni uint32, ok bool) {
	w := k.portsProto
	if w&hasVNI == 0 {
		return 0, false
	}
	return uint32(w>>17&0x7fff<<5 | w>>11&0xf<<20 | w>>3&0xf<<1 | w&1), true
}

// protoWithVNI is the IP protocol of a key with a VNI.
func (k *Key) protoWithVNI() uint8 {
	code := k.portsProto >> 8 & portCode
	if code == 0 || int(code) > len(withPorts) {
		return uint8(k.portsProto >> 32)
	}
	return withPorts[code-1]
}
