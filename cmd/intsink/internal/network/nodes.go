// GET /api/v1/nodes: the nodes that were seen in the last day, those that are gone with them.

package network

import (
	"net/http"
	"time"

	"intsink/cmd/intsink/internal/control"
)

// nodeItem is a node in JSON.
type nodeItem struct {
	Node     uint32     `json:"node"`
	LastSeen *time.Time `json:"last_seen,omitempty"`
	Gone     bool       `json:"gone,omitempty"`
}

// serveNodes answers GET /api/v1/nodes.
func (x *Network) serveNodes(w http.ResponseWriter, _ *http.Request) {
	x.mu.Lock()
	items := []nodeItem{}
	for _, id := range x.ids() {
		n := x.nodes[id]
		items = append(items, nodeItem{Node: id, LastSeen: new(n.seen.UTC()), Gone: n.gone})
	}
	left := x.left
	x.mu.Unlock()
	control.Answer(w, http.StatusOK, map[string]any{"items": items, "totals": map[string]uint64{"nodes": uint64(len(items)), "left_out": left}})
}

// Register adds the routes.
func (x *Network) Register(mux control.Mux) {
	mux.HandleFunc("GET /api/v1/nodes", x.serveNodes)
	mux.HandleFunc("GET /api/v1/changes", x.serveChanges)
	mux.HandleFunc("/api/v1/nodes", control.Only("GET", "GET, HEAD"))
	mux.HandleFunc("/api/v1/changes", control.Only("GET", "GET, HEAD"))
}
