// track: one value of one place, by seconds and by minutes.

package series

// How many points there are of each length.
const (
	Seconds = 600
	Minutes = 1500 // a day, and an hour, which can be compared with the one a day before
	second  = int64(1e9)
	minute  = 60 * second
)

// track holds no pointer. Its zero value has seen nothing.
type track struct {
	seconds counts
	minutes counts
	points  [Seconds + Minutes]packed // those of seconds, then those of minutes: number n at n % their number
}

// counts are the samples of the time at hand.
type counts struct {
	at        int64 // number of the second, or minute, since 1970
	n         uint32
	most      uint32
	low, high uint8 // classes that are not empty lie between these
	class     [classes]uint16
}

// late is how many seconds the time of a sample may be before the one at hand: bursts of other workers are a little older.
// If it is farther back, the clock was set.
const late = 10

// add adds a sample.
func (t *track) add(now int64, x uint32) {
	t.roll(now)
	c := classOf(x)
	t.seconds.add(x, c)
	t.minutes.add(x, c)
}

// roll ends the second and the minute at hand where they are over.
func (t *track) roll(now int64) {
	if s := now / second; s != t.seconds.at {
		if s < t.seconds.at-late {
			*t = track{}
		}
		t.seconds.roll(s, t.points[:Seconds])
		t.minutes.roll(now/minute, t.points[Seconds:])
	}
}

func (c *counts) add(x uint32, class int) {
	if c.n == 0 {
		c.low, c.high = uint8(class), uint8(class)
	}
	c.low, c.high, c.most = min(c.low, uint8(class)), max(c.high, uint8(class)), max(c.most, x)
	if c.class[class] == 1<<16-1 {
		c.halve()
	}
	c.class[class]++
	c.n++
}

// halve makes room for more samples: what counts are the shares.
func (c *counts) halve() {
	c.n = 0
	for i := range c.class {
		c.class[i] /= 2
		c.n += uint32(c.class[i])
	}
}

// roll makes the time at hand a point, where another one has begun, and clears those of the times between.
func (c *counts) roll(at int64, points []packed) {
	if at <= c.at {
		return
	}
	n := int64(len(points))
	points[c.at%n] = c.sofar(points)
	if c.at > 0 {
		for i := max(c.at+1, at-n+1); i <= at; i++ {
			points[i%n] = 0
		}
	}
	clear(c.class[c.low : int(c.high)+1])
	c.at, c.n, c.most, c.low, c.high = at, 0, 0, 0, 0
}

// sofar is the point of the time at hand. points has what was of it before a restart.
func (c *counts) sofar(points []packed) packed {
	before := points[c.at%int64(len(points))]
	if c.n == 0 {
		return before
	}
	return before.join(c.point())
}

func (c *counts) point() packed {
	median, sum := -1, uint32(0)
	for i := int(c.low); i <= int(c.high); i++ {
		sum += uint32(c.class[i])
		if median < 0 && 2*sum >= c.n {
			median = i
		}
		if uint64(sum)*100 >= uint64(c.n)*99 {
			return pack(median, i, c.most)
		}
	}
	return pack(max(median, 0), int(c.high), c.most)
}

// read appends the points of s.
func (t *track) read(s *Span, out []Point) []Point {
	hand, points := &t.seconds, t.points[:Seconds]
	if s.unit == minute {
		hand, points = &t.minutes, t.points[Seconds:]
	}
	n := int64(len(points))
	var all []Point
	for first := s.first; first < s.end; first += s.each {
		all = all[:0]
		for i := first; i < first+s.each; i++ {
			p := packed(0)
			switch {
			case i == hand.at: // over, too, though no sample has come since
				p = hand.sofar(points)
			case i < hand.at && i > hand.at-n && i >= 0:
				p = points[i%n]
			}
			if p != 0 {
				all = append(all, p.point())
			}
		}
		out = append(out, Join(all))
	}
	return out
}
