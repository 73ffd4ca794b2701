package observe

import (
	"fmt"
	"time"

	"intsink/engine"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/exporters"
)

// statusJSON is the answer of GET /api/v1/status: the counters of /metrics in one tree,
// with what the configuration says of the parts that they belong to.
type statusJSON struct {
	Now        time.Time         `json:"now"`
	Started    time.Time         `json:"started"`
	Version    string            `json:"version"`
	Node       uint32            `json:"node"`
	Ready      string            `json:"ready"` // "ok", or why not
	Links      []linkJSON        `json:"links"`
	Events     map[string]uint64 `json:"events"`     // entered, reported or not
	Suppressed map[string]uint64 `json:"suppressed"` // withheld by a rate, an interval or a quota
	Collectors []collectorJSON   `json:"collectors"`
	Workers    []workerJSON      `json:"workers"`
	Ports      []portJSON        `json:"ports"`
	Mbufs      int               `json:"mbufs"`
	MbufsInUse int               `json:"mbufs_in_use"`
}

type linkJSON struct {
	Name       string            `json:"name"`
	Kind       string            `json:"kind"` // "link" or "tap"
	Directions []directionJSON   `json:"directions"`
	INT        map[string]uint64 `json:"int"`
	Malformed  map[string]uint64 `json:"malformed"`
	Leaked     uint64            `json:"leaked"`
}

type directionJSON struct {
	Direction string            `json:"direction"`
	Received  uint64            `json:"received"`
	Forwarded uint64            `json:"forwarded"`
	Dropped   map[string]uint64 `json:"dropped"`
}

type collectorJSON struct {
	Name          string            `json:"name"`
	Address       string            `json:"address"`
	Reports       uint64            `json:"reports"`
	Packets       uint64            `json:"packets"`
	PacketsSent   uint64            `json:"packets_sent"`
	BytesSent     uint64            `json:"bytes_sent"`
	Dropped       map[string]uint64 `json:"dropped"`
	Shed          map[string]uint64 `json:"shed"`
	BudgetPackets uint64            `json:"budget_packets"` // per second; 0: no limit
	BudgetBits    uint64            `json:"budget_bits"`
	GatewayKnown  *bool             `json:"gateway_known"` // null: the kernel sends
}

type workerJSON struct {
	Name          string            `json:"name"`
	Lcore         int               `json:"lcore"`
	Flows         uint64            `json:"flows"`
	FlowCapacity  int               `json:"flow_capacity"`
	Evictions     uint64            `json:"evictions"`
	Refusals      uint64            `json:"refusals"`
	LongestGapNs  int64             `json:"longest_poll_gap_ns"`
	GapsOver      map[string]uint64 `json:"poll_gaps_over"`
	RefreshFactor float64           `json:"refresh_stretch"` // 1: as configured
}

type portJSON struct {
	Name        string `json:"name"`
	Device      string `json:"device"`
	LinkUp      bool   `json:"link_up"`
	LinkDown    string `json:"link_down,omitempty"` // what is wrong with it
	LinkChanges uint64 `json:"link_changes"`
	RxPackets   uint64 `json:"rx_packets"`
	TxPackets   uint64 `json:"tx_packets"`
	RxBytes     uint64 `json:"rx_bytes"`
	TxBytes     uint64 `json:"tx_bytes"`
	RxMissed    uint64 `json:"rx_missed"`
	RxErrors    uint64 `json:"rx_errors"`
	TxErrors    uint64 `json:"tx_errors"`
	RxNoMbuf    uint64 `json:"rx_nombuf"`
	RxTruncated uint64 `json:"rx_truncated"`
}

// status reads everything once, so that the numbers of one answer add up.
func (s *Source) status() *statusJSON {
	exported := s.exported() // before the workers' counters, as in addCollectors
	snapshots := make([]engine.Counters, len(s.Workers))
	for i, worker := range s.Workers {
		snapshots[i] = worker.Snapshot()
	}
	return s.statusOf(snapshots, exported)
}

