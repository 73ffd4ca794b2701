// Flows whose packets are sprayed over several paths: when one is, which of its paths is lost.

package event

import (
	"time"

	"intsink/flows"
)

// A change of path is quick if it comes within quickTime of the one before, or with one of the next quickPackets packets. ManyQuick in
// a row make the flow sprayed: its paths are told once, then a new one, and one that is lost. It is no more when it stays on one
// path for rests, and more than quickPackets packets. A link that fails, comes back and fails again every few seconds makes
// no such row; packets, or small bursts of them, that are balanced over links do.
const (
	quickTime    = int64(5 * time.Second)
	quickPackets = 8
	ManyQuick    = 16
	rests        = int64(time.Minute)
	// A path of a sprayed flow is lost when the flow was not on it for rests, while it changed paths lostChanges times for each
	// path that it has. By chance, of n paths alike, one is left out for so long with (1-1/n)^(n*lostChanges): 1 in 10^14.
	lostChanges = 32
)

// IsSprayed reports whether packets of f take one path, then another.
func IsSprayed(now int64, f *flows.Flow) bool {
	if !f.HasCold() {
		return false
	}
	s := &f.Cold().Spray
	return s.Quick == ManyQuick && (now-s.At <= rests || s.Since(f) <= quickPackets)
}

// quickChanges is how many changes of path in a row are quick, with one that comes now.
func quickChanges(now int64, f *flows.Flow) uint8 {
	s := &f.Cold().Spray
	switch {
	case s.At != 0 && (now-s.At <= quickTime || s.Since(f) <= quickPackets):
		return min(s.Quick+1, ManyQuick)
	case IsSprayed(now, f):
		return ManyQuick
	}
	return 1
}

// isOlder reports whether a path was not seen for longer than that, to a unit of flows.LongTick.
func isOlder(now int64, p flows.Path, than int64) bool { return (now>>20-p.Seen())<<20 > than }

// lostPathIndex returns the place of a path that f, which is sprayed or not, does not take any more, or -1.
func lostPathIndex(now int64, f *flows.Flow, sprayed bool) int {
	if !sprayed {
		return -1
	}
	c := f.Cold()
	for i, p := range c.Paths[:f.NumPaths-1] {
		if isOlder(now, p, rests) && c.Spray.Change-p.Change() > uint16(f.NumPaths)*lostChanges {
			return i
		}
	}
	return -1
}

// forgetPath takes a path that is not current from those of f; -1 is none.
func forgetPath(f *flows.Flow, at int) {
	if at < 0 {
		return
	}
	c := f.Cold()
	f.NumPaths--
	c.Paths[at] = c.Paths[f.NumPaths-1]
}
