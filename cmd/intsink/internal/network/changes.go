// The last changes of paths: which flows went from which way to which, and when. GET /api/v1/changes.

package network

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
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

	countedApart = 256             // flows of an entry that can be taken out again
	beforeSpray  = 2 * time.Minute // for how long a flow may have changed ways before it counts as sprayed
)

// change is one entry. Its fields are exported for the file that keeps it over a restart.
type change struct {
	Known    bool      `json:",omitempty"` // the node that the flows come from was
	At       time.Time // of the first
	From, To inspect.Path
	Count    int      // flows
	Flows    []string // some of them
	counted  []uint64 // hashes of more of them
}

// ring keeps the last changes, those of each node that flows come from apart: where there are too many, the one that has most of
// them loses its oldest. All nodes that are not known are one, so that made-up ones take no room from others.
type ring struct {
	of map[uint32][]change // by node, the oldest first
	n  int
}

// strangers is who has the changes of flows that come from nodes that are not known.
const strangers = unknown

// comesFrom is the node that flows on a path come from, strangers where it is not known.
func (x *Network) comesFrom(p *inspect.Path, now time.Time) uint32 {
	if way := p.Known(); len(way) > 0 && x.isKnown(way[0].Node, now) {
		return way[0].Node
	}
	return strangers
}

// add takes up the change of one flow, which comes from a node, or from strangers.
func (r *ring) add(now time.Time, origin uint32, flow string, from, to *inspect.Path) {
	mine := r.of[origin]
	for i := len(mine) - 1; i >= max(len(mine)-64, 0); i-- { // the last ones
		c := &mine[i]
		if now.Sub(c.At) > together {
			break
		}
		if c.From.ID == from.ID && c.To.ID == to.ID {
			c.count(flow)
			if len(c.Flows) < maxFlows && !slices.Contains(c.Flows, flow) {
				c.Flows = append(c.Flows, flow)
			}
			return
		}
	}
	c := change{Known: origin != strangers, At: now, From: *from, To: *to, Flows: []string{flow}}
	c.count(flow)
	r.put(origin, c)
}

// flowSeed is of the hashes of flows.
var flowSeed = maphash.MakeSeed()

// count counts a flow once, as far as there is room to know which are.
func (c *change) count(flow string) {
	h := maphash.String(flowSeed, flow)
	if slices.Contains(c.counted, h) {
		return
	}
	c.Count++
	if len(c.counted) < countedApart {
		c.counted = append(c.counted, h)
	}
}

// takeBack takes a flow out of the changes since a time: what it did was no change of its way.
func (r *ring) takeBack(since time.Time, flow string) {
	h := maphash.String(flowSeed, flow)
	for origin, all := range r.of {
		for i := len(all) - 1; i >= 0 && !all[i].At.Before(since); i-- {
			c := &all[i]
			if n := slices.Index(c.counted, h); n >= 0 {
				c.Count--
				c.counted = slices.Delete(c.counted, n, n+1)
				c.Flows = slices.DeleteFunc(c.Flows, func(f string) bool { return f == flow })
			}
		}
		kept := slices.DeleteFunc(all, func(c change) bool { return c.Count == 0 })
		r.n -= len(all) - len(kept)
		r.of[origin] = kept
	}
}

// put adds an entry.
func (r *ring) put(origin uint32, c change) {
	if r.of == nil {
		r.of = map[uint32][]change{}
	}
	r.of[origin] = append(r.of[origin], c)
	if r.n++; r.n <= ringSize {
		return
	}
	most := origin
	for other, all := range r.of {
		if len(all) > len(r.of[most]) {
			most = other
		}
	}
	r.of[most][0] = change{} // its flows are garbage now
	r.of[most] = r.of[most][1:]
	r.n--
}

// all are the entries, the newest first.
func (r *ring) all() (all []*change) {
	for _, of := range r.of {
		for i := range slices.Backward(of) {
			all = append(all, &of[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *change) int { return b.At.Compare(a.At) })
	return all
}

// EachChange shows the last changes of paths to see, the newest first, until that returns false: when, some of the flows, and
// their ways before and then. What is shown is see's only until it returns.
func (x *Network) EachChange(see func(at time.Time, flows []string, from, to *inspect.Path) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range x.changes.all() {
		if !see(c.At, c.Flows, &c.From, &c.To) {
			return
		}
	}
}

// EncodeChanges returns the last changes of paths, the oldest first, as JSON for a file.
func (x *Network) EncodeChanges() []byte {
	x.mu.Lock()
	var all []change
	for _, c := range slices.Backward(x.changes.all()) {
		all = append(all, *c)
		all[len(all)-1].Flows = slices.Clone(c.Flows)
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
	x.changes = ring{}
	for i := range all {
		origin := uint32(strangers)
		if way := all[i].From.Known(); all[i].Known && len(way) > 0 {
			origin = way[0].Node
		}
		x.changes.put(origin, all[i])
	}
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
	for _, c := range x.changes.all() {
		if c.At.Before(since) || len(items) == limit {
			break
		}
		items = append(items, changeItem{c.At.UTC(), x.way(&c.From), x.way(&c.To), c.Count, slices.Clone(c.Flows)})
	}
	n := x.changes.n
	x.mu.Unlock()
	control.Answer(w, http.StatusOK, map[string]any{"items": items, "totals": map[string]int{"changes": n}})
}
