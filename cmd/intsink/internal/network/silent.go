// Silence: many flows that passed one spot, and nothing passes it any more, while others go on.

package network

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/aside/inspect"
	"intsink/flows"
)

// The test, which docs/run.md explains (Problems).
const (
	silentFor  = 2 * time.Second // less is a pause, or routing that finds another way
	silentGaps = 3               // a flow is silent after so many of its usual gaps
	byChance   = 1e-7            // how likely it may be, at most, that flows fall silent by themselves
	goOn       = 0.25            // of the other flows no more may be silent where a way begins or ends: then the hosts are
	mostKeys   = 1024            // flows of one spot that are kept
	mostSilent = 64              // spots
	fewSilent  = 3               // flows that are no evidence, however unlikely
	mostQuiet  = 32              // spots that are tested at a look
)

// silence is a spot that nothing passes any more.
type silence struct {
	last         int64 // its last packet
	flows        int
	rate         float64 // bytes a second that are gone
	others, mute int     // flows elsewhere, and how many of them are silent, too
	chance       float64
	keys         []flows.Key // of some of the flows
	paths        []inspect.Path
	sprayed      bool
	at           time.Time // found
}

// silent finds spots that are silent, and ends those that are not any more. The caller holds x.mu.
func (x *Network) silent(now time.Time) {
	all := x.crowded
	for s, v := range x.silences {
		if x.isOver(s, v, all[s], now) {
			delete(x.silences, s)
		}
	}
	explained := map[*followed]bool{}
	for s := range x.silences {
		if c := all[s]; c != nil {
			for _, f := range c.flows {
				explained[f] = true
			}
		}
	}
	var quietOnes []spot
	for s, c := range all {
		if last := x.last(s, c); len(c.flows) >= fewSilent && last.Add(silentFor).Before(now) && last.Sub(x.deafAt).Abs() > ownLoss {
			quietOnes = append(quietOnes, s)
		}
	}
	slices.SortFunc(quietOnes, func(a, b spot) int { // who has the most flows explains the others; a node its links
		return cmp.Or(cmp.Compare(len(all[b].flows), len(all[a].flows)), order(a)-order(b), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	quietOnes = quietOnes[:min(len(quietOnes), mostQuiet)]
	for _, s := range quietOnes {
		next := (*crowd)(nil) // another spot may have fallen silent at the same time
		for _, o := range quietOnes {
			if o != s && !share(all[o], all[s]) {
				next = all[o]
				break
			}
		}
		if !anyOf(all[s].flows, explained) {
			if v := x.test(s, all[s], next, explained, now); v != nil && len(x.silences) < mostSilent {
				x.silences[s] = v
				for _, f := range all[s].flows {
					explained[f] = true
				}
			}
		}
	}
	x.visited(all, now)
}

func order(s spot) int {
	if s.isLink {
		return 1
	}
	return 0
}

func anyOf(all []*followed, in map[*followed]bool) bool {
	return slices.ContainsFunc(all, func(f *followed) bool { return in[f] })
}

// share reports whether two crowds have flows in common.
func share(a, b *crowd) bool {
	in := make(map[*followed]bool, len(b.flows))
	for _, f := range b.flows {
		in[f] = true
	}
	return anyOf(a.flows, in)
}

// last is when a packet passed a spot last.
func (x *Network) last(s spot, c *crowd) time.Time {
	at := time.Unix(0, c.last)
	if n := x.nodes[s.from]; !s.isLink && n != nil && n.seen.After(at) {
		at = n.seen // also by flows that are not followed
	}
	return at
}

// wasLively reports whether a flow had sent packets until about a time, so often that a silence since then is none of its own.
func (f *followed) wasLively(until int64, silence time.Duration) bool {
	return !f.ends && f.told >= toldOften && !f.isSprayed() && f.gap*silentGaps <= float64(silence) && float64(until-f.seen) <= max(float64(time.Second), f.gap*silentGaps)
}

// test returns the silence of a spot, where the flows that passed it did not fall silent by chance; nil: they may have. Each of the
// others that were as lively is one trial; a spot that fell silent at the same time is left out.
func (x *Network) test(s spot, c, next *crowd, explained map[*followed]bool, now time.Time) *silence {
	last := x.last(s, c)
	quiet := now.Sub(last)
	mine, leftOut := map[*followed]bool{}, map[*followed]bool{}
	for _, f := range c.flows {
		mine[f] = true
	}
	if next != nil && !c.edge {
		for _, f := range next.flows {
			leftOut[f] = true
		}
	}
	v := &silence{last: last.UnixNano(), at: now}
	alive := map[netip.Addr]bool{} // hosts
	for key, f := range x.followed {
		if mine[f] {
			continue
		}
		if now.Sub(time.Unix(0, f.seen)) < quiet {
			alive[key.SrcAddr()], alive[key.DstAddr()] = true, true
		}
		if leftOut[f] || explained[f] || !f.wasLively(v.last, quiet) {
			continue
		}
		if v.others++; now.Sub(time.Unix(0, f.seen)) >= max(quiet-time.Second, quiet/2) {
			v.mute++
		}
	}
	sources, targets := hosts{alive: alive}, hosts{alive: alive}
	lively := 0
	for i, f := range c.flows {
		if !f.ends && float64(v.last-f.seen) <= max(float64(time.Second), f.gap*silentGaps) {
			v.flows, v.rate = v.flows+1, v.rate+f.rate
		}
		if !f.wasLively(v.last, quiet) {
			continue
		}
		lively++
		sources.add(c.keys[i].SrcAddr())
		targets.add(c.keys[i].DstAddr())
		v.keep(c.keys[i], &f.path)
	}
	share := float64(v.mute+1) / float64(v.others+2)
	trials := min(lively, sources.trials(lively), targets.trials(lively))
	v.chance = math.Pow(share, float64(trials))
	if v.chance > byChance || c.edge && share > goOn {
		return nil
	}
	return v
}

// hosts are those of flows that are silent. One that is alive elsewhere did not fall silent itself; others count once each, however
// many flows they have.
type hosts struct {
	alive map[netip.Addr]bool
	all   []netip.Addr
	some  bool // are alive
}

func (h *hosts) add(a netip.Addr) {
	if h.alive[a] {
		h.some = true
	} else if !slices.Contains(h.all, a) && len(h.all) < mostKeys {
		h.all = append(h.all, a)
	}
}

func (h *hosts) trials(flows int) int {
	if h.some {
		return flows
	}
	return len(h.all)
}

func (v *silence) keep(key flows.Key, path *inspect.Path) {
	if len(v.keys) < mostKeys {
		v.keys, v.paths = append(v.keys, key), append(v.paths, *path)
	}
}

// isOver reports whether packets pass a spot again, or half of the flows are heard again elsewhere.
func (x *Network) isOver(s spot, v *silence, c *crowd, now time.Time) bool {
	if now.Sub(v.at) > forget || c != nil && x.last(s, c).UnixNano() > v.last {
		return true
	}
	if n := x.nodes[s.from]; !s.isLink && n != nil && n.seen.UnixNano() > v.last {
		return true
	}
	heard := 0
	for _, key := range v.keys {
		if f := x.followed[key]; f != nil && f.seen > v.last {
			heard++
		}
	}
	return !v.sprayed && 2*heard >= len(v.keys) && len(v.keys) > 0
}

// sprayedSpot is what is known of a spot that flows are sprayed over.
type sprayedSpot struct {
	visits  float64 // flows that were there at a look
	looks   int
	without int     // looks in a row at which none was
	rate    float64 // packets a second of all sprayed flows, before
	last    int64
}

// visited finds spots that sprayed flows do not come to any more, where packets are missing since: without that they go by other
// ways. At each look a flow is at one of its ways by chance, so that how many are there is drawn anew.
func (x *Network) visited(all map[spot]*crowd, now time.Time) {
	rate, n, whole := 0.0, 0, map[spot]float64{}
	for _, f := range x.followed {
		if f.isSprayed() && now.Sub(time.Unix(0, f.seen)) < silentFor {
			rate, n = rate+1e9/max(f.gap, 1), n+1
		}
	}
	for s, c := range all {
		v := x.sprayed[s]
		if v == nil && c.sprayed > 0 && len(x.sprayed) < maxNodes {
			v = &sprayedSpot{}
			x.sprayed[s] = v
		}
		if v != nil && c.sprayed > 0 {
			whole[s] = float64(c.sprayed)
			v.last = max(v.last, c.last)
		}
	}
	for s, v := range x.sprayed {
		visits := whole[s]
		if visits == 0 && v.looks >= lately && n > 0 {
			v.without++
			chance := math.Exp(-v.visits * float64(v.without))
			share := v.visits / float64(n)
			if x.silences[s] == nil && v.without >= 3 && chance < byChance && share < 1 && rate < v.rate*(1-share/3) && len(x.silences) < mostSilent && !x.explains(s) {
				x.silences[s] = &silence{last: v.last, flows: n, rate: 0, chance: chance, sprayed: true, at: now, others: n}
			}
			if v.without > 60 {
				delete(x.sprayed, s)
			}
			continue
		}
		v.looks++
		v.without = 0
		k := 1 / float64(min(v.looks, 4*lately))
		v.visits, v.rate = v.visits+(visits-v.visits)*k, v.rate+(rate-v.rate)*k
	}
}

// explains reports whether a node of a link is silent.
func (x *Network) explains(s spot) bool {
	return s.isLink && (x.silences[spot{from: s.from, to: s.from}] != nil || x.silences[spot{from: s.to, to: s.to}] != nil)
}

// silentSigns are the spots that are silent.
func (x *Network) silentSigns(now time.Time) []problem.Sign {
	var all []found
	for s, v := range x.silences {
		if !x.explains(s) {
			all = append(all, found{s.from, uint64(v.flows), func() problem.Sign { return v.sign(s) }})
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(b.weight, a.weight)) })
	return x.choose(problem.FlowsSilent, all, now)
}

func (v *silence) sign(s spot) problem.Sign {
	sign := problem.Sign{
		Kind: problem.FlowsSilent, Key: "silent " + s.String(), Subject: "network", Place: s.place(), What: "flows that passed it fell silent, while others go on", Over: "packets pass it again, or their flows came back another way",
		Value: new(float64(v.flows)), Unit: "flows", Since: time.Unix(0, v.last),
		Evidence: problem.Evidence{Why: fmt.Sprintf("%s a second are gone; of %d other flows %d are silent", bytesOf(v.rate), v.others, v.mute)},
		Todo:     "look at the place: it may take packets and not pass them on, its links up all the while",
	}
	if v.sprayed {
		sign.What, sign.Evidence.Why = "packets that are sprayed over it do not arrive", "no packet comes by it, and as much is missing"
	}
	for i := range v.keys[:min(len(v.keys), maxFlows)] {
		sign.Evidence.Flows = append(sign.Evidence.Flows, inspect.FlowID(&v.keys[i]))
	}
	slices.Sort(sign.Evidence.Flows)
	return sign
}

// String names a spot.
func (s spot) String() string { return fmt.Sprintf("%d-%d", s.from, s.to) }

func (s spot) place() []problem.Part {
	if s.isLink {
		return place("from", s.from, "to", s.to)
	}
	return place("node", s.from)
}

// bytesOf is a number of bytes as people write it.
func bytesOf(n float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if n >= u.size {
			return fmt.Sprintf("%.3g %s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.0f bytes", n)
}

// EachSilent shows the flows that fell silent at a spot that is silent still, and their ways, to see.
func (x *Network) EachSilent(see func(at time.Time, flow string, way *inspect.Path)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, v := range x.silences {
		for i := range v.keys {
			see(time.Unix(0, v.last), inspect.FlowID(&v.keys[i]), &v.paths[i])
		}
	}
}
