// Planner: takes a capture through one worker, and counts events and reports second by second.

package plan

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gopacket/gopacket/layers"

	"intsink/cmd/internal/pcapfile"
	"intsink/cmd/intsink/internal/rules"
	"intsink/cmd/intsink/internal/simulate"
	"intsink/conf"
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/wire/report"
)

// planner takes a capture through one worker and counts, second by second.
type planner struct {
	*simulate.Worker
	conf    *conf.Config
	in      *pcapfile.Reader
	timed   *simulate.Timed
	port    *simulate.MemPort
	reports *mbuf.Arena

	start, end int64 // time of the first packet; end of the second at hand
	fired      [event.NumEvents]series
	reported   [event.NumEvents]series
	collectors []collectorSeries
	flows      uint64 // most in the table at the end of a second
	tooLong    int
	chart      bool      // timeline is asked for
	timeline   *timeline // nil before the first packet
}

type collectorSeries struct {
	reports, packets, bits series
	sentBits               uint64 // so far
}

// series is a counter whose growth in each second is looked at.
type series struct{ total, peak uint64 }

// next ends a second. The counter stands at total; next returns its growth within the second.
func (s *series) next(total uint64) uint64 {
	grown := total - s.total
	s.total, s.peak = total, max(s.peak, grown)
	return grown
}

func newPlanner(c *conf.Config, in *pcapfile.Reader, chart bool) (*planner, error) {
	p := &planner{conf: c, in: in, timed: simulate.NewTimed(in), chart: chart, collectors: make([]collectorSeries, len(c.Collectors))}
	var err1, err2 error
	p.port, err1 = simulate.NewMemPort()
	p.reports, err2 = mbuf.NewArena(simulate.ReportMbufs, rules.ReportRoom(c))
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	var headers []uint64
	for i := range c.Collectors {
		f := simulate.FrameOf(&c.Collectors[i])
		headers = append(headers, uint64(f.HeaderLen()))
	}
	p.Worker = simulate.New(c, simulate.Ports{
		Network: p.port, Host: simulate.SilentPort{MemPort: p.port}, Packets: p.port.Pool, Reports: p.reports,
	}, func(s *simulate.SealedReport) {
		_, payload := report.TakeHandoff(s.Mbuf.Bytes())
		p.collectors[s.Collector].sentBits += 8 * (headers[s.Collector] + uint64(len(payload)))
	})
	return p, nil
}

// run takes every packet of the capture through the worker.
func (p *planner) run() error {
	err := p.packets()
	p.Close()
	p.Drain()
	p.nextSecond()
	return err
}

func (p *planner) packets() error {
	for {
		c, err := p.timed.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("packet %d: %w", p.timed.Packets+1, err)
		}
		if c.Link != layers.LinkTypeEthernet {
			return fmt.Errorf("packet %d: %w", p.timed.Packets, pcapfile.NotEthernet(c.Link))
		}
		if len(c.Data) > simulate.MaxFrame {
			p.tooLong++
			continue
		}
		p.passSeconds(c.At)
		p.PassTo(c.At)
		p.port.Frame = c.Data
		p.Unmarked.Packet(c.Data)
		p.Poll()
		p.Drain()
	}
}

// passSeconds ends every second before at. Nothing happens in a long gap once all
// flows have ended in it.
func (p *planner) passSeconds(at int64) {
	if p.end == 0 {
		p.start, p.end = at, at+1e9
		if p.chart {
			p.timeline = newTimeline(at)
		}
	} else if p.chart && p.timeline.enters(p.Now, at) {
		p.note(p.Now)
	}
	last := p.Now
	for ; at-p.end >= 0; p.end += 1e9 { // a sum may overflow, this difference does not
		if p.end-last > p.Idle+simulate.EndLate {
			p.end += (at - p.end) / 1e9 * 1e9
			continue
		}
		p.PassTo(p.end)
		p.nextSecond()
	}
}

// note gives the timeline what happened until now.
func (p *planner) note(now int64) {
	p.Publish()
	c := p.Snapshot()
	p.timeline.note(now, &c)
}

// nextSecond ends a second: it adds the growth of each counter to its series.
func (p *planner) nextSecond() {
	if p.timeline != nil {
		p.note(min(p.Now, p.end-1))
	}
	p.Publish()
	c := p.Snapshot()
	for e := range p.fired {
		p.fired[e].next(c.Detector.Fired[e])
		p.reported[e].next(c.Reported[e])
	}
	for i := range p.collectors {
		s := &p.collectors[i]
		s.reports.next(c.Collectors[i].Reports)
		s.packets.next(c.Collectors[i].Packets)
		s.bits.next(s.sentBits)
	}
	p.flows = max(p.flows, c.Flows)
}

// close gives everything back.
func (p *planner) close() {
	p.Release()
	leaked := p.port.Pool.InUse() + p.reports.InUse()
	p.port.Pool.Close()
	p.reports.Close()
	simulate.WarnLeaked(os.Stderr, leaked)
}
