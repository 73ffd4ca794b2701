package ethdev_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/dpdk/dpdktest"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/mempool"
)

// A port of net_vhost has as many queues as its argument queues says.
func TestVhostQueues(t *testing.T) {
	p := dpdktest.Pool(t, "vhost")
	socket := filepath.Join(t.TempDir(), "vhost.sock")
	two := ethdev.Config{RxQueues: 2, TxQueues: 2, Pools: []*mempool.Mempool{p}}
	vhost := startWith(t, fmt.Sprintf("net_vhost0,iface=%s,queues=2", socket), two)
	guest := startWith(t, fmt.Sprintf("net_virtio_user0,path=%s,queues=2,queue_size=256", socket), two)
	if !waitLink(t, vhost) || !waitLink(t, guest) {
		t.Fatal("not connected")
	}
	v := mbuf.NewVec()
	for _, c := range []struct{ from, to ethdev.Port }{{guest, vhost}, {vhost, guest}} {
		for q := range uint16(2) {
			numbered(t, p, v, 8, 100*int(q))
			if sent := once(func() int { return c.from.Queue(q).TxBurst(v, 8) }); sent != 8 {
				t.Fatalf("queue %d of %s sent %d", q, c.from.Name(), sent)
			}
		}
		for q := range uint16(2) {
			n := once(func() int { return c.to.Queue(q).RxBurst(v) })
			for i, m := range v[:n] {
				if got := binary.BigEndian.Uint32(m.Bytes()); got != uint32(100*int(q)+i) {
					t.Errorf("queue %d of %s: frame %d", q, c.to.Name(), got)
				}
			}
			if p.FreeBulk(v, n); n != 8 {
				t.Errorf("queue %d of %s received %d", q, c.to.Name(), n)
			}
		}
	}
}

// once repeats burst until it moves packets, for a minute: the guest enables one queue after
// the other, the second a while after the link is up.
func once(burst func() int) (n int) {
	for range 6000 {
		if n = burst(); n > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return n
}

func TestVhostHasTooFewQueues(t *testing.T) {
	p := dpdktest.Pool(t, "vhost1")
	port := attach(t, fmt.Sprintf("net_vhost1,iface=%s", filepath.Join(t.TempDir(), "vhost.sock")))
	err := port.Configure(ethdev.Config{RxQueues: 2, TxQueues: 2, Pools: []*mempool.Mempool{p}})
	if err == nil || !strings.Contains(err.Error(), `write queues=2 into its device`) {
		t.Error(err)
	}
}
