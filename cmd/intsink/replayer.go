package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/gopacket/gopacket/layers"

	"intsink/cmd/internal/capture"
	"intsink/conf"
	"intsink/dpdk/mbuf"
	"intsink/exporters/file"
)

// replayer takes the packets of a capture through a worker, one by one.
type replayer struct {
	*replayWorker
	source  *pcapPort
	in      *capture.Reader
	out     *file.Capture
	reports *file.Capture
	frames  []replayedFrame // per collector

	tooLong, clipped int // packets that were not taken as they are
}

func newReplayer(c *conf.Config, source *pcapPort, in *capture.Reader, out, reports *file.Capture) *replayer {
	r := &replayer{source: source, in: in, out: out, reports: reports}
	for i := range c.Collectors {
		r.frames = append(r.frames, replayFrame(&c.Collectors[i]))
	}
	r.replayWorker = newReplayWorker(c, replayPorts{
		network: source, host: (*captureSink)(r), packets: source.pool, reports: source.reportPool,
	}, func(s *sealedReport) { reports.WriteReport(r.frames[s.collector].of(s.handoff), s.m) })
	return r
}

// maxFrame is the longest frame that fits the 16 bits that DPDK's pcap driver
// has for a length.
const maxFrame = 65535

// run takes every packet of the capture through the worker.
func (r *replayer) run() error {
	err := r.packets()
	r.Close()
	r.drain()
	return errors.Join(err, r.out.Err(), r.reports.Err())
}

func (r *replayer) packets() error {
	for {
		p, err := r.in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("packet %d: %w", r.in.Packets+1, err)
		}
		if err := r.packet(&p); err != nil {
			return fmt.Errorf("packet %d: %w", r.in.Packets, err)
		}
	}
}

// packet takes one packet through the worker, at its time.
func (r *replayer) packet(p *capture.Packet) error {
	if p.Link != layers.LinkTypeEthernet {
		return fmt.Errorf("link type %v, need Ethernet: split the capture by interface", p.Link)
	}
	got, ok := r.source.fetch()
	switch {
	case !ok:
		return errors.New(r.in.WhyUnread(p))
	case len(p.Data) > maxFrame:
		r.tooLong++
		r.source.skip()
		return nil
	case got < len(p.Data):
		r.clipped++
	case got > len(p.Data):
		return fmt.Errorf("DPDK's pcap driver delivers %d bytes of what is %d", got, len(p.Data))
	}
	r.passTo(p.At)
	r.Poll()
	r.drain()
	return nil
}

// warn says which packets did not go through as they stand in the capture.
func (r *replayer) warn(w io.Writer) {
	r.in.WarnPackets(w, r.tooLong, tooLong)
	r.in.WarnPackets(w, r.clipped, "are longer than the snap length in the capture's header and were read only up to it")
	r.in.WarnPackets(w, r.backwards, backwards)
}

// Why packets are not taken as they are.
const (
	tooLong   = "are longer than 65535 bytes, which DPDK cannot carry, and are left out"
	backwards = "have an earlier time than one before them and were given the latest time so far"
)

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

func (s *captureSink) Exchange(tx *mbuf.Vec, n int, _ *mbuf.Vec) (sent, received int) {
	return s.TxBurst(tx, n), 0
}
