// Fills the structs of package status (/api/v1/status) from counters of links, workers,
// collectors, ports.

package vitals

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/status"
	"intsink/conf"
	"intsink/engine"
	"intsink/engine/aside/inspect"
	"intsink/engine/aside/verify"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/wire/inthdr"
	"intsink/exporters"
)

// Status reads everything once, so that the numbers of one answer add up.
func (s *Server) Status() *status.Status {
	exported := s.exported() // before the workers' counters, as in addCollectors
	return s.statusOf(s.snapshots(), exported)
}

// statusOf returns the status made of counters that were read already.
func (s *Server) statusOf(snapshots []engine.Counters, exported []exported) *status.Status {
	c := s.Config()
	j := &status.Status{
		Now: time.Unix(0, s.Clock()).UTC(), Started: s.Started.UTC(), Version: s.Version, Node: c.Node.ID, Ready: "ok", Socket: c.HTTP.SocketPath(os.Getenv),
		Mbufs: s.Mbufs.Size(), MbufsInUse: s.Mbufs.InUse(),
		Events: map[string]uint64{}, Suppressed: map[string]uint64{}, Lacking: map[string]uint64{},
		Degraded: []status.Degraded{}, Writes: []status.Write{}, Links: []status.Link{}, Collectors: []status.Collector{}, Workers: []status.Worker{}, Ports: []status.Port{}, Replaced: replaced(),
	}
	if err := s.Ready(); err != nil {
		j.Ready = err.Error()
	}
	for _, f := range s.Fills {
		f.Fill(j)
	}
	for _, d := range s.Degraded.List() {
		j.Degraded = append(j.Degraded, status.Degraded{Part: d.Part, Name: d.Name, Since: d.Since.UTC(), Why: d.Why})
	}
	s.statusOfLinks(j, snapshots)
	s.oddValues(j)
	s.statusOfCollectors(j, snapshots, exported)
	s.statusOfPorts(j)
	for i := range snapshots {
		for e := range event.NumEvents {
			j.Events[event.Event(e).String()] += snapshots[i].Detector.Fired[e]
			for _, n := range snapshots[i].Detector.Suppressed[e] {
				j.Suppressed[event.Event(e).String()] += n
			}
		}
		j.ClockSkew += snapshots[i].Detector.ClockSkew + snapshots[i].Detector.WaySkew
		j.WaySkew += snapshots[i].Detector.WaySkew
		for v, n := range snapshots[i].Detector.Lacking {
			if n > 0 {
				j.Lacking[event.Lacking(v).String()] += n
			}
		}
		j.Workers = append(j.Workers, s.statusOfWorker(i, &snapshots[i]))
	}
	return j
}

func (s *Server) statusOfLinks(j *status.Status, snapshots []engine.Counters) {
	for i, name := range s.Links {
		var sum engine.LinkCounters
		for w := range snapshots {
			sum.Add(&snapshots[w].Links[i])
		}
		l := status.Link{Name: name, Kind: "link", INT: map[string]uint64{}, Malformed: map[string]uint64{}, Leaked: sum.ToNetwork.Leaked, ECNMarked: sum.Marked, LastBad: s.lastBad(i)}
		if i >= len(s.Config().Links) {
			l.Kind = "tap"
		}
		for d := range burst.NumDirections {
			if l.Kind == "tap" && d == burst.ToNetwork {
				continue // nothing comes from the other side of a tap
			}
			c := &sum.Direction[d]
			l.Directions = append(l.Directions, status.Direction{
				Direction: fmt.Sprint(d), Received: c.Received, Forwarded: c.Forwarded,
				Dropped: byName(c.Dropped[:], func(r int) string { return burst.DropReason(r).String() }),
			})
		}
		for t, n := range sum.INT {
			if inthdr.Type(t).Known() {
				l.INT[inthdr.Type(t).String()] = n
			}
		}
		for r, n := range sum.Malformed {
			if r > 0 {
				l.Malformed[inthdr.Reason(r).String()] = n
			}
		}
		l.NoLayout = sum.NoLayout()
		l.Marked = byName(sum.ToNetwork.Marked[:], func(a int) string { return tonetwork.MarkAction(a).String() })
		l.Verified = byName(sum.Verify.Verified[:], func(v int) string { return verify.Result(v).String() })
		j.Links = append(j.Links, l)
	}
}

