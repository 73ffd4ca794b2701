// Measure: how often a value was in each of 124 classes, and the median and 99th percentile of it, which follow slowly.

package usual

import (
	"math"
	"math/bits"
)

// classes divides the numbers of 32 bits: each power of two in four steps of the same length.
const classes = 124

// classOf returns the class of a number.
func classOf(x uint32) int {
	if x < 4 {
		return int(x)
	}
	e := bits.Len32(x) - 3
	return 4 + 4*e + int(x>>e&3)
}

// most returns the highest number of a class.
func most(class int) uint32 {
	if class < 4 {
		return uint32(class)
	}
	e, step := (class-4)/4, uint64(class%4)
	return uint32((5+step)<<e - 1)
}

// Measure is one value of one place. It holds no pointer.
type Measure struct {
	minute    [classes]uint16  // values since the minute began
	hour, day [classes]float32 // earlier ones: they count for less with every minute that passes
	values    uint32           // of the minute
	most      [2]float32       // what the median and the 99th percentile may be by now; 0: anything
}

// doubling is in how many minutes what is usual may double. What a network does from night to noon is far below the factor
// that makes a value odd; what grows on and on is not learned as it grows, be it a fault or somebody's intent.
const doubling = 24 * 60

// Most values of a minute that count: a busy minute is worth as much as any other one, and one flow with many
// packets does not outweigh all that came before it.
const mostOfMinute = 1024

// add counts a value.
func (m *Measure) add(x uint32) {
	if n := &m.minute[classOf(x)]; m.values < math.MaxUint16 {
		*n++
		m.values++
	}
}

// roll ends the minute, the last of so many.
func (m *Measure) roll(minutes int64) {
	hour, day := float32(math.Exp(-float64(minutes)/60)), float32(math.Exp(-float64(minutes)/1440))
	weight := float32(min(m.values, mostOfMinute)) / float32(max(m.values, 1))
	for i, n := range m.minute {
		m.hour[i] = m.hour[i]*hour + float32(n)*weight
		m.day[i] = m.day[i]*day + float32(n)*weight
	}
	m.minute, m.values = [classes]uint16{}, 0
	grown := float32(math.Exp2(float64(minutes) / doubling))
	m.most[0], m.most[1] = m.most[0]*grown, m.most[1]*grown
}

// follow returns s as far as m may follow it, from what m was before.
func (m *Measure) follow(s Stat) Stat {
	if !s.Known {
		return s
	}
	for i, x := range []*uint32{&s.Median, &s.P99} {
		if most := m.most[i]; most > 0 && float32(*x) > most {
			*x = uint32(most) // most keeps its fraction: small numbers would never grow
			continue
		}
		m.most[i] = max(float32(*x), 1)
	}
	return s
}

// A tenth of the values is a fault that was, and no tail; so is what a chance as small as byChance speaks against.
const (
	partOfFault = 0.1
	byChance    = 1e-4
)

// forget forgets what was before the minute at hand, and reports whether it did: where a part of that was as far above nearly all
// values of the minute as others are above it that are odd.
func (m *Measure) forget() bool {
	limit, n := uint64(0), uint32(0)
	for i := range m.minute {
		if n += uint32(m.minute[i]); 100*n >= 99*m.values {
			limit = Factor * uint64(max(most(i), 1))
			break
		}
	}
	far, all := 0.0, 0.0
	for i, x := range m.day {
		if all += float64(x); i > 0 && uint64(most(i-1)) >= limit {
			far += float64(x)
		}
	}
	if m.values == 0 || far < partOfFault*all || math.Pow(1-far/all, float64(m.values)) > byChance {
		return false
	}
	m.hour, m.day, m.most = [classes]float32{}, [classes]float32{}, [2]float32{}
	return true
}

// Few is how many values a median needs: with fewer, nothing is known.
const Few = 64

// Stat is what a value usually is. Median and P99 are 0 where Known is false.
type Stat struct {
	Known       bool
	Median, P99 uint32
}

// stat returns what is usual: half of it is the last hour's, half the last day's.
func (m *Measure) stat() Stat {
	var hour, day float64
	for i := range m.day {
		hour, day = hour+float64(m.hour[i]), day+float64(m.day[i])
	}
	if day < Few {
		return Stat{}
	}
	return m.percentiles(hour, day)
}

// soFar is the median of so many values at least, those of the minute at hand included.
func (m *Measure) soFar(few float64) Stat {
	now := *m
	now.roll(0)
	n := 0.0
	for i := range now.day {
		n += float64(now.day[i])
	}
	if n < few {
		return Stat{}
	}
	return now.percentiles(n, n)
}

// percentiles are those of values of which so many count; of an hour without any, the day alone.
func (m *Measure) percentiles(hour, day float64) Stat {
	s, sum, found, half := Stat{Known: true, P99: most(classes - 1)}, 0.0, false, 0.5
	if hour < 1 {
		half = 0
	}
	for i := range m.day {
		sum += half*float64(m.hour[i])/max(hour, 1) + (1-half)*float64(m.day[i])/day
		if !found && sum >= 0.5-rounding {
			s.Median, found = middle(i), true
		}
		if sum >= 0.99-rounding {
			s.P99 = most(i)
			break
		}
	}
	return s
}

// rounding is how far a sum of shares may be off.
const rounding = 1e-6

// middle returns the number in the middle of a class.
func middle(class int) uint32 {
	if class == 0 {
		return 0
	}
	low := uint64(most(class-1)) + 1
	return uint32((low + uint64(most(class))) / 2)
}
