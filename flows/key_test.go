package flows

import (
	"net/netip"
	"testing"
)

// TestKeySaysWhatWasSet: addresses, ports and protocol come back as they were set, also of a removed flow, whose key
// equals none of a packet. Words that an IPv4 key does not use make no difference.
func TestKeySaysWhatWasSet(t *testing.T) {
	for _, c := range []struct {
		name     string
		version  uint8
		src, dst string
		words    [2][2]uint64 // of Src and Dst
	}{
		{"IPv4", 4, "192.0.2.1", "198.51.100.254", [2][2]uint64{{0, 0xc0000201}, {0, 0xc63364fe}}},
		{"IPv6", 6, "2001:db8:1:2:3:4:5:6", "2001:db8:a:b:c:d:e:f", [2][2]uint64{{0x20010db800010002, 0x0003000400050006}, {0x20010db8000a000b, 0x000c000d000e000f}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, dst := netip.MustParseAddr(c.src), netip.MustParseAddr(c.dst)
			k := Key{addrs: [4]uint64{9, 9, 9, 9}}
			k.SetAddrs(src, dst)
			k.SetPorts(c.version, 132, 0x0102, 0xfffe)
			said := func(k *Key) {
				if k.Version() != c.version || k.Proto() != 132 || k.SrcPort() != 0x0102 || k.DstPort() != 0xfffe {
					t.Errorf("version %d, protocol %d, ports %#x, %#x", k.Version(), k.Proto(), k.SrcPort(), k.DstPort())
				}
				if k.SrcAddr() != src || k.DstAddr() != dst || k.Src() != c.words[0] || k.Dst() != c.words[1] {
					t.Errorf("%v, %v, words %x, %x", k.SrcAddr(), k.DstAddr(), k.Src(), k.Dst())
				}
			}
			said(&k)
			var words Key
			if c.version == 4 {
				words.addrs[3] = 7
				words.SetWords4(PortsProto(4, 132, 0x0102, 0xfffe), k.addrs[0])
			} else {
				words.SetWords6(PortsProto(6, 132, 0x0102, 0xfffe), c.words[0][0], c.words[0][1], c.words[1][0], c.words[1][1])
			}
			if !words.Equal(&k) || words.Canonical() != k.Canonical() {
				t.Errorf("%x by words, %x by addresses", words, k)
			}
			said(&words)
			gone := k
			gone.markRemoved()
			if said(&gone); gone.Equal(&k) || !gone.removed() || k.removed() {
				t.Error("the key of a removed flow equals that of a packet")
			}
			for i := range k.addrs {
				other := k
				other.addrs[i] ^= 1 << 63
				if same := c.version == 4 && i > 0; other.Equal(&k) != same || (other.Canonical() == k.Canonical()) != same {
					t.Errorf("equal with another word %d: %v", i, other.Equal(&k))
				}
			}
		})
	}
}
