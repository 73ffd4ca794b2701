// Selects the paths that a request asks for (by node, link, id, congestion); fills ids and hops
// of paths as JSON.

package flowapi

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"intsink/cmd/internal/cli"
	"intsink/engine/aside/inspect"
)

// ways are the paths that each worker has a description of, by the hash that its
// flows keep. Hashes have a key of their worker's own: only IDs compare.
type ways []map[uint64]*inspect.Path

func waysOf(questions []*inspect.PendingQuery) ways {
	w := make(ways, len(questions))
	for i, q := range questions {
		w[i] = make(map[uint64]*inspect.Path, len(q.Ways))
		for j := range q.Ways {
			w[i][q.Ways[j].Key[0]] = &q.Ways[j].Value
		}
	}
	return w
}

// pathID is the ID as text. If only the worker's hash of the path is known (p is nil), the ID is
// made of the worker and the hash, and is unlike all others.
func pathID(worker int, hash uint64, p *inspect.Path) string {
	if p == nil {
		return fmt.Sprintf("w%d-%016x", worker, hash)
	}
	return fmt.Sprintf("%016x", p.ID)
}

// pathIDs are the IDs as pathID and mergePaths write them.
var pathIDs = regexp.MustCompile(`^(w[0-9]+-)?[0-9a-f]{16}'*$`)

// pathID is the ID of a path. One that no flow is on now is a right one: paths come
// and go.
func (p *parameters) pathID(name string) string {
	s := p.text(name)
	if s != "" && !pathIDs.MatchString(s) {
		p.fail("%s = %q: must be the id of a path as GET /api/v1/paths lists it, such as 570a954f16dea0e0", name, cli.Short(s))
	}
	return s
}

// wayFilter selects paths by where they lead.
type wayFilter struct {
	id        string
	node      *uint32
	link      *crossing
	congested *bool
}

func (p *parameters) way(idName string) wayFilter {
	return wayFilter{p.pathID(idName), number[uint32](p, "node", 32), p.crossing("link"), p.yes("congested")}
}

func (f *wayFilter) any() bool {
	return f.id == "" && f.node == nil && f.link == nil && f.congested == nil
}

// egress is an interface that packets leave a node by.
type egress struct {
	node uint32
	port uint16
}

// match tells whether path p, which may be nil, is selected. hot are the egress
// interfaces that have a congested queue.
func (f *wayFilter) match(id string, p *inspect.Path, hot map[egress]bool) bool {
	if f.id != "" && f.id != id {
		return false
	}
	if p == nil {
		return f.node == nil && f.link == nil && f.congested == nil
	}
	way := p.Known()
	through := func(h inspect.PathHop) bool { return f.node == nil || h.Node == *f.node }
	return slices.ContainsFunc(way, through) && (f.link == nil || crosses(way, f.link)) &&
		(f.congested == nil || *f.congested == isHot(way, hot))
}

func crosses(way []inspect.PathHop, l *crossing) bool {
	for i := 1; i < len(way); i++ {
		if way[i-1].Node == l.from && way[i].Node == l.to {
			return true
		}
	}
	return false
}

func isHot(way []inspect.PathHop, hot map[egress]bool) bool {
	return slices.ContainsFunc(way, func(h inspect.PathHop) bool { return hot[egress{h.Node, h.Egress}] })
}

// hotOf are the egress interfaces that have a congested queue, by any worker.
func (in *API) hotOf(questions []*inspect.PendingQuery) map[egress]bool {
	hot := map[egress]bool{}
	for _, q := range questions {
		for i := range q.Queues {
			if r := &q.Queues[i]; in.congested(q, r) {
				hot[egress{uint32(r.Key[0] >> 32), uint16(r.Key[0])}] = true
			}
		}
	}
	return hot
}

// onPaths finds, per worker, the hashes of the paths that f selects, sorted.
func (in *API) onPaths(ctx context.Context, f *wayFilter) ([][]uint64, error) {
	what := inspect.Ways
	if f.congested != nil {
		what |= inspect.Queues
	}
	questions, err := in.ask(ctx, func(int) *inspect.Query { return inspect.New(what, 0) })
	if err != nil {
		return nil, err
	}
	hot, hashes := in.hotOf(questions), make([][]uint64, len(questions))
	for i, known := range waysOf(questions) {
		for hash, p := range known {
			if f.match(pathID(i, hash, p), p, hot) {
				hashes[i] = append(hashes[i], hash)
			}
		}
		if s, ok := strings.CutPrefix(f.id, fmt.Sprintf("w%d-", i)); ok { // one without description
			var hash uint64
			if _, err := fmt.Sscanf(s, "%016x", &hash); err == nil && known[hash] == nil && f.node == nil && f.link == nil && f.congested == nil {
				hashes[i] = append(hashes[i], hash)
			}
		}
		slices.Sort(hashes[i])
	}
	return hashes, nil
}

// PathItem is one path in /api/v1/paths.
type PathItem struct {
	ID    string        `json:"id"`
	Hops  *int          `json:"hops"` // null where the path is not described
	Nodes []pathHopItem `json:"nodes"`

	IPHops     *int `json:"ip_hops"`     // routers on it, by the source's TTL; null: not told
	WithoutINT *int `json:"without_int"` // of these; the same
}

// pathHopItem is one node of a path, the source's first.
type pathHopItem struct {
	Node    uint32  `json:"node"`
	Ingress *uint16 `json:"ingress"`
	Egress  *uint16 `json:"egress"`
}

func newPathItem(worker int, hash uint64, p *inspect.Path) PathItem {
	item := PathItem{ID: pathID(worker, hash, p)}
	if p == nil {
		return item
	}
	item.Hops = some(int(p.Hops), true)
	if without, told := p.WithoutINT(); told {
		item.IPHops, item.WithoutINT = some(int(p.IPHops), true), some(without, true)
	}
	item.Nodes = []pathHopItem{}
	for _, h := range p.Known() {
		item.Nodes = append(item.Nodes, pathHopItem{h.Node, knownPort(h.Ingress), knownPort(h.Egress)})
	}
	return item
}

// knownPort is nil for all ones: unknown.
func knownPort(p uint16) *uint16 { return some(p, p != 0xffff) }