// statusOf is status for what has been read.
func (s *Source) statusOf(snapshots []engine.Counters, exported []exporters.Counters) *statusJSON {
	c := s.Config()
	j := &statusJSON{
		Now: time.Unix(0, s.Clock()).UTC(), Started: s.Started.UTC(), Version: s.Version, Node: c.Node.ID, Ready: "ok",
		Mbufs: s.Mbufs.Size(), MbufsInUse: s.Mbufs.InUse(),
		Events: map[string]uint64{}, Suppressed: map[string]uint64{},
		Links: []linkJSON{}, Collectors: []collectorJSON{}, Workers: []workerJSON{}, Ports: []portJSON{},
	}
	if err := s.ready(); err != nil {
		j.Ready = err.Error()
	}
	s.statusOfLinks(j, snapshots)
	s.statusOfCollectors(j, snapshots, exported)
	s.statusOfPorts(j)
	for i := range snapshots {
		for e := range event.NumEvents {
			j.Events[event.Event(e).String()] += snapshots[i].Detector.Fired[e]
			for _, n := range snapshots[i].Detector.Suppressed[e] {
				j.Suppressed[event.Event(e).String()] += n
			}
		}
		j.Workers = append(j.Workers, s.statusOfWorker(i, &snapshots[i]))
	}
	return j
}

func (s *Source) statusOfLinks(j *statusJSON, snapshots []engine.Counters) {
	for i, name := range s.Links {
		var sum engine.LinkCounters
		for w := range snapshots {
			sum.Add(&snapshots[w].Links[i])
		}
		l := linkJSON{Name: name, Kind: "link", INT: map[string]uint64{}, Malformed: map[string]uint64{}, Leaked: sum.Leaked}
		if i >= len(s.Config().Links) {
			l.Kind = "tap"
		}
		for d := range engine.NumDirections {
			if l.Kind == "tap" && d == engine.ToNetwork {
				continue // nothing comes from the other side of a tap
			}
			c := &sum.Direction[d]
			l.Directions = append(l.Directions, directionJSON{
				fmt.Sprint(d), c.Received, c.Forwarded, byName(c.Dropped[:], func(r int) string { return engine.DropReason(r).String() }),
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
		j.Links = append(j.Links, l)
	}
}

func (s *Source) statusOfCollectors(j *statusJSON, snapshots []engine.Counters, exported []exporters.Counters) {
	configured := s.Config().Collectors
	for i, c := range s.Collectors {
		var sum engine.CollectorCounters
		for w := range snapshots {
			sum.Add(&snapshots[w].Collectors[i])
		}
		x := collectorJSON{
			Name: c.Name, Reports: sum.Reports, Packets: sum.Packets, PacketsSent: min(exported[i].Packets, sum.Packets), BytesSent: exported[i].Bytes,
			Dropped: byName(sum.Dropped[:], func(r int) string { return engine.ReportDropReason(r).String() }),
			Shed:    byName(sum.Shed[:], func(e int) string { return event.Event(e).String() }),
		}
		for r, n := range exported[i].Dropped {
			x.Dropped[exporters.DropReason(r).String()] = n
		}
		if i < len(configured) {
			x.Address = configured[i].Address.String()
			x.BudgetPackets, x.BudgetBits = configured[i].Budget.Packets, configured[i].Budget.Bits
		}
		if c.Gateway != nil {
			known := c.Gateway.Resolved()
			x.GatewayKnown = &known
		}
		j.Collectors = append(j.Collectors, x)
	}
}

func (s *Source) statusOfWorker(i int, c *engine.Counters) workerJSON {
	x := workerJSON{
		Name: fmt.Sprintf("w%d", i), Flows: c.Flows, FlowCapacity: s.Config().Flows.Capacity, Evictions: c.Evictions, Refusals: c.Refused,
		LongestGapNs: int64(c.Pace.LongestNs), RefreshFactor: float64(c.Stretch) / 100,
		GapsOver: byName(c.Pace.Over[:], func(g int) string { return time.Duration(engine.LongGaps[g]).String() }),
	}
	if lcores := s.Config().DPDK.Lcores; i < len(lcores) {
		x.Lcore = lcores[i]
	}
	return x
}

func (s *Source) statusOfPorts(j *statusJSON) {
	configured := s.Config().Ports
	for i, p := range s.Ports {
		c, _ := p.Device.Counters() // zeros where the driver cannot say
		x := portJSON{
			Name: p.Name, LinkDown: p.Device.LinkDown(), LinkChanges: p.Device.LinkChanges(), RxPackets: c.RxPackets, TxPackets: c.TxPackets, RxBytes: c.RxBytes, TxBytes: c.TxBytes,
			RxMissed: c.RxMissed, RxErrors: c.RxErrors, TxErrors: c.TxErrors, RxNoMbuf: c.RxNoMbuf, RxTruncated: c.RxTruncated,
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
