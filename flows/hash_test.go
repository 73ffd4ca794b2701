package flows

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestHashSpreads: of flows that differ in little, as they do in a network and in an
// attack, buckets, slots of buckets and tags get equally many, for whatever seed.
func TestHashSpreads(t *testing.T) {
	kinds := map[string]func(k *Key, n uint64){
		"source ports":         func(k *Key, n uint64) { k.SetPorts(4, 17, uint16(n), 443) },
		"destination ports":    func(k *Key, n uint64) { k.SetPorts(4, 6, 443, uint16(n)) },
		"source addresses":     func(k *Key, n uint64) { k.SetIPv4(uint32(n), 0x0a000001) },
		"source networks":      func(k *Key, n uint64) { k.SetIPv4(uint32(n)<<16, 0x0a000001) },
		"destinations":         func(k *Key, n uint64) { k.SetIPv4(0x0a000001, uint32(n)) },
		"destination networks": func(k *Key, n uint64) { k.SetIPv4(0x0a000001, uint32(n)<<16) },
		"pairs":                func(k *Key, n uint64) { k.SetIPv4(uint32(n), uint32(n)); k.SetPorts(4, 17, uint16(n), uint16(n)) },
		"opposites":            func(k *Key, n uint64) { k.SetIPv4(uint32(n), ^uint32(n)) },

		"IPv6 hosts":             func(k *Key, n uint64) { k.addrs, k.portsProto = [4]uint64{0x20010db8 << 32, n}, 6 },
		"IPv6 networks":          func(k *Key, n uint64) { k.addrs, k.portsProto = [4]uint64{0x20010db8<<32 | n<<16, 1}, 6 },
		"IPv6 destinations":      func(k *Key, n uint64) { k.addrs, k.portsProto = [4]uint64{2: 0x20010db8 << 32, 3: n}, 6 },
		"IPv6 ports":             func(k *Key, n uint64) { k.addrs[0] = 0x20010db8 << 32; k.SetPorts(6, 17, uint16(n), 443) },
		"IPv6 to themselves":     func(k *Key, n uint64) { k.addrs, k.portsProto = [4]uint64{n, n, n, n}, 6 },
		"IPv6 pairs and ports":   func(k *Key, n uint64) { k.addrs[1], k.addrs[3] = n, n; k.SetPorts(6, 6, uint16(n), uint16(n)) },
		"IPv6 of IPv4 addresses": func(k *Key, n uint64) { k.SetIPv6(0, n, 0, 1); k.SetPorts(6, 17, 1, 2) },
	}
	const keys, buckets = 1 << 16, 1 << 10
	r := rand.New(rand.NewPCG(5, 6))
	for name, set := range kinds {
		for range 20 {
			h := newHasher(r.Uint64())
			var bucket, tag [buckets]float64
			for n := range uint64(keys) {
				var k Key
				k.SetIPv4(0x0a000001, 0x0a010001)
				k.SetPorts(4, 17, 1024, 443)
				set(&k, n)
				x := h.hash(&k)
				bucket[x>>bucketShift%buckets]++
				tag[bits.RotateLeft64(x, 10)%buckets]++
			}
			for what, counts := range map[string]*[buckets]float64{"buckets": &bucket, "tags": &tag} {
				// Chi-squared, of 1023 degrees of freedom: 1023 on average, sigma 45. A regular
				// spread, which is better than a random one, is below.
				chi := 0.0
				for _, c := range counts {
					chi += (c - keys/buckets) * (c - keys/buckets) / (keys / buckets)
				}
				if chi > 1023+6*45 {
					t.Errorf("%s: %s: chi-squared %.0f, want at most %d", name, what, chi, 1023+6*45)
				}
			}
		}
	}
}

// TestHashOutlivesItsFlow: what is reported of a flow that is gone goes the way of its
// other reports.
func TestHashOutlivesItsFlow(t *testing.T) {
	for _, version := range []uint8{4, 6} {
		k, h := Key{addrs: [4]uint64{1, 2, 3, 4}}, newHasher(1)
		k.SetPorts(version, 17, 3, 4)
		was := k
		if k.markRemoved(); h.hash(&k) != h.hash(&was) || k.Equal(&was) {
			t.Errorf("IPv%d: hash %x, was %x; equal %v", version, h.hash(&k), h.hash(&was), k.Equal(&was))
		}
	}
}

func TestHashIsOfTheSeed(t *testing.T) {
	k := Key{addrs: [4]uint64{1, 2, 3, 4}}
	for _, version := range []uint8{4, 6} {
		k.SetPorts(version, 17, 3, 4)
		a, b, again := newHasher(1), newHasher(2), newHasher(1)
		if a.hash(&k) == b.hash(&k) || a.hash(&k) != again.hash(&k) {
			t.Errorf("IPv%d: %x, %x and again %x", version, a.hash(&k), b.hash(&k), again.hash(&k))
		}
	}
}
