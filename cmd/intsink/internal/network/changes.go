// The last changes of paths: which flows went from which way to which, and when. GET /api/v1/changes.

package network

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"intsink/cmd/intsink/internal/control"
	"intsink/engine/aside/inspect"
)

const (
	ringSize = 4096
	together = time.Second // changes from one path to another within this are one entry
	maxItems = 1000
)

// change is one entry. Its fields are exported for the file that keeps it over a restart.
type change struct {
	At       time.Time // of the first
	From, To inspect.Path
	Count    int      // flows
	Flows    []string // some of them
}

// ring keeps the last changes.
type ring struct {
	all  []change
	next int // place of the next entry, once all is full
}

// add takes up the change of one flow.
func (r *ring) add(now time.Time, flow string, from, to *inspect.Path) {
	for i := 1; i <= min(len(r.all), 64); i++ { // the last ones
		c := r.back(i)
		if now.Sub(c.At) > together {
			break
		}
		if c.From.ID == from.ID && c.To.ID == to.ID {
			c.Count++
			if len(c.Flows) < maxFlows && !slices.Contains(c.Flows, flow) {
				c.Flows = append(c.Flows, flow)
			}
			return
		}
	}
	c := change{now, *from, *to, 1, []string{flow}}
	if len(r.all) < ringSize {
		r.all = append(r.all, c)
		return
	}
	r.all[r.next] = c
	r.next = (r.next + 1) % ringSize
}

// EachChange shows the last changes of paths to see, the newest first, until that returns false: when, some of the flows, and
// their ways before and then. What is shown is see's only until it returns.
func (x *Network) EachChange(see func(at time.Time, flows []string, from, to *inspect.Path) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := 1; i <= len(x.changes.all); i++ {
		if c := x.changes.back(i); !see(c.At, c.Flows, &c.From, &c.To) {
			return
		}
	}
}

// back is the entry that is the n-th from the end.
func (r *ring) back(n int) *change { return &r.all[(r.next+len(r.all)-n)%len(r.all)] }

// EncodeChanges returns the last changes of paths, the oldest first, as JSON for a file.
func (x *Network) EncodeChanges() []byte {
	x.mu.Lock()
	r := &x.changes
	all := slices.Concat(r.all[r.next:], r.all[:r.next])
	for i := range all {
		all[i].Flows = slices.Clone(all[i].Flows)
	}
	x.mu.Unlock()
	b, _ := json.Marshal(all) // numbers, times and strings: it does not fail
	return b
}

// DecodeChanges takes in what EncodeChanges returned, before the first change, but for those later than now: the clock was
// set. With an error nothing is taken.
func (x *Network) DecodeChanges(b []byte, now time.Time) error {
	var all []change
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(c change) bool { return c.At.After(now) })
	x.mu.Lock()
	defer x.mu.Unlock()
	x.changes = ring{all: all[max(len(all)-ringSize, 0):]}
	return nil
}

// changeItem is an entry in JSON.
type changeItem struct {
	Time  time.Time `json:"time"`
	From  wayItem   `json:"from"`
	To    wayItem   `json:"to"`
	Count int       `json:"count"`
	Flows []string  `json:"flows"`
}

// wayItem is a path: its id as in /api/v1/paths, and its nodes.
type wayItem struct {
	ID    string     `json:"id"`
	Nodes []nodeItem `json:"nodes"`
}

func (x *Network) way(p *inspect.Path) wayItem {
	w := wayItem{fmt.Sprintf("%016x", p.ID), []nodeItem{}}
	for _, id := range nodesOf(p) {
		w.Nodes = append(w.Nodes, nodeItem{Node: id})
	}
	return w
}

// serveChanges answers GET /api/v1/changes: the newest first.
func (x *Network) serveChanges(w http.ResponseWriter, r *http.Request) {
	limit, since := 100, time.Time{}
	for name, values := range r.URL.Query() {
		var err error
		switch name {
		case "limit":
			limit, err = strconv.Atoi(values[0])
			if err == nil && (limit < 1 || limit > maxItems) {
				err = fmt.Errorf("it must be 1 to %d", maxItems)
			}
		case "since":
			since, err = time.Parse(time.RFC3339, values[0])
		default:
			err = fmt.Errorf("it is not known; there is limit, since")
		}
		if err != nil {
			control.Answer(w, http.StatusBadRequest, map[string]string{"error": fmt.Sprintf("parameter %.40q: %v", name, err)})
			return
		}
	}
	x.mu.Lock()
	items := []changeItem{}
	for i := 1; i <= len(x.changes.all) && len(items) < limit; i++ {
		c := x.changes.back(i)
		if c.At.Before(since) {
			break
		}
		items = append(items, changeItem{c.At.UTC(), x.way(&c.From), x.way(&c.To), c.Count, slices.Clone(c.Flows)})
	}
	n := len(x.changes.all)
	x.mu.Unlock()
	control.Answer(w, http.StatusOK, map[string]any{"items": items, "totals": map[string]int{"changes": n}})
}