// oddValues are those of all workers, the node with most first.
func (s *Server) oddValues(j *status.Status) {
	j.OddValues = []status.OddValues{}
	all, packets := map[uint32]uint64{}, uint64(0)
	for _, w := range s.Workers {
		for node, n := range w.OddValues().All {
			all[node] += n
		}
	}
	for i := range j.Links {
		packets += j.Links[i].INT[inthdr.IFA.String()]
	}
	for node, n := range all {
		j.OddValues = append(j.OddValues, status.OddValues{Node: node, Hops: n, Share: min(float64(n)/float64(max(packets, 1)), 1)})
	}
	slices.SortFunc(j.OddValues, func(a, b status.OddValues) int {
		return cmp.Or(cmp.Compare(b.Hops, a.Hops), cmp.Compare(a.Node, b.Node))
	})
}

// lastBad is the last packet of a link that verification found bad, on any worker.
func (s *Server) lastBad(link int) (last *status.BadPacket) {
	for _, w := range s.Workers {
		b := w.Verification.LastBad()
		at := time.Unix(0, b.Time).UTC()
		if b.Time != 0 && b.Link == link && (last == nil || at.After(last.Time)) {
			last = &status.BadPacket{Time: at, Flow: inspect.FlowID(&b.Flow)}
		}
	}
	return last
}

func (s *Server) statusOfCollectors(j *status.Status, snapshots []engine.Counters, exported []exported) {
	configured := s.Config().Collectors
	var open []*problem.Problem
	if s.Open != nil {
		open = s.Open()
	}
	for i := range exported {
		c, sum := &exported[i], sealed(snapshots, exported[i].Name)
		x := status.Collector{
			Name: c.Name, Reports: sum.Reports, Packets: sum.Packets, PacketsSent: min(c.Counters.Packets, sum.Packets), BytesSent: c.Bytes,
			Dropped: byName(sum.Dropped[:], func(r int) string { return reporting.DropReason(r).String() }),
			Shed:    byName(sum.Shed[:], func(e int) string { return event.Event(e).String() }),
		}
		for r, n := range c.Counters.Dropped {
			x.Dropped[exporters.DropReason(r).String()] = n
		}
		if at := slices.IndexFunc(configured, func(k conf.Collector) bool { return k.Name == c.Name }); at >= 0 {
			x.Address = configured[at].Endpoint()
			b := &configured[at].Budget
			x.BudgetPackets, x.BudgetBits, x.BudgetReports = b.Packets, b.Bits, b.Reports
		}
		if c.Gateway != nil {
			known := c.Gateway.Resolved()
			x.GatewayKnown = &known
		}
		x.Losing = status.LosingOf(c.Name, open)
		j.Collectors = append(j.Collectors, x)
	}
}

func (s *Server) statusOfWorker(i int, c *engine.Counters) status.Worker {
	x := status.Worker{
		Name: fmt.Sprintf("w%d", i), Flows: c.Flows, FlowCapacity: s.Config().Flows.Places(), Evictions: c.Evictions, Refusals: c.Refused,
		LongestPollGapNs: int64(c.Pace.LongestNs), RefreshStretch: float64(c.Stretch) / 100,
		PollGapsOver: byName(c.Pace.Over[:], func(g int) string { return time.Duration(engine.LongGaps[g]).String() }),
	}
	if lcores := s.Config().DPDK.Lcores; i < len(lcores) {
		x.Lcore = lcores[i]
	}
	return x
}

func (s *Server) statusOfPorts(j *status.Status) {
	configured := s.Config().Ports
	for i, p := range s.Ports {
		c, _ := p.Device.Counters() // zeros where the driver cannot say, the last ones where it does not answer
		x := status.Port{
			Name: p.Name, LinkDown: p.Device.LinkDown(), LinkChanges: p.Device.LinkChanges(), RxPackets: c.RxPackets, TxPackets: c.TxPackets, RxBytes: c.RxBytes, TxBytes: c.TxBytes,
			RxMissed: c.RxMissed, RxErrors: c.RxErrors, TxErrors: c.TxErrors, RxNoMbuf: c.RxNoMbuf, RxTruncated: c.RxTruncated,
		}
		for _, n := range c.RxUncut {
			x.RxUncut += n
		}
		x.LinkUp = x.LinkDown == ""
		if i < len(configured) {
			x.Device = configured[i].Device
		}
		j.Ports = append(j.Ports, x)
	}
}

// byName makes an object of counters that a closed list of names indexes.
func byName(counters []uint64, name func(int) string) map[string]uint64 {
	m := make(map[string]uint64, len(counters))
	for i, n := range counters {
		m[name(i)] = n
	}
	return m
}

// replaced tells whether the program's file was replaced or removed since it was started: an upgrade does so, and leaves
// the old version running.
func replaced() bool {
	path, err := os.Readlink("/proc/self/exe")
	return err == nil && strings.HasSuffix(path, " (deleted)")
}
