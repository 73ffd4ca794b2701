// Counts: by how much counters of the sink grew, by seconds and by minutes.

package series

import (
	"slices"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// MostRows is how many counters there is room for.
const MostRows = 1 << 10

// Counts keeps the growth of counters. Any goroutine may call its methods. A nil Counts has none to tell of.
type Counts struct {
	mu     sync.Mutex
	names  map[string]int // place in rows
	links  [][2]string    // link and direction of those with counters, in the order in which they came
	rows   []row
	memory []byte
}

// row is one counter. It holds no pointer.
type row struct {
	value   uint64 // when last looked at
	unknown bool   // value, since a restart
	at      int64  // the second then
	seconds [Seconds]growth
	minutes [Minutes]growth
}

// growth is by how much a counter grew in a second or minute, and one more: 0 is not known.
type growth uint64

// NewCounts knows no counter.
func NewCounts() *Counts {
	c := &Counts{names: map[string]int{}}
	c.memory = mapped(MostRows * int(unsafe.Sizeof(row{})))
	// SAFETY: the mapping is page aligned, zero, as long as the slice, and lives until Close.
	c.rows = unsafe.Slice((*row)(unsafe.Pointer(&c.memory[0])), MostRows)
	return c
}

// Close gives the memory back. Nothing may be called after it.
func (c *Counts) Close() { syscall.Munmap(c.memory) }

// LinkCounter names a counter of one direction of a link.
func LinkCounter(link, direction, what string) string {
	return "link " + link + " " + direction + " " + what
}

// LookAtLink takes up counters of one direction of a link, as Look does.
func (c *Counts) LookAtLink(now int64, link, direction string, packets, bytes, dropped uint64) {
	c.mu.Lock()
	c.addLink(link, direction)
	c.mu.Unlock()
	c.Look(now, LinkCounter(link, direction, "packets"), packets)
	c.Look(now, LinkCounter(link, direction, "bytes"), bytes)
	c.Look(now, LinkCounter(link, direction, "dropped"), dropped)
}

// addLink adds one direction of a link to those with counters.
func (c *Counts) addLink(link, direction string) {
	if d := [2]string{link, direction}; !slices.Contains(c.links, d) && len(c.links) < MostRows/4 {
		c.links = append(c.links, d)
	}
}

// linkOf is LinkCounter of packets, backwards.
func linkOf(name string) (link, direction string, is bool) {
	name, its := strings.CutPrefix(name, "link ")
	name, packets := strings.CutSuffix(name, " packets")
	at := strings.LastIndexByte(name, ' ')
	if !its || !packets || at < 0 {
		return "", "", false
	}
	return name[:at], name[at+1:], true
}

// Links are the links and directions that were looked at, also before a restart.
func (c *Counts) Links() [][2]string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.links)
}

// Look takes up what a counter stands at. It is to be called about once a second; what grew since the last call is counted
// where it ends. A counter that is lower than before has begun anew.
func (c *Counts) Look(now int64, name string, value uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, known := c.names[name]
	if !known {
		if at = len(c.names); at == MostRows {
			return
		}
		c.names[name] = at
	}
	r, s := &c.rows[at], now/second
	switch {
	case r.at == 0:
		r.value, r.at = value, s
		return
	case r.unknown && s >= r.at-late:
		r.roll(max(s, r.at))
		r.value, r.unknown = value, false
		return
	case s < r.at-late: // the clock was set
		*r = row{value: value, at: s}
		return
	}
	grown := value - r.value
	if value < r.value {
		grown = value
	}
	r.roll(max(s, r.at))
	r.value = value
	add(&r.seconds[r.at%Seconds], grown)
	add(&r.minutes[r.at/60%Minutes], grown)
}

func add(g *growth, n uint64) { *g = max(*g, 1) + growth(n) }

// roll clears the points of the times that have begun since the last look.
func (r *row) roll(s int64) {
	for i := max(r.at+1, s-Seconds+1); i <= s; i++ {
		r.seconds[i%Seconds] = 0
	}
	for i := max(r.at/60+1, s/60-Minutes+1); i <= s/60; i++ {
		r.minutes[i%Minutes] = 0
	}
	r.at = s
}

// Count is by how much a counter grew in a step; not Known: nobody looked.
type Count struct {
	Known bool
	N     uint64
}

// Of returns a Count for each step of s; nil: there is no such counter.
func (c *Counts) Of(name string, s *Span) []Count {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	place, known := c.names[name]
	if !known {
		return nil
	}
	r := &c.rows[place]
	at, points := r.at, r.seconds[:]
	if s.unit == minute {
		at, points = r.at/60, r.minutes[:]
	}
	out, n := make([]Count, 0, s.Len()), int64(len(points))
	for first := s.first; first < s.end; first += s.each {
		var x Count
		for i := first; i < first+s.each; i++ {
			if i > at || i <= at-n || i < 0 || points[i%n] == 0 {
				continue
			}
			x.Known, x.N = true, x.N+uint64(points[i%n])-1
		}
		out = append(out, x)
	}
	return out
}
