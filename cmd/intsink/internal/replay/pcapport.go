// pcapPort: the network port of replay: starts EAL, receives from DPDK's pcap driver, one
// packet at a time.

package replay

import (
	"os"

	"intsink/cmd/intsink/internal/simulate"
	"intsink/conf"
	"intsink/dpdk/eal"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/mempool"
)

// pcapPort reads a capture through DPDK's pcap driver and hands its packets
// over one at a time, so that each can have its own time.
type pcapPort struct {
	port       ethdev.Port
	queue      *ethdev.Queue
	pool       *mempool.Mempool
	reportPool *mempool.Mempool
	vec, one   *mbuf.Vec // vec[next:n] are received and not yet handed over
	next, n    int
}

// Sizes for one packet at a time; a jumbo frame of 64 KiB takes 32 mbufs.
const (
	replayMbufs = 8192
	replayMiB   = 128
)

// openPcapPort starts EAL without hugepages and a pcap port on the file.
func openPcapPort(path string, reportRoom int) (*pcapPort, error) {
	args, _, err := eal.Args(eal.Options{Hugepages: "off", MemoryMiB: replayMiB})
	if err != nil {
		return nil, err
	}
	if err := eal.Init(args); err != nil {
		return nil, err
	}
	p := &pcapPort{vec: mbuf.NewVec(), one: mbuf.NewVec()}
	if p.pool, err = mempool.New("packets", replayMbufs, 0, conf.MbufRoom, mempool.AnySocket); err != nil {
		return nil, err
	}
	if p.reportPool, err = mempool.New("reports", simulate.ReportMbufs, 0, reportRoom, mempool.AnySocket); err != nil {
		return nil, err
	}
	if p.port, err = ethdev.Attach("net_pcap0,rx_pcap=" + path); err != nil {
		return nil, err
	}
	err = p.port.Configure(ethdev.Config{RxQueues: 1, TxQueues: 1, Pools: []*mempool.Mempool{p.pool}})
	if err == nil {
		err = p.port.Start()
	}
	p.queue = p.port.Queue(0)
	return p, err
}

// fetch makes sure that there is a packet for RxBurst to hand over and returns
// its length; false where the driver has none.
func (p *pcapPort) fetch() (length int, ok bool) {
	if p.next == p.n {
		p.next, p.n = 0, p.queue.RxBurst(p.vec)
		if p.n == 0 {
			return 0, false
		}
	}
	return p.vec[p.next].PktLen(), true
}

// skip frees the packet that fetch found.
func (p *pcapPort) skip() {
	p.one[0] = p.vec[p.next]
	p.pool.FreeBulk(p.one, 1)
	p.next++
}

// RxBurst hands over one packet.
func (p *pcapPort) RxBurst(v *mbuf.Vec) int {
	if _, ok := p.fetch(); !ok {
		return 0
	}
	v[0] = p.vec[p.next]
	p.next++
	return 1
}

// TxBurst takes nothing: the network side of a replayed link only receives.
func (p *pcapPort) TxBurst(*mbuf.Vec, int) int { return 0 }

// Exchange is RxBurst.
func (p *pcapPort) Exchange(_ *mbuf.Vec, _ int, rx *mbuf.Vec) (sent, received int) {
	return 0, p.RxBurst(rx)
}

// close frees packets that were received and not handed over, and stops EAL. Mbufs that did not come back are a fault of
// intsink, which is said; what was found in the capture is as right as it was.
func (p *pcapPort) close() {
	for p.next < p.n {
		p.skip()
	}
	p.port.Stop()
	p.port.Close()
	leaked := p.pool.InUse() + p.reportPool.InUse()
	p.pool.Free()
	p.reportPool.Free()
	eal.Cleanup()
	simulate.WarnLeaked(os.Stderr, leaked)
}
