package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/gopacket/gopacket/layers"

	"intsink/conf"
	"intsink/dpdk/mbuf"
	"intsink/exporters/file"
)

// replayer takes the packets of a capture through a worker, one by one.
type replayer struct {
	*replayWorker
	source  *pcapPort
	in      *captureReader
	out     *file.Capture
	reports *file.Capture
	frames  []replayedFrame // per collector

	tooLong, clipped int // packets that were not taken as they are
}

func newReplayer(c *conf.Config, source *pcapPort, in *captureReader, out, reports *file.Capture) *replayer {
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
	r.Poll()
	r.drain()
	return nil
}

// warn says which packets did not go through as they stand in the capture.
func (r *replayer) warn(w io.Writer) {
	warnTaken(w, r.in, []taken{
		{r.tooLong, "are longer than 65535 bytes, which DPDK cannot carry, and are left out"},
		{r.clipped, "are longer than the snap length in the capture's header and were read only up to it"},
		{r.backwards, "have an earlier time than one before them and were given the latest time so far"},
	})
}

// taken is a number of packets that did not go through as they stand in the capture.
type taken struct {
	n    int
	text string
}

func warnTaken(w io.Writer, in *captureReader, all []taken) {
	for _, t := range all {
		if t.n > 0 {
			fmt.Fprintf(w, "warning: %s: %d of %d packets %s\n", in.path, t.n, in.packets, t.text)
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

func (s *captureSink) Exchange(tx *mbuf.Vec, n int, _ *mbuf.Vec) (sent, received int) {
	return s.TxBurst(tx, n), 0
}
