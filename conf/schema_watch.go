// visitWatch, visitEvents: the schemas of block watch and its match, of blocks events and
// events_override: thresholds of each event.

package conf

import (
	"fmt"
	"strconv"
	"time"

	"intsink/conf/schema"
)

func visitWatch(v schema.Visitor, w *Watch, defaults *Events) {
	v.Optional("match", schema.Pointer(&w.Match, defaultMatch, visitMatch))
	v.Attr("events", schema.Choices(&w.Events, "event", EventNames()...).OrNone())
	v.Attr("sample", schema.Integer(&w.Sample, 0, 1<<32-1))
	v.Attr("sample_by", schema.Choice(&w.SampleBy, SamplePackets, SampleFlows))
	v.Attr("collectors", schema.Texts(&w.Collectors).OmitEmpty())
	v.Optional("events_override", schema.Pointer(&w.Override, func() Events { return *defaults }, visitEvents))
}

func visitMatch(v schema.Visitor, m *Match) {
	v.Attr("source", schema.Prefixes(&m.Source))
	v.Attr("destination", schema.Prefixes(&m.Destination))
	v.Attr("protocol", protocols(&m.Protocol))
	v.Attr("source_port", ports(&m.SourcePort, 0, 65535))
	v.Attr("destination_port", ports(&m.DestinationPort, 0, 65535))
	v.Attr("flow", schema.Choice(&m.Flow, AnyLayer, OuterLayer, InnerLayer))
	v.Attr("vlan", ports(&m.VLAN, 0, 4095))
	v.Attr("dscp", codePoints(&m.DSCP))
	v.Attr("vni", vnis(&m.VNI))
	v.Attr("device", devices(&m.Device))
	v.Attr("link", names(&m.Link, "edge"))
	v.Attr("port", names(&m.Port, "network"))
}

// visitEvents is the schema of events and of events_override. A profile, where
// there is one, sets all thresholds before the others are read.
func visitEvents(v schema.Visitor, e *Events) {
	v.Attr("profile", schema.Then(schema.Choice(&e.Profile, DataCenter, WAN), func() { *e = defaultEvents(e.Profile) }))
	v.Block("new_flow", &e.NewFlow, func(v schema.Visitor) {
		v.Attr("rate", schema.Integer(&e.NewFlow.Rate, 0, maxRate))
		v.Attr("after_restart", schema.Duration(&e.NewFlow.AfterRestart, 0, maxTime))
	})
	v.Block("path_change", &e.PathChange, func(v schema.Visitor) {
		v.Attr("paths", schema.Integer(&e.PathChange.Paths, 1, 16))
		v.Attr("memory", schema.Duration(&e.PathChange.Memory, 0, maxTime))
		v.Attr("rate", schema.Integer(&e.PathChange.Rate, 0, maxRate))
		v.Attr("ecmp", schema.Choice(&e.PathChange.ECMP, IgnoreECMP, ReportECMP))
	})
	absolute := func(p *time.Duration) schema.Value { return schema.Duration(p, 0, maxDeadband) }
	v.Block("hop_latency", &e.HopLatency, func(v schema.Visitor) { visitDeadband(v, &e.HopLatency, absolute(&e.HopLatency.Absolute)) })
	v.Block("end_to_end", &e.EndToEnd, func(v schema.Visitor) {
		v.Attr("clock", schema.Choice(&e.EndToEnd.Clock, NoClock, PTPClock))
		v.Attr("clock_offset", schema.Duration(&e.EndToEnd.ClockOffset, -maxTime, maxTime))
		visitDeadband(v, &e.EndToEnd, absolute(&e.EndToEnd.Absolute))
	})
	v.Block("link_latency", &e.LinkLatency, func(v schema.Visitor) {
		visitDeadband(v, &e.LinkLatency, absoluteValue{absolute(&e.LinkLatency.Absolute), &e.LinkLatency.Absolute})
	})
	v.Block("congestion", &e.Congestion, func(v schema.Visitor) {
		v.Attr("raise", schema.Then(raiseValue{&e.Congestion.Raise}, e.raised))
		v.Attr("clear", schema.Integer(&e.Congestion.Clear, 0, 1<<32-2))
		v.Attr("factor", schema.Integer(&e.Congestion.Factor, 2, 1000))
		v.Attr("raise_latency", schema.Duration(&e.Congestion.RaiseLatency, 0, maxLatency))
		v.Attr("quota", schema.Integer(&e.Congestion.Quota, 0, maxRate))
		v.Attr("timeout", schema.Duration(&e.Congestion.Timeout, time.Millisecond, maxTime))
	})
	v.Block("tx_utilization", &e.TxUtilization, func(v schema.Visitor) {
		v.Attr("raise", raiseValue{&e.TxUtilization.Raise})
		v.Attr("clear", schema.Integer(&e.TxUtilization.Clear, 0, 1<<32-2))
		v.Attr("hold", schema.Duration(&e.TxUtilization.Hold, 0, maxTime))
	})
	v.Block("refresh", &e.Refresh, func(v schema.Visitor) {
		v.Attr("every", schema.Duration(&e.Refresh.Every, time.Millisecond, maxTime))
		v.Attr("jitter", schema.Fraction(&e.Refresh.Jitter, 0, 0.9))
		v.Attr("most", schema.Duration(&e.Refresh.Most, time.Millisecond, maxTime))
	})
	v.Block("loss", &e.Loss, func(v schema.Visitor) {
		v.Attr("window", schema.Integer(&e.Loss.Window, 1, 1024))
		v.Attr("timeout", schema.Duration(&e.Loss.Timeout, 0, maxTime))
		v.Attr("interval", schema.Duration(&e.Loss.Interval, 0, maxTime))
	})
	v.Block("drop", &e.Drop, func(v schema.Visitor) {
		v.Attr("interval", schema.Duration(&e.Drop.Interval, 0, maxTime))
	})
	v.Block("hop_limit", &e.HopLimit, func(v schema.Visitor) {
		v.Attr("rearm", schema.Duration(&e.HopLimit.Rearm, 0, maxTime))
	})
	v.Block("mtu_exceeded", &e.MTUExceeded, func(v schema.Visitor) {
		v.Attr("rearm", schema.Duration(&e.MTUExceeded.Rearm, 0, maxTime))
	})
}

