package truth

import "time"

// Names of events, as the configuration has them.
const (
	NewFlow       = "new_flow"
	PathChange    = "path_change"
	PathSwitch    = "path_switch" // beside PathChange: the flow is sprayed
	HopLatency    = "hop_latency"
	EndToEnd      = "end_to_end"
	LinkLatency   = "link_latency"
	Congestion    = "congestion"
	TxUtilization = "tx_utilization"
	Refresh       = "refresh"
	Sample        = "sample"
	FlowEnd       = "flow_end"
	Loss          = "loss"
	HopLimit      = "hop_limit"
	MTUExceeded   = "mtu_exceeded"
	Drop          = "drop"
	Malformed     = "malformed"
	Leak          = "leak"
	UnknownDomain = "unknown_domain"
)

// Classes are all events that scenes plant.
var Classes = []string{NewFlow, PathChange, HopLatency, EndToEnd, LinkLatency, Congestion, TxUtilization,
	Refresh, Sample, FlowEnd, Loss, HopLimit, MTUExceeded, Drop, Malformed, Leak, UnknownDomain}

// Latency is the deadband of one latency event.
type Latency struct {
	Absolute, Relative float64 // nanoseconds; of the reference
	K, N               int
	Interval           time.Duration
}

// Policy holds the events that one watch asks for, with the thresholds of docs/configuration.md.
type Policy struct {
	Name         string
	Events       []string // all events except Sample
	Sample       int      // one packet in so many is sampled or, with SampleByFlow, one flow
	SampleByFlow bool

	NewFlowRate int64

	Paths      int
	PathMemory time.Duration
	PathRate   int64
	ReportECMP bool

	HopLatency, EndToEnd, LinkLatency Latency
	PTP                               bool // clock of end_to_end
	ClockOffset                       time.Duration

	CongestionRaise, CongestionClear int
	CongestionRaiseLatency           time.Duration
	CongestionQuota                  int
	CongestionTimeout                time.Duration

	TxRaise, TxClear int
	TxHold           time.Duration

	RefreshEvery  time.Duration
	RefreshJitter float64
	RefreshMost   time.Duration

	LossWindow                int
	LossTimeout, LossInterval time.Duration

	DropInterval time.Duration

	HopLimitRearm, MTURearm time.Duration
}

// Watches of the test. A flow's destination address decides which one selects it.
const (
	WatchDC      = iota // every event, profile dc
	WatchWAN            // profile wan, ecmp = "report", refresh without jitter
	WatchPTP            // end_to_end by clocks; congestion by latency
	WatchPackets        // sample = 16
	WatchFlows          // sample = 4, sample_by = "flow"
	WatchEnds           // events = ["new_flow", "flow_end"]
	NumWatches
)

// ClockOffset is by how much the sink of WatchPTP is ahead of the nodes.
const ClockOffset = 3 * time.Millisecond

// Policies returns the policies of the watches; rate is the rate of new_flow.
func Policies(rate int64) [NumWatches]Policy {
	latency := func(absolute time.Duration) Latency {
		return Latency{Absolute: float64(absolute), Relative: 0.5, K: 2, N: 4, Interval: 100 * time.Millisecond}
	}
	link := latency(10 * time.Microsecond)
	link.Interval = time.Second
	dc := Policy{
		Name: "dc", Events: Classes, NewFlowRate: rate,
		Paths: 4, PathMemory: time.Minute, PathRate: 10,
		HopLatency: latency(10 * time.Microsecond), EndToEnd: latency(50 * time.Microsecond), LinkLatency: link,
		CongestionRaise: 8000, CongestionClear: 4000, CongestionQuota: 5, CongestionTimeout: time.Second,
		TxRaise: 90, TxClear: 75, TxHold: 5 * time.Second,
		RefreshEvery: 2 * time.Second, RefreshJitter: 0.2,
		LossWindow: 1024, LossTimeout: 200 * time.Millisecond, LossInterval: time.Second,
		DropInterval:  time.Second,
		HopLimitRearm: 10 * time.Second, MTURearm: 10 * time.Second,
	}
	wan := dc
	wan.Name, wan.ReportECMP, wan.RefreshJitter = "wan", true, 0
	for _, l := range []*Latency{&wan.HopLatency, &wan.EndToEnd} {
		l.Relative, l.K, l.N = 0.25, 3, 8
	}
	wan.HopLatency.Absolute, wan.EndToEnd.Absolute = 100e3, 1e6
	wan.TxHold = 200 * time.Millisecond
	wan.CongestionRaiseLatency = 2 * time.Millisecond // besides raise
	ptp := dc
	ptp.Name, ptp.PTP, ptp.ClockOffset, ptp.Paths = "ptp", true, ClockOffset, 16
	wan.RefreshMost, ptp.RefreshMost = 15*time.Second, 9*time.Second
	ptp.CongestionRaise, ptp.CongestionRaiseLatency = 0, 500*time.Microsecond
	packets, flows := dc, dc
	packets.Name, packets.Sample = "packets", 16
	flows.Name, flows.Sample, flows.SampleByFlow = "flows", 4, true
	ends := dc
	ends.Name, ends.Events = "ends", []string{NewFlow, FlowEnd}
	return [NumWatches]Policy{WatchEnds: ends, WatchDC: dc, WatchWAN: wan, WatchPTP: ptp, WatchPackets: packets, WatchFlows: flows}
}
