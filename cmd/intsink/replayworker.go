package main

import (
	"cmp"
	"net/netip"
	"slices"

	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/engine/report"
	"intsink/exporters/port"
)

// replaySeed keys the hashes in replay: the same input gives the same output.
const replaySeed = 0x1a7 // any constant

// replayWorker is one worker whose clock stands at the time of the packet at hand. It
// runs on the goroutine of whoever calls it.
type replayWorker struct {
	*engine.Worker
	rings      []*ring.Ring
	reportPool engine.Pool
	sealed     func(*sealedReport) // takes every report packet, in the order of their times
	now        int64               // never runs backwards
	idle       int64               // how long a flow may be silent
	vec        *mbuf.Vec
	backwards  int // packets with an earlier time than one before them
}

// replayPorts are what a replayWorker has in place of the first link's ports.
type replayPorts struct {
	network, host    engine.Queue
	packets, reports engine.Pool
}

func newReplayWorker(c *conf.Config, p replayPorts, sealed func(*sealedReport)) *replayWorker {
	r := &replayWorker{reportPool: p.reports, sealed: sealed, vec: mbuf.NewVec(), idle: int64(c.Flows.IdleTimeout)}
	for range c.Collectors {
		r.rings = append(r.rings, ring.New(replayRing))
	}
	link := c.Links[0]
	r.Worker = engine.NewWorker(engine.WorkerConfig{
		Links: []engine.Link{{
			Name: link.Name, Network: p.network, Host: p.host,
			NetworkID: rules.PortID(c, link.Network), HostID: rules.PortID(c, link.Host),
		}},
		Collectors: r.rings,
		PacketPool: p.packets,
		ReportPool: p.reports,
		NodeID:     c.Node.ID,
		HwID:       rules.HwID(c, 0),
		Flows:      rules.Flows(c, replaySeed),
		Seed:       replaySeed,
		Clock:      func() int64 { return r.now },
		Rules:      rules.Of(c),
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
		byPort: col.Port != "", source: rules.PortSource(col),
	}
}

// Steps in which time passes where the capture has a gap: flows that end in it
// end in their time, not at its end.
const (
	gapStep = 1e9
	endLate = 10e9 // a flow's end is seen at most this long after idle_timeout
)

// passTo lets time pass until at and everything that is due happen. An earlier
// time than the latest is taken for the latest.
func (r *replayWorker) passTo(at int64) {
	if at < r.now {
		r.backwards++
		at = r.now
	}
	if r.now > 0 { // once there was a packet
		quiet := min(at, r.now+r.idle+endLate) // nothing is left to end after it
		for r.now+gapStep < quiet {
			r.now += gapStep
			r.Tick(r.now)
			r.drain()
		}
	}
	r.now = at
	r.Tick(at)
	r.drain()
}

// sealedReport is a report packet on its way into the capture.
type sealedReport struct {
	m         *mbuf.Mbuf
	collector int
	handoff   report.Handoff
}

// drain hands over the report packets that were sealed, in the order of their times.
func (r *replayWorker) drain() {
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
		r.sealed(&s)
		r.vec[0] = s.m
		r.reportPool.FreeBulk(r.vec, 1)
	}
}
