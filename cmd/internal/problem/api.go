// GET /api/v1/problems: what is wrong and what was, with filters.

package problem

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// Answer is the JSON of GET /api/v1/problems.
type Answer struct {
	Items  []*Problem `json:"items"` // those of now first, then the one that ended last
	Totals Totals     `json:"totals"`
	Looked Looked     `json:"looked"`
}

// Totals are of all that the filters select.
type Totals struct {
	Open  int    `json:"open"`
	Ended int    `json:"ended"`
	Left  uint64 `json:"left_out"` // since the start: there was no room for them
}

// Looked is what "nothing is wrong" is said of.
type Looked struct {
	At    time.Time      `json:"at"`
	Signs map[string]int `json:"signs"` // counters and states, by who looks at them
}

// Open are copies of what is wrong, the oldest first.
func (l *List) Open() []*Problem {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.openNow()
}

// openNow does as Open. The caller holds l.mu.
func (l *List) openNow() []*Problem {
	open := []*Problem{}
	for _, t := range l.trouble {
		if t.problem != nil {
			open = append(open, new(*t.problem))
		}
	}
	slices.SortFunc(open, func(a, b *Problem) int { return cmp.Compare(a.ID, b.ID) })
	return open
}

// Now returns how many problems of each kind there are.
func (l *List) Now() map[Kind]int {
	n := map[Kind]int{}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.trouble {
		if t.problem != nil {
			n[t.problem.Kind]++
		}
	}
	return n
}

// mostItems is how many problems an answer has at most, which is all.
const mostItems = 2*maxOpen + maxEnded

// Answer has all problems.
func (l *List) Answer() *Answer { return l.answer(&Filter{limit: mostItems}) }

// answer is what f selects.
func (l *List) answer(f *Filter) *Answer {
	l.mu.Lock()
	all := l.openNow()
	for _, p := range slices.Backward(l.ended) {
		all = append(all, new(*p))
	}
	looked, left := Looked{l.looked.UTC(), map[string]int{}}, l.left
	for group, n := range l.signs {
		looked.Signs[group] = n
	}
	l.mu.Unlock()
	items, totals := Select(f, all, func(p *Problem) (Kind, time.Time) {
		if p.Until == nil {
			return p.Kind, time.Time{}
		}
		return p.Kind, *p.Until
	})
	totals.Left = left
	return &Answer{items, totals, looked}
}

// All are copies of all problems, those that have ended first.
func (l *List) All() []*Problem {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all()
}

// ServeHTTP answers GET /api/v1/problems.
func (l *List) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, body := http.StatusOK, any(nil)
	f, err := ReadFilter(r.URL.Query(), mostItems, Kinds)
	if err != nil {
		status, body = http.StatusBadRequest, map[string]string{"error": err.Error()}
	} else {
		body = l.answer(&f)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	e.Encode(body) // fails where nobody listens any more
}
