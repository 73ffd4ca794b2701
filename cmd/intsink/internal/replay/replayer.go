// replayer: takes each packet of a capture through the worker at its time, as far as the capture can be read;
// captureSink, the host side, writes OUT.

package replay

import (
	"errors"
	"fmt"
	"io"

	"github.com/gopacket/gopacket/layers"

	"intsink/cmd/internal/pcapfile"
	"intsink/cmd/intsink/internal/simulate"
	"intsink/conf"
	"intsink/dpdk/mbuf"
	"intsink/engine"
	"intsink/exporters/file"
)

// replayer takes the packets of a capture through a worker, one by one.
type replayer struct {
	*simulate.Worker
	source  *pcapPort
	in      *pcapfile.Reader
	timed   *simulate.Timed
	out     *file.Capture
	reports *file.Capture
	network *simulate.NetworkLook
	frames  []simulate.Frame // per collector

	tooLong  int   // packets that were left out
	short    error // why the packets from one on were not taken; nil: all were
	counters engine.Counters
}

func newReplayer(c *conf.Config, source *pcapPort, in *pcapfile.Reader, out, reports *file.Capture) *replayer {
	r := &replayer{source: source, in: in, timed: simulate.NewTimed(in), out: out, reports: reports}
	for i := range c.Collectors {
		r.frames = append(r.frames, simulate.FrameOf(&c.Collectors[i]))
	}
	r.Worker = simulate.New(c, simulate.Ports{
		Network: source, Host: (*captureSink)(r), Packets: source.pool, Reports: source.reportPool,
	}, func(s *simulate.SealedReport) { reports.WriteReport(r.frames[s.Collector].To(s.Handoff), s.Mbuf) })
	r.network = r.Watch(c)
	return r
}

// run takes every packet of the capture through the worker. Where a file has no room for more, the rest still
// counts for the answer.
func (r *replayer) run() {
	r.short = r.packets()
	r.Close()
	r.Drain()
}

func (r *replayer) packets() error {
	for {
		p, err := r.timed.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("packet %d: %w", r.timed.Packets+1, err)
		}
		if err := r.packet(&p); err != nil {
			return fmt.Errorf("packet %d: %w", r.timed.Packets, err)
		}
	}
}

// packet takes one packet through the worker, at its time.
func (r *replayer) packet(p *pcapfile.Packet) error {
	if p.Link != layers.LinkTypeEthernet {
		return pcapfile.NotEthernet(p.Link)
	}
	got, ok := r.source.fetch()
	switch {
	case !ok:
		return errors.New(r.in.WhyUnread(p))
	case len(p.Data) > simulate.MaxFrame:
		r.tooLong++
		r.source.skip()
		return nil
	case got != len(p.Data):
		return fmt.Errorf("DPDK's pcap driver delivers %d bytes of what is %d", got, len(p.Data))
	}
	r.Unmarked.Packet(p.Data)
	r.PassTo(p.At)
	r.Poll()
	r.Drain()
	return nil
}

// warn says which packets did not go through as they stand in the capture.
func (r *replayer) warn(w io.Writer) {
	r.in.WarnPackets(w, r.tooLong, simulate.TooLong)
	r.in.WarnPackets(w, r.Backwards, simulate.Backwards)
	r.timed.Warn(w)
}

// captureSink is the host side of the link: it writes what the worker
// transmits. DPDK's pcap driver is not used here because it stamps packets with
// the time of writing.
type captureSink replayer

func (s *captureSink) RxBurst(*mbuf.Vec) int { return 0 }

func (s *captureSink) TxBurst(v *mbuf.Vec, n int) int {
	for _, m := range v[:n] {
		s.out.Write(m.AppendTo(nil, m.PktLen()), s.Now)
	}
	s.source.pool.FreeBulk(v, n)
	return n
}

func (s *captureSink) Exchange(tx *mbuf.Vec, n int, _ *mbuf.Vec) (sent, received int) {
	return s.TxBurst(tx, n), 0
}
