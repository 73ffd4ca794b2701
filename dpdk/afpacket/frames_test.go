package afpacket

import (
	"testing"

	"intsink/internal/netns"
)

// frames are of every kind that the kernel treats in some way of its own.
func frames() map[string][]byte {
	all := map[string][]byte{
		"shortest that veth takes": plain(15, 0),
		"60 bytes":                 plain(60, 1),
		"a full mbuf":              plain(2048, 2),
		"one byte more":            plain(2049, 3),
		"jumbo":                    plain(9014, 4),
		"VLAN":                     tagged(plain(60, 5), 0x8100, 0xe123),
		"VLAN 0":                   tagged(plain(60, 5), 0x8100, 0),
		"802.1ad":                  tagged(plain(60, 6), 0x88a8, 0x0456),
		"QinQ":                     tagged(tagged(plain(60, 7), 0x8100, 0x0123), 0x88a8, 0x0456),
		"QinQ of two 8100":         tagged(tagged(plain(60, 8), 0x8100, 0x0123), 0x8100, 0x0456),
		"jumbo with QinQ":          tagged(tagged(plain(9014, 9), 0x8100, 0x0123), 0x88a8, 0x0456),
	}
	first, second := fragments4()
	all["IPv4, first fragment"], all["IPv4, last fragment"] = first, second
	first, second = fragments6()
	all["IPv6, first fragment"], all["IPv6, last fragment"] = first, second
	return all
}

func TestFramesPassAsTheyAre(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 9018)
	k := peer(t)
	for _, queues := range []int{1, 3} {
		b := open(t, queues, 512, 2048)
		for name, f := range frames() {
			if !k.Send(f) {
				t.Fatalf("%s: the peer's kernel refuses it", name)
			}
			var got [][]byte
			eventually(t, name, func() bool {
				for i := range queues {
					got = append(got, b.receive(t, i, 0)...)
					n := b.Queue(i).RxBurst(b.v)
					for _, m := range b.v[:n] {
						got = append(got, m.AppendTo(nil, m.PktLen()))
					}
					b.pool.FreeBulk(b.v, n)
				}
				return len(got) > 0
			})
			same(t, got, [][]byte{f})
			for _, room := range []int{2048, 16} { // one mbuf, or many
				if n := b.send(t, max(room, len(f)/200), f); n != 1 {
					t.Fatalf("%s: not sent: %v", name, b.Queue(0).Refusal())
				}
				same(t, k.arrived(t, 1), [][]byte{f})
			}
		}
		s := b.Stats()
		if n := uint64(len(frames())); s.RxPackets != n || s.TxPackets != 2*n || s.Truncated+s.Missed+s.NoMbuf != 0 || s.Uncut != [Uncuts]uint64{} {
			t.Errorf("%d queues: %+v", queues, s)
		}
		b.Close()
	}
}
