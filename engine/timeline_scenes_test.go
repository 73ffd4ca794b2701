package engine

import (
	"fmt"
	"net/netip"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
)

// documentedThresholds are the defaults of the profile dc.
func documentedThresholds() event.Thresholds {
	return event.Thresholds{
		NewFlowRate: 20000, Paths: 16, PathMemory: 60e9, PathRate: 10,
		Latency:         event.Deadband{Absolute: 10_000, Relative: 0.5, K: 2, N: 4, Interval: 100e6},
		EndToEnd:        event.Deadband{Absolute: 50_000, Relative: 0.5, K: 2, N: 4, Interval: 100e6},
		LinkLatency:     event.Deadband{Absolute: 10_000, Relative: 0.5, K: 2, N: 4, Interval: 1e9},
		CongestionQuota: 1000, CongestionTimeout: 1e9,
		TxRaise: 90, TxClear: 75, TxHold: 5e9,
		RefreshEvery: 2e9, RefreshJitter: 0.2,
		LossWindow: 1024, LossTimeout: 200e6, LossInterval: 1e9,
		DropInterval: 1e9, HopLimitRearm: 10e9, MTURearm: 10e9,
	}
}

// wants makes rules of one watch that asks for these events.
func wants(change func(*event.Thresholds), events ...event.Event) func(*Rules) {
	return func(r *Rules) {
		for _, e := range events {
			r.Watches[0].Policy.Events |= e.Set()
		}
		if change != nil {
			change(&r.Watches[0].Policy.Thresholds)
		}
	}
}

// of is a packet of flow n; change sets what its INT says.
func of(n int, change func(*intgen.Source, []intgen.Hop)) func(t *testing.T) []byte {
	return func(t *testing.T) []byte { return withINT(t, plain(n), change) }
}

// flowTokens are packets of flows a, b, c, ... at these times.
func flowTokens(at []float64, flows string) (steps []moment) {
	for i, letter := range flows {
		steps = append(steps, moment{at: at[i], frame: of(int(letter-'a')+1, nil), token: string(letter)})
	}
	return steps
}

// oneAfterTheOther are packets of one flow, each with one of values in its INT.
func oneAfterTheOther(at []float64, values []int, set func(*intgen.Source, []intgen.Hop, int)) (steps []moment) {
	for i, v := range values {
		steps = append(steps, moment{at: at[i], level: v, token: fmt.Sprint(v), frame: of(1, func(s *intgen.Source, h []intgen.Hop) { set(s, h, v) })})
	}
	return steps
}

// every is n times from first on, step apart.
func every(first, step float64, n int) (at []float64) {
	for i := range n {
		at = append(at, first+float64(i)*step)
	}
	return at
}

// lines are levels that are called as they are.
func lines(values ...int) (out []level) {
	for _, v := range values {
		out = append(out, level{at: v, name: fmt.Sprint(v)})
	}
	return out
}

func threshold(at int, name string) level {
	return level{at, fmt.Sprintf("%s %d", name, at), true}
}

