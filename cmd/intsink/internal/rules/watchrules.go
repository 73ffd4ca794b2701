// Makes watch.Watch of blocks watch, event.Policy of the thresholds of block events;
// device id fields of domains.

package rules

import (
	"math"
	"slices"
	"time"

	"intsink/conf"
	"intsink/engine/event"
	"intsink/engine/watch"
)

func watchOf(c *conf.Config, w *conf.Watch, collectors []string) watch.Watch {
	out := watch.Watch{Name: w.Name}
	for i, name := range collectors {
		if len(w.Collectors) == 0 || slices.Contains(w.Collectors, name) {
			out.Collectors |= 1 << i
		}
	}
	if m := w.Match; m != nil {
		out.Source, out.Destination, out.Protocol = m.Source, m.Destination, m.Protocol
		out.SourcePort, out.DestinationPort = m.SourcePort, m.DestinationPort
		out.Layer = watchLayers[m.Flow]
		out.VLAN, out.DSCP, out.VNI, out.Device = m.VLAN, m.DSCP, m.VNI, m.Device
		if len(m.Link)+len(m.Port) > 0 {
			out.Ingress = ingress(c, m)
		}
	}
	return out
}

// ingress are the ports that m selects; where it selects none, one that no packet comes by.
func ingress(c *conf.Config, m *conf.Match) []uint16 {
	out := []uint16{math.MaxUint16}
	for _, x := range m.Ingress(c) {
		out = append(out, watch.IngressOf(x.Link, x.Host))
	}
	if len(out) > 1 {
		out = out[1:]
	}
	return out
}

// watchLayers are the values of watch.match.flow.
var watchLayers = map[conf.Layer]watch.Layer{conf.AnyLayer: watch.OwnLayer, conf.OuterLayer: watch.OuterLayer, conf.InnerLayer: watch.InnerLayer}

// deviceFields are the instructions with the role of a device id.
func deviceFields(c *conf.Config) (out []watch.DeviceField) {
	for _, x := range c.INTs() {
		for i := range x.Domains {
			for _, in := range x.Domains[i].Instructions {
				if in.Role == conf.DeviceIDRole {
					out = append(out, watch.DeviceField{Domain: x.Domains[i].ID, Bit: in.Bit})
				}
			}
		}
	}
	return out
}

func policyOf(w *conf.Watch, defaults *conf.Events) event.Policy {
	e := defaults
	if w.Override != nil {
		e = w.Override
	}
	p := event.Policy{Sample: w.Sample, SampleByFlow: w.SampleBy == conf.SampleFlows, Thresholds: thresholds(e)}
	for _, name := range w.Events {
		if ev, ok := event.Named(name); ok { // always: a test compares the names
			p.Events |= ev.Set()
		}
	}
	return p
}

func thresholds(e *conf.Events) event.Thresholds {
	raise, factor := e.Congestion.Raise, uint32(0)
	if raise == conf.AutoRaise {
		raise, factor = 0, e.Congestion.Factor
	}
	busy, bySamples := e.TxUtilization.Raise, e.TxUtilization.Raise == conf.AutoRaise
	if bySamples {
		busy = conf.AutoBusy
	}
	return event.Thresholds{
		NewFlowRate: e.NewFlow.Rate, NewFlowAfter: e.NewFlow.AfterRestart.Nanoseconds(),
		Paths: e.PathChange.Paths, PathMemory: int64(e.PathChange.Memory),
		PathRate: e.PathChange.Rate, ReportKnown: e.PathChange.ECMP == conf.ReportECMP,
		Latency:  deadband(&e.HopLatency),
		EndToEnd: deadband(&e.EndToEnd), PTP: e.EndToEnd.Clock == conf.PTPClock, ClockOffset: int64(e.EndToEnd.ClockOffset),
		LinkLatency: deadband(&e.LinkLatency), LinkAuto: e.LinkLatency.Absolute == conf.AutoAbsolute,
		CongestionRaise: raise, CongestionFactor: factor, CongestionClear: e.Congestion.Clear,
		CongestionLatency: nanoseconds(e.Congestion.RaiseLatency),
		CongestionQuota:   e.Congestion.Quota, CongestionTimeout: int64(e.Congestion.Timeout),
		TxRaise: busy, TxAuto: bySamples, TxClear: e.TxUtilization.Clear, TxHold: int64(e.TxUtilization.Hold),
		LossWindow: e.Loss.Window, LossTimeout: int64(e.Loss.Timeout), LossInterval: int64(e.Loss.Interval),
		DropInterval:  int64(e.Drop.Interval),
		HopLimitRearm: int64(e.HopLimit.Rearm), MTURearm: int64(e.MTUExceeded.Rearm),
		RefreshEvery: int64(e.Refresh.Every), RefreshJitter: e.Refresh.Jitter, RefreshMost: int64(e.Refresh.Most),
	}
}

func deadband(d *conf.Deadband) event.Deadband {
	return event.Deadband{
		Absolute: nanoseconds(d.Absolute), Relative: d.Relative, K: d.K, N: d.N, Interval: int64(d.Interval),
	}
}

// nanoseconds is a latency as the wire carries it; all ones there say that it is not known.
func nanoseconds(d time.Duration) uint32 { return uint32(max(0, min(d, math.MaxUint32-1))) }
