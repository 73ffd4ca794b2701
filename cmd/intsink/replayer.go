package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"

	"intsink/conf"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/mempool"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/engine/report"
	"intsink/exporters/file"
)

// replaySeed keys the hashes in replay: the same input gives the same output.
const replaySeed = 0x1a7 // any constant

// replayer drives one worker packet by packet: the clock stands at the time of
// the packet at hand.
type replayer struct {
	worker  *engine.Worker
	source  *pcapPort
	in      *captureReader
	out     *file.Capture
	reports *file.Capture
	rings   []*ring.Ring
	frames  []report.UDPFrame // per collector
	pool    *mempool.Mempool
	now     int64
	vec     *mbuf.Vec
}

func newReplayer(c *conf.Config, source *pcapPort, in *captureReader, out, reports *file.Capture) *replayer {
	r := &replayer{source: source, in: in, out: out, reports: reports, pool: source.reportPool, vec: mbuf.NewVec()}
	rules := rulesOf(c)
	for _, col := range c.Collectors {
		r.rings = append(r.rings, ring.New(replayRing))
		r.frames = append(r.frames, replayFrame(&col))
	}
	link := c.Links[0]
	r.worker = engine.NewWorker(engine.WorkerConfig{
		Links: []engine.Link{{
			Name: link.Name, Network: source, Host: (*captureSink)(r),
			NetworkID: portID(c, link.Network), HostID: portID(c, link.Host),
		}},
		Collectors: r.rings,
		PacketPool: source.pool,
		ReportPool: source.reportPool,
		NodeID:     c.Node.ID,
		HwID:       hwID(c, 0),
		Flows:      flowsConfig(c, replaySeed),
		Seed:       replaySeed,
		Clock:      func() int64 { return r.now },
		Rules:      rules,
	})
	return r
}

// replayRing holds what one packet can seal; the ring is emptied after each.
const replayRing = 1024

// replayFrame is the frame around a collector's report packets. What a socket
// would learn from the kernel (MAC addresses, the source address where none is
// configured) is zero, so that nothing of this machine gets into the output.
func replayFrame(col *conf.Collector) report.UDPFrame {
	source := col.Source
	if !source.IsValid() {
		source = netip.IPv4Unspecified()
		if !col.Address.Addr().Unmap().Is4() {
			source = netip.IPv6Unspecified()
		}
	}
	return report.UDPFrame{Src: netip.AddrPortFrom(source, col.SourcePort), Dst: col.Address}
}

// run takes every packet of the capture through the worker.
func (r *replayer) run() error {
	for n := 1; ; n++ {
		_, at, err := r.in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("packet %d: %w", n, err)
		}
		r.now = at
		r.worker.Tick(at) // what was due before this packet arrived
		if r.worker.Poll() == 0 {
			return fmt.Errorf("packet %d: the pcap driver did not deliver it (longer than its capture length, or an empty record?)", n)
		}
		r.drain()
	}
	r.worker.Close()
	r.drain()
	return errors.Join(r.out.Err(), r.reports.Err())
}

// drain writes the report packets that were sealed.
func (r *replayer) drain() {
	for i, ring := range r.rings {
		for {
			n := ring.Pop(r.vec, mbuf.MaxBurst)
			if n == 0 {
				break
			}
			for _, m := range r.vec[:n] {
				r.reports.WriteReport(&r.frames[i], m)
			}
			r.pool.FreeBulk(r.vec, n)
		}
	}
}

// captureSink is the host side of the link: it writes what the worker
// transmits. DPDK's pcap driver is not used here because it stamps packets with
// the time of writing.
type captureSink replayer

func (s *captureSink) RxBurst(*mbuf.Vec) int { return 0 }

func (s *captureSink) TxBurst(v *mbuf.Vec, n int) int {
	for _, m := range v[:n] {
		s.out.Write(m.AppendTo(nil, m.PktLen()), s.now)
	}
	s.source.pool.FreeBulk(v, n)
	return n
}
