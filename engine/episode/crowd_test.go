package episode

import (
	"math/rand/v2"
	"testing"

	"intsink/flows"
)

// TestCrowd: a host that fills a queue by many small flows, none of which stands out, is named with its share, and so is its
// service; who began to fill it later is who fills it now.
func TestCrowd(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 3))
		b := New()
		id := b.Begin(0, [2]uint64{7}, 1000, 0)
		packets, share := 5000+r.IntN(60_000), 30+r.IntN(60)
		const lasts = 40e9
		var bytes, ofHost uint64
		late := *key(9)
		late.SetPorts(4, 6, 40000, 22)
		for n := range packets {
			at := int64(n) * lasts / int64(packets)
			k := *key(100 + r.IntN(4000))
			k.SetPorts(4, 17, uint16(40000+r.IntN(20000)), 9000)
			size := uint32(100 + r.IntN(1000))
			switch {
			case at > lasts*6/10 && n%2 == 0:
				k = late
			case r.IntN(100) < share:
				k.SetIPv4(0x0a030012, uint32(r.IntN(200)))
				k.SetPorts(4, 6, uint16(40000+r.IntN(20000)), 443)
				ofHost += uint64(size)
			}
			bytes += uint64(size)
			b.Count(at, id, &Packet{Flow: &k, Values: Values{Bytes: size, Latency: 500_000, Occupancy: unknown}})
		}
		e := b.Open()[0]
		near := func(what string, sum uint64, of, want float64) {
			if is := float64(sum) / of; is < want-0.04 || is > want+0.04 {
				t.Errorf("seed %d: %s has %.3f, want %.3f", seed, what, is, want)
			}
		}
		want := float64(ofHost) / float64(bytes)
		find := func(all []Member, is func(k *flows.Key) bool) (m Member) {
			for _, x := range all {
				if is(&x.Flow) {
					m = x
				}
			}
			return m
		}
		host := find(e.Hosts.Most(3), func(k *flows.Key) bool { return k.SrcAddr().String() == "10.3.0.18" })
		near("the host", host.Bytes-host.Over, float64(bytes), want)
		service := find(e.Services.Most(3), func(k *flows.Key) bool { return k.Proto() == 6 && Port(k) == 443 })
		near("its service", service.Bytes, float64(bytes), want)
		if most := e.Now().Most(1); len(most) != 1 || most[0].Flow != late.Canonical() {
			t.Errorf("seed %d: now it is filled by %+v", seed, most)
		} else {
			near("who fills it now", most[0].Sum, float64(e.Now().Total), 0.5)
		}
	}
}
