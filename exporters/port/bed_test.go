package port

import (
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"intsink/dpdk/mbuf"
)

// memQueue is a port in memory.
type memQueue struct {
	pool *mbuf.Arena
	rx   [][]byte
	tx   [][]byte
	room int // packets that TxBurst still takes
	most int // packets that one TxBurst takes
}

func (q *memQueue) RxBurst(v *mbuf.Vec) int {
	n := min(len(q.rx), len(v))
	if n == 0 || !q.pool.AllocBulk(v, n) {
		return 0
	}
	for i, frame := range q.rx[:n] {
		copy(v[i].SetLen(len(frame)), frame)
	}
	q.rx = q.rx[n:]
	return n
}

func (q *memQueue) TxBurst(v *mbuf.Vec, n int) int {
	n = min(n, q.room, q.most)
	q.room -= n
	for _, m := range v[:n] {
		q.tx = append(q.tx, m.AppendTo(nil, m.PktLen()))
	}
	q.pool.FreeBulk(v, n)
	return n
}

// sent are the frames that were transmitted since the last call.
func (q *memQueue) sent() [][]byte {
	out := q.tx
	q.tx = nil
	return out
}

func newQueue(t testing.TB) *memQueue {
	t.Helper()
	a, err := mbuf.NewArena(512, 2304)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := a.InUse(); n != 0 {
			t.Errorf("%d mbufs did not come home", n)
		}
	})
	return &memQueue{pool: a, room: 1 << 30, most: mbuf.MaxBurst}
}

var (
	ours   = MAC{0x02, 0, 0, 0, 0, 0x01}
	theirs = MAC{0x02, 0, 0, 0, 0, 0xfe}
	other  = MAC{0x02, 0, 0, 0, 0, 0x77}
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// four and six are collectors behind a gateway.
func four() Config {
	return Config{Collector: netip.MustParseAddrPort("198.51.100.10:8555"), Source: addr("192.0.2.1"), Gateway: addr("192.0.2.254")}
}

func six() Config {
	return Config{Collector: netip.MustParseAddrPort("[2001:db8:9::10]:8555"), Source: addr("2001:db8::1"), Gateway: addr("2001:db8::fe")}
}

// gatewayOf is the gateway itself, to make what it says.
func gatewayOf(c Config, mac MAC) *neighbor {
	return &neighbor{mac: mac, vlan: c.VLAN, source: c.Gateway, address: c.Source}
}

// arpFrom is an ARP frame of n.
func arpFrom(n *neighbor, op uint16, dst MAC, target string) []byte {
	var b [128]byte
	return append([]byte(nil), b[:n.putARP(b[:], op, dst, addr(target))]...)
}

// adverts is a Neighbor Advertisement of n's address to whoever asks from from.
func adverts(n *neighbor, from string, to MAC) []byte {
	var b [128]byte
	return append([]byte(nil), b[:n.putAdvertisement(b[:], &message{from: addr(from), mac: to})]...)
}

func solicits(n *neighbor, target string) []byte {
	var b [128]byte
	return append([]byte(nil), b[:n.putSolicitation(b[:], addr(target))]...)
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
