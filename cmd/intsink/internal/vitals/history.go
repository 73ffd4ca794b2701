// What the history of counters is made of, each second.

package vitals

import (
	"time"

	"intsink/cmd/intsink/internal/status"
	"intsink/conf"
	"intsink/engine/burst"
	"intsink/engine/series"
)

// Counts are the history of counters.
func (s *Server) Counts() *series.Counts { return s.counts }

// Look implements part.Looks: it tells what is wrong with the sink itself, and takes up what its counters stand at.
func (s *Server) Look(j *status.Status) {
	now := time.Now()
	s.problems.Look("sink", j.Signs(s.Healthy(), s.behind(now)), now)
	s.Count(s.counts, j)
}

// Count takes up what the counters of the history stand at.
func (s *Server) Count(counts *series.Counts, j *status.Status) {
	now := j.Now.UnixNano()
	received := map[string]uint64{} // bytes, by port
	for i := range j.Ports {
		received[j.Ports[i].Name] = j.Ports[i].RxBytes
	}
	c := s.Config()
	for i := range j.Links {
		l := &j.Links[i]
		for _, d := range l.Directions {
			dropped := uint64(0)
			for reason, n := range d.Dropped {
				if reason != "tap" { // what a tap is for
					dropped += n
				}
			}
			counts.LookAtLink(now, l.Name, d.Direction, d.Received, received[portOf(c, l.Name, d.Direction)], dropped)
		}
	}
	var reports, packets, lost uint64
	for i := range j.Collectors {
		x := &j.Collectors[i]
		reports, packets = reports+x.Reports, packets+x.Packets
		for _, n := range x.Dropped {
			lost += n
		}
	}
	counts.Look(now, "reports", reports)
	counts.Look(now, "report_packets", packets)
	counts.Look(now, "report_packets_lost", lost)
	counts.Look(now, "loss_events", j.Events["loss"])
}

// portOf is the port that packets of a direction of a link, or tap, arrive at.
func portOf(c *conf.Config, link, direction string) string {
	for i := range c.Links {
		if l := &c.Links[i]; l.Name == link {
			if direction == burst.ToHost.String() {
				return l.Network
			}
			return l.Host
		}
	}
	for i := range c.Taps {
		if c.Taps[i].Name == link {
			return c.Taps[i].Port
		}
	}
	return ""
}
