// Sources: how much one source may teach of a place where others speak, too.

package usual

// Sources is how many groups of senders are told apart: whoever makes senders up cannot choose their group (Source).
const Sources = 16

// What one group may teach in a minute where others speak, or did in the minute before: one value more than all others together, as
// two that send the same would else stop each other, and fewOfSource anyway. Of values above the usual 99th percentile, one for
// rarely of other groups: fewer than one in a hundred, so that one group alone does not move that, and two may be all there are.
const (
	fewOfSource = 8
	rarely      = 128
)

// sources are the groups that tell of a place.
type sources struct {
	before, now uint16          // a bit each: it spoke in the minute before, and in this one
	all         uint32          // values of the minute that counted
	heard       uint32          // the same since ever
	by          [Sources]uint16 // those of the minute, by group
	own         [Sources]uint32 // those since ever, by group
	high        [Sources]uint32 // how many of other groups there were when the last high one counted
}

// Source returns the group of a sender with that address.
func (u *Usual) Source(address [2]uint64) uint8 {
	return uint8(mix(mix(address[0]^u.seed)^address[1]) >> 60)
}

// admits reports whether a value of a group counts; high: it is above the 99th percentile.
func (s *sources) admits(group uint8, high bool) bool {
	group %= Sources
	bit := uint16(1) << group
	s.now |= bit
	n := &s.by[group]
	if alone := (s.before|s.now)&^bit == 0; !alone && uint32(*n) > max(fewOfSource-1, s.all-uint32(*n)) {
		return false
	} else if *n < 1<<16-1 {
		*n++
		s.all++
	}
	s.heard++
	s.own[group]++
	if !high {
		return true
	}
	others := s.heard - s.own[group]
	if (s.before|s.now)&^bit != 0 && others-s.high[group] < rarely {
		return false
	}
	s.high[group] = others
	return true
}

// roll ends the minute.
func (s *sources) roll() { s.before, s.now, s.all, s.by = s.now, 0, 0, [Sources]uint16{} }

// isHigh reports whether a value is above the 99th percentile.
func (s Stat) isHigh(x uint32) bool {
	return s.Known && x != unknown && x > s.P99
}
