package event

import (
	"math/bits"

	"intsink/flows"
)

// mix is one round of a multiplicative hash: 128-bit product, folded.
func mix(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^v, 0x9e3779b97f4a7c15)
	return hi ^ bits.RotateLeft64(lo, 23) ^ h
}

// path compares the packet's path, as hops hashed it, with the flow's paths.
func (d *Detector) path(now int64, f *flows.Flow, p *Policy, h uint64) Set {
	if f.PathHash[f.Path&(flows.MaxPaths-1)] == h && f.NumPaths > 0 {
		f.PathSeen[f.Path&(flows.MaxPaths-1)] = flows.Tick(now)
		return 0
	}
	if f.NumPaths == 0 { // the first evidence sets the reference
		d.learn(now, f, h, max(p.Thresholds.Paths, 1))
		return 0
	}
	return d.otherPath(now, f, p, h)
}

// otherPath handles a path that is not the current one.
//
//go:noinline
func (d *Detector) otherPath(now int64, f *flows.Flow, p *Policy, h uint64) Set {
	t := &p.Thresholds
	known := d.remembered(now, f, t, h)
	kind := PathChange
	if known >= 0 {
		kind = PathSwitch
	}
	d.Counters.Fired[kind]++
	report := p.Events.Has(PathChange) && (known < 0 || t.ReportKnown)
	if report && !takePathToken(now, f, t.PathRate) {
		d.Counters.Suppressed[kind][SuppressRate]++
		return 0 // not learned: the next packet on this path asks again
	}
	if known >= 0 {
		f.Path, f.PathSeen[known] = uint8(known), flows.Tick(now)
	} else {
		d.learn(now, f, h, max(t.Paths, 1))
	}
	if !report {
		return 0
	}
	return PathChange.Set()
}

// remembered is the index of a path that is not forgotten yet, or -1.
func (d *Detector) remembered(now int64, f *flows.Flow, t *Thresholds, h uint64) int {
	for i := range int(f.NumPaths) {
		if f.PathHash[i] == h {
			if int64(flows.Tick(now)-f.PathSeen[i])<<20 > t.PathMemory {
				return -1
			}
			return i
		}
	}
	return -1
}

// learn makes h the current path. It takes the place of itself where it was
// forgotten, a free one, or that of the path longest unseen.
func (d *Detector) learn(now int64, f *flows.Flow, h uint64, paths int) {
	tick := flows.Tick(now)
	at := -1
	for i := range int(f.NumPaths) {
		if f.PathHash[i] == h {
			at = i
		}
	}
	if at < 0 && int(f.NumPaths) < min(paths, flows.MaxPaths) {
		at = int(f.NumPaths)
		f.NumPaths++
	}
	if at < 0 {
		at = 0
		for i := range int(f.NumPaths) {
			if tick-f.PathSeen[i] > tick-f.PathSeen[at] {
				at = i
			}
		}
	}
	f.Path, f.PathHash[at], f.PathSeen[at] = uint8(at), h, tick
}

// takePathToken takes one of rate tokens per second, at most 255, from the
// flow's bucket; a bucket that was never used is full.
func takePathToken(now int64, f *flows.Flow, rate int) bool {
	if rate == 0 {
		return true
	}
	rate = min(rate, 255)
	if f.PathRefill == 0 {
		f.PathTokens, f.PathRefill = uint8(rate), now
	}
	each := int64(1e9) / int64(rate)
	if n := (now - f.PathRefill) / each; n > 0 {
		f.PathTokens = uint8(min(int64(rate), int64(f.PathTokens)+n))
		f.PathRefill += n * each
	}
	if f.PathTokens == 0 {
		return false
	}
	f.PathTokens--
	return true
}
