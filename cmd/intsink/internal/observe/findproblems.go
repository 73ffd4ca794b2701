// Looks each second at what is wrong, and hands it to the list of problems; its metric.

package observe

import (
	"context"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/network"
	"intsink/cmd/intsink/internal/status"
	"intsink/cmd/intsink/internal/webhook"
	"intsink/conf"
	"intsink/engine/aside/inspect"
	"intsink/engine/burst"
)

// lookEvery is how often it is looked whether something is wrong.
const lookEvery = time.Second

// WatchProblems looks until done is closed.
func (s *Source) WatchProblems(done <-chan struct{}) {
	s.Live.Observe(network.Wanted, s.Network.Observe)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	episodes := uint64(0)
	for {
		j := s.status()
		s.Problems.Look("sink", j.Signs(s.healthy()), time.Now())
		s.count(j)
		s.Network.Missed(time.Unix(0, s.Clock()), missed(j))
		s.Network.Deaf(time.Unix(0, s.Clock()), down(j))
		episodes = s.tellEpisodes(episodes)
		s.lookAtNetwork()
		select {
		case <-done:
			return
		case <-tick.C:
		}
	}
}

// missed is how many packets the ports could not receive.
func missed(j *status.Status) (n uint64) {
	for i := range j.Ports {
		n += j.Ports[i].RxMissed + j.Ports[i].RxNoMbuf
	}
	return n
}

// down are the ports whose links are.
func down(j *status.Status) (all []string) {
	for i := range j.Ports {
		if p := &j.Ports[i]; p.LinkDown != "" {
			all = append(all, p.Name)
		}
	}
	return all
}

// lookPatience is how long the workers may take to tell what they know of the network; a list of flows that somebody asked
// for may take longer, and is waited for at the next look.
const lookPatience = 900 * time.Millisecond

// lookAtNetwork asks the workers. Where they do not answer, what was wrong stays so.
func (s *Source) lookAtNetwork() {
	s.Live.Sweep()
	ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
	defer cancel()
	known := s.known()
	questions, err := s.api.Tables(ctx, network.What)
	if err == nil {
		s.judge(questions, known)
	}
}

// count takes up what the counters of the history stand at.
func (s *Source) count(j *status.Status) {
	counts, now := s.Counts, j.Now.UnixNano()
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

// known is what all workers together know.
func (s *Source) known() *network.Known {
	if len(s.Workers) == 0 {
		return &network.Known{}
	}
	w, now := s.Workers[0], s.Clock()
	if s.WallClock != nil {
		now += s.WallClock()
	}
	return network.KnownBy(w, now)
}

// judge makes problems of what the workers told.
func (s *Source) judge(questions []*inspect.PendingQuery, known *network.Known) {
	now := time.Unix(0, s.Clock())
	s.Problems.Look("network", s.Network.Look(questions, known, now), now)
}

// addProblems adds how many problems of each kind there are now, and what became of telling others.
func (s *Source) addProblems(x *exposition) {
	now := map[problem.Kind]int{}
	if s.Problems != nil {
		now = s.Problems.Now()
	}
	for i := range problem.Kinds {
		k := problem.Kinds[i].Kind
		x.add("intsink_problems", uint64(now[k]), "kind", k)
	}
	if s.Hooks != nil {
		s.Hooks.Count(func(name string, r webhook.Result, n uint64) {
			x.add("intsink_notify_total", n, "name", name, "result", r)
		})
	}
}