var timelines = []timeline{
	{
		section: "new_flow", caption: "rate = 2", unit: 1e6, row: "flow", flows: true,
		rules: wants(func(t *event.Thresholds) { t.NewFlowRate = 2 }, event.NewFlow),
		steps: flowTokens([]float64{0, 1, 2, 3, 4, 400, 500, 501}, "abacbdec"),
	},
	{
		section: "path_change", caption: `paths = 16, memory = "60s", rate = 10, ecmp = "ignore"`, unit: 1e9, counted: event.PathSwitch,
		rules: wants(nil, event.PathChange), value: "path",
		levels: []level{{at: 3, name: "C"}, {at: 2, name: "B"}, {at: 1, name: "A"}},
		steps: oneAfterTheOther([]float64{0, 1, 2, 3, 4, 5, 6, 7, 30, 50, 66, 67}, []int{1, 1, 2, 2, 1, 1, 2, 3, 3, 3, 1, 3}, func(_ *intgen.Source, h []intgen.Hop, v int) {
			h[2].Egress = uint16(v)
		}),
	},
	{
		section: "hop_latency", caption: `absolute = "10us", relative = 0.5, k = 2, n = 4, interval = "100ms"`, unit: 1e6,
		rules: wants(nil, event.HopLatency), value: "us at node 102", levels: lines(60, 28, 20, 15),
		steps: oneAfterTheOther(append(every(0, 1, 10), 50, 101, 102, 107), []int{20, 28, 15, 60, 20, 60, 60, 20, 20, 20, 20, 20, 20, 20},
			func(_ *intgen.Source, h []intgen.Hop, v int) { h[1].LatencyNs = uint32(v) * 1000 }),
	},
	{
		section: "end_to_end", caption: `clock = "none", absolute = "50us", relative = 0.5, k = 2, n = 4, interval = "100ms"`, unit: 1e6,
		rules: wants(nil, event.EndToEnd), value: "us in all", levels: lines(210, 120, 90),
		steps: oneAfterTheOther(every(0, 1, 7), []int{90, 120, 90, 210, 210, 210, 210}, func(_ *intgen.Source, h []intgen.Hop, v int) {
			for i := range h {
				h[i].LatencyNs = uint32(v) * 1000 / 3
			}
		}),
	},
	{
		section: "link_latency", caption: `absolute = "10us", relative = 0.5, k = 2, n = 4, interval = "1s"`, unit: 1e6, flows: true,
		rules: wants(nil, event.LinkLatency), value: "us from 101 to 102", levels: lines(30, 5, -2), row: "flow",
		steps: links(every(0, 1, 8), []int{5, 5, 30, 5, 30, 30, -2, 30}, "abababab"),
	},
	{
		section: "congestion", caption: `raise = 8000, clear = 4000, quota = 4, timeout = "1s"`, unit: 1e6,
		rules: wants(func(t *event.Thresholds) { t.CongestionRaise, t.CongestionClear, t.CongestionQuota = 8000, 4000, 4 }, event.Congestion),
		value: "occupancy", levels: []level{{at: 9000, name: "9000"}, threshold(8000, "raise"), {at: 6000, name: "6000"}, threshold(4000, "clear"), {at: 100, name: "100"}},
		steps: oneAfterTheOther([]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 21, 1500, 1501}, []int{100, 6000, 8000, 9000, 6000, 9000, 9000, 9000, 6000, 4000, 6000, 8000, 6000, 9000},
			func(_ *intgen.Source, h []intgen.Hop, v int) { h[1].QueueOccupancy = uint32(v) }),
	},
	{
		section: "tx_utilization", caption: `raise = 90, clear = 75, hold = "5s"`, unit: 1e9,
		rules: wants(nil, event.TxUtilization), value: "percent", levels: []level{{at: 95, name: "95"}, threshold(90, "raise"), {at: 80, name: "80"}, threshold(75, "clear"), {at: 50, name: "50"}},
		steps: oneAfterTheOther(every(0, 1, 15), []int{50, 80, 95, 95, 80, 50, 95, 50, 75, 50, 50, 50, 50, 80, 95},
			func(_ *intgen.Source, h []intgen.Hop, v int) { h[1].TxUtilization = uint32(v) }),
	},
	{
		section: "refresh", caption: `every = "2s", jitter = 0, most = "8s"`, unit: 1e9, row: "packet",
		rules: wants(func(t *event.Thresholds) { t.RefreshJitter, t.RefreshMost = 0, 8e9 }, event.Refresh, event.HopLatency), steps: refreshes(),
	},
	{
		section: "sample", caption: `sample = 3, sample_by = "packet"`, unit: 1e6, row: "flow", flows: true,
		rules: func(r *Rules) { r.Watches[0].Policy.Sample = 3 }, steps: flowTokens(every(0, 1, 9), "aabaabbab"),
	},
	{
		section: "flow_end", caption: `flows { idle_timeout = "30s" }`, unit: 1e9, row: "flow", flows: true,
		rules: wants(nil, event.FlowEnd), steps: append(flowTokens([]float64{0, 1, 2, 3}, "aabb"), fin(3, 4), fin(3, 5), moment{at: 40}),
	},
	{
		section: "loss", caption: `window = 1024, timeout = "200ms", interval = "1s"`, unit: 1e6, row: "number",
		rules: func(r *Rules) {
			d := inthdr.Domain{ID: 7}
			d.Bits[0].Length, d.Bits[0].SourceOnly, d.Bits[0].Role = 4, true, inthdr.Sequence
			r.INT.Domains = []inthdr.Domain{d}
			wants(nil, event.Loss)(r)
		},
		steps: append(oneAfterTheOther([]float64{0, 1, 2, 3, 100, 250, 300, 301, 400, 600, 1300}, []int{1, 2, 4, 7, 5, 8, 8, 10, 12, 13, 14}, numbered), moment{at: 1500}),
	},
	{
		section: "drop", caption: `interval = "1s"`, unit: 1e6, row: "packet",
		rules: wants(nil, event.Drop), steps: refused(),
	},
	{
		section: "hop_limit", caption: `rearm = "10s"`, unit: 1e9, row: "E flag",
		rules: wants(nil, event.HopLimit), steps: flagged(func(s *intgen.Source) { s.HopExceeded = true }),
	},
	{
		section: "mtu_exceeded", caption: `rearm = "10s"`, unit: 1e9, row: "M flag",
		rules: wants(nil, event.MTUExceeded), steps: flagged(func(s *intgen.Source) { s.MTUExceeded = true }),
	},
	{
		section: "malformed", caption: `int { malformed = "drop" }`, unit: 1e6, row: "packet",
		rules: func(r *Rules) { wants(nil, event.Malformed, event.Drop)(r); r.DropMalformed = true }, steps: unsounds(),
	},
	{
		section: "leak", caption: "INT that hosts send", unit: 1e6, row: "packet",
		rules: wants(nil, event.Leak), steps: leaks(),
	},
	{
		section: "unknown_domain", caption: "int { domain \"known\" { id = 7 ... } }", unit: 1e6, row: "domain",
		rules: func(r *Rules) {
			d := inthdr.Domain{ID: 7}
			d.Bits[0].Length = 4
			r.INT.Domains = []inthdr.Domain{d}
			wants(nil, event.UnknownDomain)(r)
		},
		steps: oneAfterTheOther([]float64{0, 1, 2, 3, 500, 1001}, []int{7, 9, 9, 7, 8, 9}, func(s *intgen.Source, _ []intgen.Hop, v int) {
			s.DomainID, s.DSInstruction, s.DomainPerHop = uint16(v), 0x8000, 4
		}),
	},
}