// AutoRaise is raise = "auto": a threshold made of what is usual in each queue; of interfaces, AutoBusy per cent.
const AutoRaise = 1<<32 - 1

// AutoBusy is the threshold of tx_utilization with raise = "auto".
const AutoBusy = 90

// raiseValue is raise of congestion and tx_utilization: a number or "auto".
type raiseValue struct{ p *uint32 }

func (v raiseValue) Key() any { return v.p }

func (v raiseValue) Write() (string, bool) {
	if *v.p == AutoRaise {
		return schema.Quote("auto"), true
	}
	return fmt.Sprint(*v.p), true
}

func (v raiseValue) Read(x *schema.Expr) bool {
	const accepted = `"auto" or a whole number from 0 to 4294967294`
	text, ok := x.TextOrNumber(accepted)
	if !ok {
		return false
	}
	if text == "auto" {
		*v.p = AutoRaise
		return true
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == AutoRaise {
		return x.Fail("must be %s", accepted)
	}
	*v.p = uint32(n)
	return true
}

// raised sets what raise decides where nothing else is given: a number ends the thresholds made of what is usual, so no
// latency counts either.
func (e *Events) raised() {
	c := &e.Congestion
	c.Clear = 0
	if c.Raise != AutoRaise {
		c.Clear, c.RaiseLatency = c.Raise/2, 0
	} else if c.RaiseLatency == 0 {
		c.RaiseLatency = floorOf(e.Profile)
	}
}

// AutoAbsolute is absolute = "auto": a link is held against what is usual.
const AutoAbsolute time.Duration = -1

// absoluteValue is link_latency.absolute: a duration or "auto".
type absoluteValue struct {
	schema.Value
	p *time.Duration
}

func (v absoluteValue) Write() (string, bool) {
	if *v.p == AutoAbsolute {
		return schema.Quote("auto"), true
	}
	return v.Value.Write()
}

func (v absoluteValue) Read(x *schema.Expr) bool {
	accepted := fmt.Sprintf(`"auto" or a duration from "0s" to %q`, schema.DurationText(maxDeadband))
	text, ok := x.Text(accepted)
	if !ok {
		return false
	}
	if text == "auto" {
		*v.p = AutoAbsolute
		return true
	}
	return v.Value.Read(x)
}

func visitDeadband(v schema.Visitor, d *Deadband, absolute schema.Value) {
	v.Attr("absolute", absolute)
	v.Attr("relative", schema.Fraction(&d.Relative, 0, 1000))
	v.Attr("k", schema.Integer(&d.K, 1, 8))
	v.Attr("n", schema.Integer(&d.N, 1, 8))
	v.Attr("interval", schema.Duration(&d.Interval, 0, maxTime))
}
