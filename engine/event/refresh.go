// Event refresh: when it is due, and how it gets rarer; what a flow was last reported for.

package event

import "intsink/flows"

// A refresh comes RefreshEvery after the flow's first packet, and each one takes twice the time of the one before, up to RefreshMost.
// Any other report puts the next one off by the time that it takes; it begins no shorter times, or a fault of many flows would
// breed as many refreshes a while later. How often that time was doubled stands above the events in flows.Flow.LastEvents.
const (
	rarerShift = 28
	mostRarer  = 1<<(32-rarerShift) - 1
)

// LastEvents are what a flow was last reported for.
func LastEvents(f *flows.Flow) Set { return Set(f.LastEvents & (1<<rarerShift - 1)) }

// wait is the time to a flow's next refresh without jitter.
func (t *Thresholds) wait(f *flows.Flow) int64 {
	after := t.RefreshEvery
	for n := f.LastEvents >> rarerShift; n > 0 && after < t.RefreshMost; n-- {
		after = min(2*after, t.RefreshMost)
	}
	return after
}

// scheduleRefresh makes the flow's next refresh due a whole period from now, as after any report of it.
func (d *Detector) scheduleRefresh(now int64, f *flows.Flow, watch int) {
	p := &d.policies[watch]
	d.random = nextRandom(d.random)
	if after := p.Thresholds.wait(f); after > p.Thresholds.RefreshEvery {
		f.NextRefresh = d.refreshAt(now, after+partOf(uint64(float64(after)*p.Thresholds.RefreshJitter), d.random))
		return
	}
	f.NextRefresh = d.refreshAt(now, p.refreshLeast+partOf(p.refreshSpan, d.random))
}

// putsOff reports whether a refresh that is due waits, and has it wait: while reports tell of changes, those that tell of none
// come later, up to RefreshMost after the flow's last report.
//
//go:noinline
func (d *Detector) putsOff(now int64, f *flows.Flow, t *Thresholds) bool {
	if t.RefreshMost <= t.RefreshEvery || d.newsAt == 0 || now-d.newsAt >= t.RefreshEvery || f.LastReport == 0 || now-flows.Since(now, f.LastReport) >= t.RefreshMost {
		return false
	}
	d.random = nextRandom(d.random)
	f.NextRefresh = d.refreshAt(d.newsAt, t.RefreshEvery+partOf(uint64(t.RefreshEvery), d.random))
	return true
}

// refreshAt returns when a refresh is due that comes so long after now, stretched.
func (d *Detector) refreshAt(now, after int64) uint32 {
	if d.Stretch != NoStretch {
		after = d.stretched(after)
	}
	return refreshAfter(now + after)
}

// refreshAfter returns the refreshTick of a time, but not 0.
func refreshAfter(t int64) uint32 { return max(refreshTick(t), 1) }

//go:noinline
func (d *Detector) stretched(after int64) int64 {
	return min(after*int64(d.Stretch)/NoStretch, maxRefresh)
}

// Reported is to be called when f is reported for set by another than Packet.
func (d *Detector) Reported(now int64, f *flows.Flow, set Set) {
	d.storeReported(now, f, set)
	d.scheduleRefresh(now, f, int(f.Watch))
}

// storeReported keeps what the flow was last reported for. A new flow's first report
// is not kept: that the flow exists says as much.
func (d *Detector) storeReported(now int64, f *flows.Flow, set Set) {
	if set == NewFlow.Set() {
		return
	}
	rarer := f.LastEvents >> rarerShift
	switch {
	case set == Refresh.Set():
		rarer = min(rarer+1, mostRarer)
	case set == Sample.Set():
		rarer = 0
	}
	f.LastReport, f.LastEvents = max(flows.Tick(now), 1), uint32(set)|rarer<<rarerShift
	if set.News() == ChangeNews {
		d.newsAt = now
		c := f.Cold()
		c.Change, c.ChangeAt = uint32(set), now
	}
}

func refreshDue(now int64, f *flows.Flow) bool {
	return int32(refreshTick(now)-f.NextRefresh) >= 0 && f.NextRefresh != 0
}

// refreshTick returns a time as flows.Flow.NextRefresh has it. Half of its range, 6.5 days, is
// longer than any refresh may take.
func refreshTick(now int64) uint32 { return uint32(now >> flows.RefreshShift) }

// maxRefresh is the longest time to a refresh that is stretched: 6 days.
const maxRefresh = 6 * 24 * 3600 * 1e9