// links are packets of flows whose way from node 101 to node 102 takes so long.
func links(at []float64, us []int, flows string) (steps []moment) {
	for i, v := range us {
		steps = append(steps, moment{at: at[i], level: v, token: flows[i : i+1], frame: of(int(flows[i]-'a')+1, func(s *intgen.Source, h []intgen.Hop) {
			s.Bitmap = report.MdIngressTimestamp | report.MdEgressTimestamp | 0xe000
			for j := range h {
				h[j].IngressTimestamp = uint64(1_000_000 - 100_000*j)
				h[j].EgressTimestamp = h[j].IngressTimestamp + 1000
			}
			h[0].IngressTimestamp = h[1].EgressTimestamp
			h[1].IngressTimestamp = uint64(int(h[2].EgressTimestamp) + v*1000)
		})})
	}
	return steps
}

// refreshes returns packets of a flow, whose latency is another one from 7 s on.
func refreshes() []moment {
	steps := oneAfterTheOther(every(0, 1, 27), make([]int, 27), func(_ *intgen.Source, h []intgen.Hop, v int) { h[1].LatencyNs = 10_000 })
	for i := range steps {
		if steps[i].token = "."; i >= 7 {
			steps[i].token, steps[i].frame = "!", of(1, func(_ *intgen.Source, h []intgen.Hop) { h[1].LatencyNs = 90_000 })
		}
	}
	return steps
}

// fin is a TCP packet of flow n with FIN.
func fin(n int, at float64) moment {
	return moment{at: at, token: string(rune('a' + n - 1)), frame: func(t *testing.T) []byte {
		f := intgen.Flow{
			Src: address(10, 0, 0, byte(n)), Dst: address(10, 1, 0, 1), Proto: intgen.TCP, SrcPort: 1024, DstPort: 80,
		}
		frame := f.Frame(0, 1)
		frame[14+20+13] |= 1
		out, err := (&intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}).Insert(frame, []intgen.Hop{{NodeID: 101, LatencyNs: 1000}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}}
}

// numbered gives a packet its sequence number.
func numbered(s *intgen.Source, _ []intgen.Hop, v int) {
	s.DomainID, s.DSInstruction, s.SourceOnly = 7, 0x8000, []byte{0, 0, 0, byte(v)}
}

// refused are packets, x those that the host's port has no room for.
func refused() (steps []moment) {
	for i, at := range []float64{0, 1, 2, 3, 4, 500, 1100, 1101} {
		m := moment{at: at, frame: of(1, nil), token: "."}
		if i > 0 && i != 4 {
			m.token, m.full = "x", true
		}
		steps = append(steps, m)
	}
	return steps
}

// flagged are packets, 1 those with a flag.
func flagged(set func(*intgen.Source)) (steps []moment) {
	for i, at := range []float64{0, 1, 2, 3, 8, 15, 26, 27} {
		m := moment{at: at, frame: of(1, nil), token: "0"}
		if i != 0 && i != 3 {
			m.token, m.frame = "1", of(1, func(s *intgen.Source, _ []intgen.Hop) { set(s) })
		}
		steps = append(steps, m)
	}
	return steps
}

// unsounds returns packets; those marked x have an INT type that does not exist.
func unsounds() (steps []moment) {
	for i, at := range []float64{0, 1, 2, 3, 500, 1002} {
		m := moment{at: at, frame: of(1, nil), token: "."}
		if i != 0 && i != 3 {
			m.token, m.frame = "x", func(t *testing.T) []byte {
				f := withINT(t, plain(1), nil)
				f[42] |= 0xc0
				return f
			}
		}
		steps = append(steps, m)
	}
	return steps
}

// leaks are packets from the host's side, x those with INT.
func leaks() (steps []moment) {
	for i, at := range []float64{0, 1, 2, 3, 1002} {
		m := moment{at: at, frame: func(*testing.T) []byte { return plain(1) }, token: ".", fromHost: true}
		if i != 0 && i != 3 {
			m.token, m.frame = "x", of(1, nil)
		}
		steps = append(steps, m)
	}
	return steps
}

func address(a, b, c, d byte) netip.Addr { return netip.AddrFrom4([4]byte{a, b, c, d}) }
