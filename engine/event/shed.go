// Shed: which samples no collector takes now, for their budgets; what becomes of them on the fast path.

package event

import "intsink/flows"

// Shed says which samples of a watch are shed where they are taken: no collector takes a report of one
// before Until. They are all, where Any is set; else those of packets of at least Length that are of one of the
// header templates of package fast whose bits Templates has.
type Shed struct {
	Until     int64
	Templates uint64
	Length    uint32
	Any       bool
	_         [3]bool
}

// sheds reports whether a sample is shed at a time.
func (s *Shed) sheds(now int64, template uint8, length int) bool {
	return now < s.Until && (s.Any || s.Templates>>template&1 != 0 && length >= int(s.Length))
}

// Shed is what samples of a watch are shed by: for the caller to change. A sample that is shed leaves its flow as
// ReportedSamples does; TakeShed tells how many there were. It is for times at which Stretch is NoStretch.
func (d *Detector) Shed(watch int) *Shed { return &d.view.Policies[watch].Shed }

// TakeShed returns how many samples of a watch were shed since it was last called, and counts them.
func (d *Detector) TakeShed(watch int) uint64 {
	p := &d.view.Policies[watch]
	n := p.shed
	p.shed = 0
	d.Counters.Fired[Sample] += n
	return n
}

// ShedSample sheds a sample of flow f, with that hash, if Shed of its watch says so. It returns false, and
// does nothing, if not, and if f is not HasCold.
func (v *FastView) ShedSample(now int64, f *flows.Flow, hash uint64, template uint8, length int) bool {
	p := &v.Policies[f.Watch]
	if !p.Shed.sheds(now, template, length) || !f.HasCold() {
		return false
	}
	f.LastReport, f.LastEvents = max(flows.Tick(now), 1), uint32(Sample.Set())
	f.NextRefresh = refreshAfter(now + p.refreshLeast + partOf(p.refreshSpan, randomOf(hash, now)))
	f.Cold().Shed++
	p.shed++
	return true
}

// ForgetTemplate sheds no more samples by a template, which is another one from now on.
func (v *FastView) ForgetTemplate(template uint8) {
	for i := range v.Policies[:v.policies] {
		v.Policies[i].Shed.Templates &^= 1 << template
	}
}

// refreshAfterSample returns when a refresh is due after a report of a sample alone, of a flow with that
// hash. Its chance is made of hash and time: it is the same wherever, and in whatever order, samples are
// handled.
func (d *Detector) refreshAfterSample(now int64, p *Policy, hash uint64) uint32 {
	return d.refreshAt(now, p.refreshLeast+partOf(p.refreshSpan, randomOf(hash, now)))
}

// randomOf returns a random number for a flow's hash and a time.
func randomOf(hash uint64, now int64) uint64 { return (hash ^ uint64(now)) * 0x9e3779b97f4a7c15 }
