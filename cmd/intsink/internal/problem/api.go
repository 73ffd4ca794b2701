// GET /api/v1/problems: what is wrong and what was, with filters.

package problem

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
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

// openNow are copies of what is wrong, the oldest first. The caller holds l.mu.
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

// filter selects problems.
type filter struct {
	open  *bool
	kinds []Kind
	since time.Time // that were wrong at this time or later
	limit int
}

// mostItems is how many problems an answer has at most, which is all.
const mostItems = 2*maxOpen + maxEnded

func newFilter(q url.Values) (f filter, err error) {
	f.limit = mostItems
	for name, values := range q {
		if len(values) != 1 {
			return f, fmt.Errorf("%s stands there %d times", name, len(values))
		}
		v := values[0]
		switch name {
		case "open":
			f.open = new(v == "true")
			if v != "true" && v != "false" {
				return f, fmt.Errorf("open = %.40q: must be true or false", v)
			}
		case "kind":
			for _, k := range strings.Split(v, ",") {
				if !Kind(k).Known() {
					return f, fmt.Errorf("kind = %.40q: there is %s", k, KindNames())
				}
				f.kinds = append(f.kinds, Kind(k))
			}
		case "since":
			if f.since, err = time.Parse(time.RFC3339, v); err != nil {
				return f, fmt.Errorf("since = %.40q: must be a time such as 2026-11-22T03:31:09Z", v)
			}
		case "limit":
			if f.limit, err = strconv.Atoi(v); err != nil || f.limit < 1 || f.limit > mostItems {
				return f, fmt.Errorf("limit = %.40q: must be 1 to %d", v, mostItems)
			}
		default:
			return f, fmt.Errorf("parameter %.40q is not known; there is kind, limit, open, since", name)
		}
	}
	return f, nil
}

// KindNames lists all kinds, for messages.
func KindNames() string {
	var all []string
	for i := range Kinds {
		all = append(all, string(Kinds[i].Kind))
	}
	return strings.Join(all, ", ")
}

func (f *filter) match(p *Problem) bool {
	return (f.open == nil || *f.open == (p.Until == nil)) && (len(f.kinds) == 0 || slices.Contains(f.kinds, p.Kind)) &&
		(p.Until == nil || !p.Until.Before(f.since))
}

// Answer has all problems.
func (l *List) Answer() *Answer { return l.answer(&filter{limit: mostItems}) }

// answer is what f selects.
func (l *List) answer(f *filter) *Answer {
	l.mu.Lock()
	all := l.openNow()
	for _, p := range slices.Backward(l.ended) {
		all = append(all, new(*p))
	}
	a := &Answer{Items: []*Problem{}, Totals: Totals{Left: l.left}, Looked: Looked{l.looked.UTC(), map[string]int{}}}
	for group, n := range l.signs {
		a.Looked.Signs[group] = n
	}
	l.mu.Unlock()
	for _, p := range all {
		switch {
		case !f.match(p):
			continue
		case p.Until == nil:
			a.Totals.Open++
		default:
			a.Totals.Ended++
		}
		if len(a.Items) < f.limit {
			a.Items = append(a.Items, p)
		}
	}
	return a
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
	f, err := newFilter(r.URL.Query())
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
