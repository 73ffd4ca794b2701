// GET /api/v1/nodes, and one of them: the nodes that were seen in the last day, those that are gone with them.

package network

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"intsink/cmd/intsink/internal/control"
)

// nodeItem is a node in JSON.
type nodeItem struct {
	Node     uint32     `json:"node"`
	LastSeen *time.Time `json:"last_seen,omitempty"`
	Gone     bool       `json:"gone,omitempty"`
	clockState
}

// clockState is how a node's clock is beside those of its neighbours; all absent: nothing tells.
type clockState struct {
	Clock      string     `json:"clock,omitempty"`            // right, ahead or behind; disputed: of two neighbours, whose it is nothing tells
	OffNs      int64      `json:"clock_off_ns,omitempty"`     // by how much it is ahead or behind
	DriftNs    int64      `json:"clock_drift_ns,omitempty"`   // by how much it gets ahead in a second; negative: behind
	Neighbours int        `json:"clock_neighbours,omitempty"` // that tell
	Since      *time.Time `json:"clock_since,omitempty"`
}

// nodeDetail is a node, with what is around it.
type nodeDetail struct {
	nodeItem
	Neighbours []uint32 `json:"neighbours"`
}

// Seen is when packets came through a node last; false: none did in the last day.
func (x *Network) Seen(id uint32) (at time.Time, known bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.nodes[id]; n != nil {
		return n.seen, true
	}
	return at, false
}

// serveNode answers GET /api/v1/nodes/{id}.
func (x *Network) serveNode(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(r.PathValue("id"), 0, 32)
	if err != nil {
		control.Answer(w, http.StatusBadRequest, map[string]string{"error": "the id of a node is a number, such as 102 or 0x66"})
		return
	}
	x.mu.Lock()
	n := x.nodes[uint32(id)]
	var d nodeDetail
	if n != nil {
		d = nodeDetail{nodeItem{uint32(id), new(n.seen.UTC()), n.gone, x.clocks[uint32(id)]}, slices.SortedFunc(maps.Keys(n.next), cmp.Compare[uint32])}
	}
	x.mu.Unlock()
	if n == nil {
		control.Answer(w, http.StatusNotFound, map[string]string{"error": "node " + strconv.FormatUint(id, 10) + " was not seen in the last day; GET /api/v1/nodes lists those that were"})
		return
	}
	control.Answer(w, http.StatusOK, d)
}

// serveNodes answers GET /api/v1/nodes.
func (x *Network) serveNodes(w http.ResponseWriter, _ *http.Request) {
	x.mu.Lock()
	items := []nodeItem{}
	for _, id := range x.ids() {
		n := x.nodes[id]
		items = append(items, nodeItem{Node: id, LastSeen: new(n.seen.UTC()), Gone: n.gone, clockState: x.clocks[id]})
	}
	left := x.left
	x.mu.Unlock()
	control.Answer(w, http.StatusOK, map[string]any{"items": items, "totals": map[string]uint64{"nodes": uint64(len(items)), "left_out": left}})
}

// Paths are what can be read.
func (x *Network) Paths() []string {
	return []string{"/api/v1/nodes", "/api/v1/nodes/{id}", "/api/v1/changes"}
}

// Register adds the routes.
func (x *Network) Register(mux control.Mux) {
	mux.HandleFunc("GET /api/v1/nodes", x.serveNodes)
	mux.HandleFunc("GET /api/v1/nodes/{id}", x.serveNode)
	mux.HandleFunc("GET /api/v1/changes", x.serveChanges)
	mux.HandleFunc("/api/v1/nodes", control.Only("GET", "GET, HEAD"))
	mux.HandleFunc("/api/v1/nodes/{id}", control.Only("GET", "GET, HEAD"))
	mux.HandleFunc("/api/v1/changes", control.Only("GET", "GET, HEAD"))
}
