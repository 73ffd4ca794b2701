// Memory of the numbers that came, for other collectors behind the same address: what one of them misses another one may have.

package streams

import (
	"cmp"
	"math"
	"slices"
)

// Span is a range of numbers, both ends included.
type Span struct{ First, Last uint64 }

// visit is a range of numbers that came, and when.
type visit struct {
	Span
	begin, end int64 // Unix nanoseconds
}

// memory has the numbers of a stream that came since a time.
type memory struct {
	since  int64
	visits []visit // in rising order; none touches the next one
	claims []visit // gaps that others are asked about, and when the packets around them came
}

// maxVisits bounds a memory: beyond it, the oldest are forgotten.
const maxVisits = 1024

// slack is how far the clocks of two collectors may be apart, in nanoseconds.
const slack = int64(1e9)

// Remember makes the table remember what comes from since on, in Unix nanoseconds. Numbers that are missing do not count as lost any
// more: whoever asks other collectors for them calls Settled, and Lose or LoseUnknown counts them. Of two collectors that both miss a
// number, the one with the lower id tells. It is called before the first packet.
func (t *Table) Remember(since int64, id uint64) { t.since, t.id = since, id }

// remember begins an empty memory; 0: none.
func (s *Stream) remember(since int64) {
	if s.memory = nil; since > 0 {
		s.memory = &memory{since: since}
	}
}

// add takes number n into the memory.
func (m *memory) add(n uint64, arrived int64) { m.cover(Span{n, n}, arrived) }

// cover takes a range of numbers into the memory.
func (m *memory) cover(r Span, arrived int64) {
	if m == nil {
		return
	}
	i := len(m.visits) // the first one that ends at First or behind, or right in front of it
	for i > 0 && m.visits[i-1].Last+1 >= r.First {
		i--
	}
	j, v := i, visit{r, arrived, arrived}
	for ; j < len(m.visits) && m.visits[j].First <= r.Last+1; j++ {
		o := &m.visits[j]
		v = visit{Span{min(v.First, o.First), max(v.Last, o.Last)}, min(v.begin, o.begin), max(v.end, o.end)}
	}
	if j == i+1 { // by far the most: the last one grows
		m.visits[i] = v
		return
	}
	m.visits = slices.Replace(m.visits, i, j, v)
	if len(m.visits) > maxVisits {
		m.since = max(m.since, m.visits[0].end)
		m.visits = slices.Delete(m.visits, 0, 1)
	}
}

// Question asks another collector for numbers of a stream that did not come.
type Question struct {
	Key     Key    `json:"stream"`
	First   uint64 `json:"first"` // 0, where Highest is asked for
	Last    uint64 `json:"last"`
	Before  int64  `json:"before"` // see Gap
	After   int64  `json:"after"`
	Asker   uint64 `json:"asker"`             // its id, see Table.Remember
	Highest bool   `json:"highest,omitempty"` // asks for the highest number up to Last that came
}

// Answer says which of the numbers came to a collector.
type Answer struct {
	Spans   []Span `json:"spans,omitempty"`
	Sure    bool   `json:"sure"` // no others came: it remembers the whole time
	Highest uint64 `json:"highest,omitempty"`
	Found   bool   `json:"found,omitempty"` // there is a Highest
}

// MaxSpans bounds an answer.
const MaxSpans = 512

// Ask answers a question of another collector. Numbers are as the question has them: those of senders that do not say who they
// are count from another start there.
func (t *Table) Ask(q *Question) (a Answer) {
	s := t.streams[q.Key.place()]
	if s == nil || s.memory == nil {
		a.Sure = t.since > 0 && t.since < q.Before-slack
		return a
	}
	if q.Highest {
		return s.highest(q)
	}
	a.Sure = s.memory.since < q.Before-slack
	s.answer(s.memory.visits, q, &a)
	if t.id < q.Asker { // this one tells of what both miss
		s.answer(s.memory.claims, q, &a)
		for _, h := range s.holes {
			s.answer([]visit{h.claim()}, q, &a)
		}
	}
	return a
}

func (h *hole) claim() visit { return visit{Span{h.first, h.last}, h.before, h.after} }

// answer adds what the question asks for to its answer.
func (s *Stream) answer(visits []visit, q *Question, a *Answer) {
	for i := range visits {
		v, ok := s.shifted(&visits[i], q)
		if v.First, v.Last = max(v.First, q.First), min(v.Last, q.Last); !ok || v.First > v.Last {
			continue
		}
		if len(a.Spans) == MaxSpans {
			a.Sure = false
			return
		}
		a.Spans = append(a.Spans, v)
	}
}

// Settled says that others have been asked about a gap that the table told of.
func (t *Table) Settled(g *Gap) {
	if s := t.streams[g.Key.place()]; s != nil && s.memory != nil {
		s.memory.claims = slices.DeleteFunc(s.memory.claims, func(v visit) bool { return v.First == g.First && v.Last == g.Last })
	}
}

// highest answers which number up to Last was the highest that came.
func (s *Stream) highest(q *Question) (a Answer) {
	a.Sure = true
	if s.next > 0 && s.next-1 <= q.Last && !(len(s.memory.visits) == 0 && s.first == s.next && !s.numbered) {
		a.Highest, a.Found = s.next-1, true
		return a
	}
	for _, v := range slices.Backward(s.memory.visits) {
		if v.First <= q.Last {
			a.Highest, a.Found = min(v.Last, q.Last), true
			return a
		}
	}
	return a
}

// shifted returns a range in the question's numbers. It returns false where it is not of that time.
func (s *Stream) shifted(v *visit, q *Question) (Span, bool) {
	if s.known() {
		return v.Span, true
	}
	after := cmp.Or(q.After, math.MaxInt64-slack)
	if v.end < q.Before-slack || v.begin > after+slack || v.Last-v.First > s.mask()/2 {
		return Span{}, false
	}
	m := s.mask()
	ahead := (v.First - q.First) & m
	first := q.First + ahead
	if ahead > m/2 {
		if behind := m + 1 - ahead; behind <= q.First {
			first = q.First - behind
		} else { // it begins before the numbers of the question do
			length := v.Last - v.First + 1
			return Span{0, q.First + length - behind - 1}, length > behind
		}
	}
	return Span{first, first + v.Last - v.First}, true
}

// Lose counts as lost numbers of a gap that no other collector has, and remembers that they are told.
func (t *Table) Lose(k Key, start int64, r Span) {
	s := t.streams[k.place()]
	if s == nil {
		t.Gone.Lost += r.Last - r.First + 1
		return
	}
	s.Lost += r.Last - r.First + 1
	if s.start == start {
		s.memory.cover(r, s.newest.Arrived)
	}
}

// LoseUnknown counts a gap of which it is not known what other collectors have.
func (t *Table) LoseUnknown(k Key) {
	if s := t.streams[k.place()]; s != nil {
		s.Unknown++
		return
	}
	t.Gone.Unknown++
}

// Without returns r without those of spans, in rising order.
func (r Span) Without(spans []Span) (left []Span) {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.First, b.First) })
	for _, o := range spans {
		if o.Last < r.First || o.First > r.Last {
			continue
		}
		if o.First > r.First {
			left = append(left, Span{r.First, o.First - 1})
		}
		if o.Last >= r.Last {
			return left
		}
		r.First = o.Last + 1
	}
	return append(left, r)
}

// Whole reports whether no number is missing that may still come.
func (t *Table) Whole() bool {
	for _, s := range t.streams {
		if len(s.holes) > 0 {
			return false
		}
	}
	return true
}
