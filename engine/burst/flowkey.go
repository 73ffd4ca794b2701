// Reads the original packet from headers that were parsed: the key of its flow, its TCP flags.

package burst

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// SetKey writes the key of the ORIGINAL packet: ports and protocol as they
// will be when INT is gone.
func SetKey(k *flows.Key, f []byte, l *packet.Layers, info *inthdr.Info) {
	if info.Unwraps() {
		insideKey(k, f, l, info)
		return
	}
	layersKey(k, f, l, info)
}

// insideKey is the key of the packet that a source put into a tunnel for INT; that
// of the tunnel where it is no IP packet.
//
//go:noinline
func insideKey(k *flows.Key, f []byte, l *packet.Layers, info *inthdr.Info) {
	var inner packet.Layers
	if packet.ParseInner(f, int(info.End), int(l.End), info.Next, &inner) != packet.OK {
		inner = *l
	}
	layersKey(k, f, &inner, &inthdr.Info{})
}

func layersKey(k *flows.Key, f []byte, l *packet.Layers, info *inthdr.Info) {
	if l.IPVersion == 4 {
		h := f[l.L3:]
		_ = h[19]
		k.SetIPv4(binary.BigEndian.Uint32(h[12:]), binary.BigEndian.Uint32(h[16:]))
	} else {
		h := f[l.L3:]
		_ = h[39]
		k.SetIPv6(binary.BigEndian.Uint64(h[8:]), binary.BigEndian.Uint64(h[16:]), binary.BigEndian.Uint64(h[24:]), binary.BigEndian.Uint64(h[32:]))
	}
	proto, src, dst := l.Proto, l.SrcPort, l.DstPort
	switch info.NPT {
	case 1:
		dst = info.Orig
	case 2:
		proto = uint8(info.Orig)
		src, dst = innerPorts(f, l, info)
	}
	k.SetPorts(l.IPVersion, proto, src, dst)
}

// innerPorts are the ports of the L4 header behind INT; zero where the protocol
// has none or the packet ends before.
func innerPorts(f []byte, l *packet.Layers, info *inthdr.Info) (src, dst uint16) {
	at := int(info.End)
	if !flows.HasPorts(uint8(info.Orig)) || at+4 > int(l.End) || at+4 > len(f) {
		return 0, 0
	}
	return binary.BigEndian.Uint16(f[at:]), binary.BigEndian.Uint16(f[at+2:])
}

// TCPFlags are the flags of the original packet's TCP header, which stands
// behind INT with NPT 2; 0 for anything else.
func TCPFlags(f []byte, l *packet.Layers, info *inthdr.Info) uint8 {
	if info.NPT != 2 {
		return l.TCPFlags
	}
	if at := int(info.End) + 13; info.Orig == packet.ProtoTCP && at < int(l.End) && at < len(f) {
		return f[at]
	}
	return 0
}
