// Detector.Packet: calls the tests for one packet in their order; new flows, flow ends,
// refreshes with jitter, samples; rate tokens.

package event

import (
	"slices"

	"intsink/engine/clock"
	"intsink/engine/episode"
	"intsink/engine/usual"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// Detector holds what is not kept per flow.
type Detector struct {
	Counters Counters // plain numbers: the worker publishes them
	Trigger  Trigger  // of the latency or congestion event that Packet returned; of several, the last
	Edge     bool     // the congestion that Packet returned is an onset or a clear
	Wall     int64    // what the sink's clock lacks to be the wall clock's, nanoseconds; the worker sets it
	Samples  Sampler
	Stretch  uint32 // of the time to the next refresh, in percent; the worker sets it

	policies []Policy
	models   *models // of a CompiledModels, whose memory outside the Go heap the view has: this pointer keeps it
	newFlow  tokens
	key      uint64 // of the path hash, odd
	random   uint64
	fabric   Fabric
	view     *FastView

	sampling     bool       // the packet at hand is a sample
	ends         episodeEnd // of the policies: lowest values, longest CongestionTimeout
	longestHold  int64      // longest TxHold
	highestClear uint32     // the highest threshold of all policies that ends that an interface is busy
	marksBusy    bool       // some watch looks at each packet of a busy interface

	shared    *Shared
	ownShared bool
	synced    uint64 // changes of shared that are taken over

	readings  [mostReadings]usual.Reading // of learn
	crossings [mostReadings / 3]clock.Crossing
	hand      atHand
	tallies   *episode.Tallies         // packets that go on with episodes
	handled   [episode.MaxOpen]handled // of each tally
	running   uint64                   // bit: a packet of that queue went through congestion in this burst
	expireAt  int64                    // when records of episodes are looked at next

	newsAt int64 // when some flow was last reported for a change

	lossy   []*flows.Flow // with holes in their sequence
	lossyAt int           // the next of lossy to look at
}

// NoStretch is the Detector.Stretch that leaves refreshes as configured.
const NoStretch = 100

// Trigger is the value that made an event enter, and what it was compared with. A
// NodeID of all ones is the end-to-end latency.
type Trigger struct{ NodeID, Reference, Value uint32 }

// Triggered are the events that set Detector.Trigger.
const Triggered = 1<<HopLatency | 1<<EndToEnd | 1<<LinkLatency | 1<<Congestion | 1<<TxUtilization

// Observation is one packet as the detector sees it.
type Observation struct {
	Frame    []byte         // first segment, INT headers included; of a foreign format the hops alone
	Own      []byte         // first segment of a packet of a foreign format, whose hops Frame has as INT; else anything
	Info     *inthdr.Info   // where INT stands in it
	Layout   *inthdr.Layout // of one hop
	FlowHash uint64
	Common   bool  // as inthdr.Info.Common; false is always right
	Doomed   bool  // the sink drops it: it is no sample of what leaves
	Early    bool  // it stands in front of the packet of its burst that is to be the next sample
	Number   uint8 // in its burst, 0 to 63: for Met

	Sequence     uint64 // number that a domain instruction declares
	SequenceBits uint8  // how wide it is; 0: there is none
}

// usable reports whether the packet's hops can be trusted.
func (o *Observation) usable() bool { return o.Info.Reason == 0 && o.Info.Hops > 0 }

// New makes a detector for watches with the given policies, the only one of its sink unless
// Share is called. seed keys the path hash and the jitter.
func New(policies []Policy, seed uint64) *Detector { return newDetector(policies, seed, allRoom) }

func newDetector(policies []Policy, seed uint64, c capacities) *Detector {
	d := &Detector{
		key: seed*0x9e3779b97f4a7c15 | 1, random: seed | 1, Samples: newSampler(seed),
		fabric: newFabric(seed, c), lossy: make([]*flows.Flow, 0, maxLossy), Stretch: NoStretch,
	}
	d.shared, d.ownShared = newShared(seed, c), true
	d.view = newFastView(d.key, d.fabric.Links)
	d.view.setLimits(d.shared.usual.Limits())
	d.newTallies()
	d.SetRules(policies, nil)
	return d
}

// Adopt replaces policies and node models; flows keep their state. References
// stay as they are, in nanoseconds: where a unit changes, the next values may be
// reported for it.
func (d *Detector) Adopt(policies []Policy, models *CompiledModels) {
	d.tallies.Stop()
	d.stopAllBusy()
	d.models = &models.models
	d.view.setModels(models)
	d.policies = slices.Clone(policies)
	d.ends, d.longestHold, d.highestClear, d.marksBusy = endsOf(policies), 0, 0, false
	d.shared.usual.SetFloor(floorOf(policies))
	d.view.policies, d.view.more, d.view.linkAbsolute = len(policies), 0, never
	for i := range d.policies {
		d.policies[i].compile()
		l := d.policies[i].fastPolicy(d.models)
		l.beginSamples(&d.view.Policies[i], d.key+uint64(i))
		d.view.Policies[i] = l
		d.view.add(&d.view.Policies[i])
		d.marksBusy = d.marksBusy || d.policies[i].fabric.tx != never
		if d.longestHold = max(d.longestHold, d.policies[i].Thresholds.TxHold); d.policies[i].fabric.tx != never {
			d.highestClear = max(d.highestClear, d.policies[i].Thresholds.TxClear)
		}
	}
	d.fabric.Links.Walk(0, MaxLinks, func(_ [2]uint64, _ uint32, k *Link) { k.settle(d.view.linkAbsolute) })
}

// KnowsLoads tells whether the unit of some node's utilization is known.
func (d *Detector) KnowsLoads() bool { return d.models.full }

// Fabric returns the queues, interfaces and links that packets have passed.
func (d *Detector) Fabric() *Fabric { return &d.fabric }

// Saturate is to be called every millisecond or so: it keeps old times of d's tables from
// seeming new.
func (d *Detector) Saturate(now int64) {
	d.fabric.Queues.Saturate(now)
	d.fabric.Interfaces.Saturate(now)
	d.fabric.Links.Saturate(now)
}

// Close gives the memory of d's tables back. Nothing may be called after it.
func (d *Detector) Close() {
	d.fabric.Queues.Close()
	d.fabric.Interfaces.Close()
	d.fabric.Links.Close()
	d.tallies.Close()
	if d.ownShared {
		d.shared.Close()
	}
	d.view.close()
}

// newTallies makes d's tallies those of records of its sink.
func (d *Detector) newTallies() {
	d.tallies = d.shared.episodes.NewTallies()
	d.view.tallies = d.tallies.Address()
}

// View is what package engine/fast reads.
func (d *Detector) View() *FastView { return d.view }

// Packet updates flow f, selected by watch, with one packet and returns the
// events that ask for a report of it. fresh: it is the flow's first packet,
// which sets all references and gives no event but new_flow and sample.
func (d *Detector) Packet(now int64, f *flows.Flow, fresh bool, watch int, o *Observation) Set {
	p := &d.policies[watch]
	t := &p.Thresholds

	usable := o.usable()
	var set Set
	worst := uint32(unknown32)
	if usable {
		set, worst = d.hops(now, f, p, o)
	}
	if fresh {
		set = d.firstPacket(now, usable, p, o) // what hops compares has become references
	} else if p.Events.Has(Refresh) && refreshDue(now, f) && !d.putsOff(now, f, t) {
		set |= Refresh.Set()
		d.Counters.Fired[Refresh]++
	}
	d.sampling = usable && d.Samples.due && !o.Early
	if d.sampling {
		set |= d.learn(now, f, fresh, p, o)
		d.countLatencies(now, o)
		set |= d.updateFabric(now, f, fresh, p, o)
		d.Samples.end()
	} else if usable && p.watchesFabric && !(worst < p.calm && d.view.Hot&HotQueues == 0) {
		set |= d.updateFabric(now, f, fresh, p, o)
	}
	if o.Info.HopExceeded || o.Info.MTUExceeded {
		set |= d.flags(now, f, fresh, p, o, set)
	}
	if o.SequenceBits != 0 && p.Events.Has(Loss) {
		set |= d.sequence(now, f, t, o)
	}
	if p.Sample > 0 && !o.Doomed {
		set |= d.sample(watch, o)
	}
	if set != 0 {
		d.storeReported(now, f, set)
	}
	if set == Sample.Set() {
		f.NextRefresh = d.refreshAfterSample(now, &d.policies[watch], o.FlowHash)
	} else if set != 0 || f.NextRefresh == 0 {
		d.scheduleRefresh(now, f, watch)
	}
	return set
}

func (d *Detector) firstPacket(now int64, usable bool, p *Policy, o *Observation) Set {
	if usable {
		d.countLacking(p, o)
	}
	d.Counters.Fired[NewFlow]++
	switch s, t := d.shared, &p.Thresholds; {
	case !p.Events.Has(NewFlow):
	case s.warm != 0 && now < s.warm+t.NewFlowAfter:
		d.Counters.Suppressed[NewFlow][SuppressRestart]++
	case !d.newFlow.take(now, t.NewFlowRate):
		d.Counters.Suppressed[NewFlow][SuppressRate]++
	default:
		return NewFlow.Set()
	}
	return 0
}

// sample draws gaps per watch and worker, or takes whole flows by their hash.
func (d *Detector) sample(watch int, o *Observation) Set {
	if !d.view.Policies[watch].TakeSample(o.FlowHash) {
		return 0
	}
	d.Counters.Fired[Sample]++
	return Sample.Set()
}

// End reports whether the end of f is reported. It shares new_flow's bucket.
func (d *Detector) End(now int64, f *flows.Flow) bool {
	p := &d.policies[f.Watch]
	d.Counters.Fired[FlowEnd]++
	if !p.Events.Has(FlowEnd) {
		return false
	}
	if !d.newFlow.take(now, p.Thresholds.NewFlowRate) {
		d.Counters.Suppressed[FlowEnd][SuppressRate]++
		return false
	}
	return true
}
