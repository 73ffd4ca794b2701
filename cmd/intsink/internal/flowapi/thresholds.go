// Fills the thresholds of a watch as JSON (of one flow's answer).

package flowapi

import "intsink/engine/event"

// ThresholdsItem are the thresholds of a watch, by event.
type ThresholdsItem struct {
	NewFlow struct {
		Rate           int   `json:"rate_per_second"`
		AfterRestartNs int64 `json:"after_restart_ns"`
	} `json:"new_flow"`
	PathChange struct {
		Paths    int   `json:"paths"`
		MemoryNs int64 `json:"memory_ns"`
		Rate     int   `json:"rate_per_second"`
		Known    bool  `json:"report_known"`
	} `json:"path_change"`
	HopLatency  DeadbandItem `json:"hop_latency"`
	EndToEnd    DeadbandItem `json:"end_to_end"`
	LinkLatency DeadbandItem `json:"link_latency"`
	Congestion  struct {
		Raise          uint32 `json:"raise"`
		Clear          uint32 `json:"clear"`
		RaiseLatencyNs uint32 `json:"raise_latency_ns"`
		Factor         uint32 `json:"factor,omitempty"` // times what is usual; raise_latency_ns is the floor
		Quota          int    `json:"quota"`
		TimeoutNs      int64  `json:"timeout_ns"`
	} `json:"congestion"`
	TxUtilization struct {
		Raise  uint32 `json:"raise"`
		Clear  uint32 `json:"clear"`
		HoldNs int64  `json:"hold_ns"`
		Auto   bool   `json:"auto,omitempty"` // by samples, of nodes whose unit is known; raise and clear are per cent
	} `json:"tx_utilization"`
	Refresh struct {
		EveryNs int64   `json:"every_ns"`
		Jitter  float64 `json:"jitter"`
		MostNs  int64   `json:"most_ns"`
	} `json:"refresh"`
	Sample struct {
		OneIn  uint32 `json:"one_in"`
		ByFlow bool   `json:"by_flow"`
	} `json:"sample"`
	Loss struct {
		Window     int   `json:"window"`
		TimeoutNs  int64 `json:"timeout_ns"`
		IntervalNs int64 `json:"interval_ns"`
	} `json:"loss"`
	Drop struct {
		IntervalNs int64 `json:"interval_ns"`
	} `json:"drop"`
	HopLimit struct {
		RearmNs int64 `json:"rearm_ns"`
	} `json:"hop_limit"`
	MTUExceeded struct {
		RearmNs int64 `json:"rearm_ns"`
	} `json:"mtu_exceeded"`
}

// DeadbandItem is a deadband in force: how far, and how often, a value has to be off.
type DeadbandItem struct {
	AbsoluteNs uint32  `json:"absolute_ns"`
	Auto       bool    `json:"auto,omitempty"` // of link_latency: held against what is usual, at most one report in interval_ns that it is worse
	Relative   float64 `json:"relative"`
	K          int     `json:"k"`
	N          int     `json:"n"`
	IntervalNs int64   `json:"interval_ns"`

	Clock         string `json:"clock,omitempty"` // this and the next are of end_to_end
	ClockOffsetNs int64  `json:"clock_offset_ns,omitempty"`
}

func newDeadbandItem(b *event.Deadband) DeadbandItem {
	return DeadbandItem{AbsoluteNs: b.Absolute, Relative: b.Relative, K: b.K, N: b.N, IntervalNs: b.Interval}
}

func newThresholdsItem(p *event.Policy) *ThresholdsItem {
	t, x := &p.Thresholds, &ThresholdsItem{}
	x.NewFlow.Rate, x.NewFlow.AfterRestartNs = t.NewFlowRate, t.NewFlowAfter
	x.PathChange.Paths, x.PathChange.MemoryNs, x.PathChange.Rate, x.PathChange.Known = t.Paths, t.PathMemory, t.PathRate, t.ReportKnown
	x.HopLatency, x.EndToEnd, x.LinkLatency = newDeadbandItem(&t.Latency), newDeadbandItem(&t.EndToEnd), newDeadbandItem(&t.LinkLatency)
	x.LinkLatency.Auto = t.LinkAuto
	x.EndToEnd.Clock = "none"
	if t.PTP {
		x.EndToEnd.Clock = "ptp"
	}
	x.EndToEnd.ClockOffsetNs = t.ClockOffset
	x.Congestion.Raise, x.Congestion.Clear, x.Congestion.RaiseLatencyNs = t.CongestionRaise, t.CongestionClear, t.CongestionLatency
	x.Congestion.Factor = t.CongestionFactor
	x.Congestion.Quota, x.Congestion.TimeoutNs = t.CongestionQuota, t.CongestionTimeout
	x.TxUtilization.Raise, x.TxUtilization.Clear, x.TxUtilization.HoldNs = t.TxRaise, t.TxClear, t.TxHold
	x.TxUtilization.Auto = t.TxAuto
	x.Refresh.EveryNs, x.Refresh.Jitter, x.Refresh.MostNs = t.RefreshEvery, t.RefreshJitter, max(t.RefreshEvery, t.RefreshMost)
	x.Sample.OneIn, x.Sample.ByFlow = p.Sample, p.SampleByFlow
	x.Loss.Window, x.Loss.TimeoutNs, x.Loss.IntervalNs = t.LossWindow, t.LossTimeout, t.LossInterval
	x.Drop.IntervalNs, x.HopLimit.RearmNs, x.MTUExceeded.RearmNs = t.DropInterval, t.HopLimitRearm, t.MTURearm
	return x
}
