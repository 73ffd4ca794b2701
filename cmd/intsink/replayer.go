package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"github.com/gopacket/gopacket/layers"

	"intsink/conf"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/mempool"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/engine/report"
	"intsink/exporters/file"
	"intsink/exporters/port"
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
	frames  []replayedFrame // per collector
	pool    *mempool.Mempool
	now     int64 // never runs backwards
	idle    int64 // how long a flow may be silent
	vec     *mbuf.Vec

	tooLong, clipped, backwards int // packets that were not taken as they are
}

func newReplayer(c *conf.Config, source *pcapPort, in *captureReader, out, reports *file.Capture) *replayer {
	r := &replayer{source: source, in: in, out: out, reports: reports, pool: source.reportPool, vec: mbuf.NewVec(), idle: int64(c.Flows.IdleTimeout)}
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

// replayedFrame is the frame around a collector's report packets.
type replayedFrame struct {
	report.UDPFrame
	byPort bool // the frame is what exporters/port would send
	source port.SourcePort
}

// of returns the frame of the packet whose handoff is h.
func (f *replayedFrame) of(h report.Handoff) *report.UDPFrame {
	if f.byPort {
		f.Src = netip.AddrPortFrom(f.Src.Addr(), f.source.Of(0, h))
	}
	return &f.UDPFrame
}

// replayFrame is the frame to col. What is learned from the kernel, a device or a
// gateway (MAC addresses and the source address, where they are not configured)
// is zero, so that nothing of this machine gets into the output.
func replayFrame(col *conf.Collector) replayedFrame {
	source := col.Source
	if !source.IsValid() {
		source = netip.IPv4Unspecified()
		if !col.Address.Addr().Unmap().Is4() {
			source = netip.IPv6Unspecified()
		}
	}
	return replayedFrame{
		UDPFrame: report.UDPFrame{
			DstMAC: col.GatewayMAC, VLAN: col.VLAN,
			Src: netip.AddrPortFrom(source, col.SourcePort), Dst: col.Address,
		},
		byPort: col.Port != "", source: portSource(col),
	}
}

// maxFrame is the longest frame that fits the 16 bits that DPDK's pcap driver
// has for a length.
const maxFrame = 65535

// run takes every packet of the capture through the worker.
func (r *replayer) run() error {
	err := r.packets()
	r.worker.Close()
	r.drain()
	return errors.Join(err, r.out.Err(), r.reports.Err())
}

func (r *replayer) packets() error {
	for {
		p, err := r.in.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("packet %d: %w", r.in.packets+1, err)
		}
		if err := r.packet(&p); err != nil {
			return fmt.Errorf("packet %d: %w", r.in.packets, err)
		}
	}
}

// packet takes one packet through the worker, at its time.
func (r *replayer) packet(p *capturedPacket) error {
	if p.link != layers.LinkTypeEthernet {
		return fmt.Errorf("link type %v, need Ethernet: split the capture by interface", p.link)
	}
	got, ok := r.source.fetch()
	switch {
	case !ok:
		return errors.New(r.in.whyUnread(p))
	case len(p.data) > maxFrame:
		r.tooLong++
		r.source.skip()
		return nil
	case got < len(p.data):
		r.clipped++
	case got > len(p.data):
		return fmt.Errorf("DPDK's pcap driver delivers %d bytes of what is %d", got, len(p.data))
	}
	r.passTo(p.at)
	r.worker.Poll()
	r.drain()
	return nil
}

// Steps in which time passes where the capture has a gap: flows that end in it
// end in their time, not at its end.
const (
	gapStep = 1e9
	endLate = 10e9 // a flow's end is seen at most this long after idle_timeout
)

// passTo lets time pass until at and everything that is due happen. An earlier
// time than the latest is taken for the latest.
func (r *replayer) passTo(at int64) {
	if at < r.now {
		r.backwards++
		at = r.now
	}
	if r.now > 0 { // once there was a packet
		quiet := min(at, r.now+r.idle+endLate) // nothing is left to end after it
		for r.now+gapStep < quiet {
			r.now += gapStep
			r.worker.Tick(r.now)
			r.drain()
		}
	}
	r.now = at
	r.worker.Tick(at)
	r.drain()
}

// warn says which packets did not go through as they stand in the capture.
func (r *replayer) warn(w io.Writer) {
	for _, c := range []struct {
		n    int
		text string
	}{
		{r.tooLong, "are longer than 65535 bytes, which DPDK cannot carry, and are left out"},
		{r.clipped, "are longer than the snap length in the capture's header and were read only up to it"},
		{r.backwards, "have an earlier time than one before them and were given the latest time so far"},
	} {
		if c.n > 0 {
			fmt.Fprintf(w, "warning: %s: %d of %d packets %s\n", r.in.path, c.n, r.in.packets, c.text)
		}
	}
}

// sealedReport is a report packet on its way into the capture.
type sealedReport struct {
	m         *mbuf.Mbuf
	collector int
	handoff   report.Handoff
}

// drain writes the report packets that were sealed, in the order of their times.
func (r *replayer) drain() {
	var all []sealedReport
	for i, ring := range r.rings {
		for {
			n := ring.Pop(r.vec, mbuf.MaxBurst)
			if n == 0 {
				break
			}
			for _, m := range r.vec[:n] {
				h, _ := report.TakeHandoff(m.Bytes())
				all = append(all, sealedReport{m, i, h})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b sealedReport) int { return cmp.Compare(a.handoff.Time, b.handoff.Time) })
	for _, s := range all {
		r.reports.WriteReport(r.frames[s.collector].of(s.handoff), s.m)
		r.vec[0] = s.m
		r.pool.FreeBulk(r.vec, 1)
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
