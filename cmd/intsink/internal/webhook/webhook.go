// Hooks: hands each begin and end of a problem to the HTTP servers that blocks notify name.

// Package webhook tells HTTP servers what begins and ends to be wrong: each of the blocks notify has a queue and a
// goroutine of its own, so that a server that is slow, dead or hostile holds nothing up, and no other server.
package webhook

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/part"
	"intsink/conf"
	"intsink/engine/metric"
)

// block is what a hook that fails is called among what is degraded.
const block = "notify"

// Sink is who tells.
type Sink struct {
	Node    uint32 `json:"node"`
	Host    string `json:"host"`
	Version string `json:"version"`
}

// Hooks are the hooks of the configuration in force, from Start on. Its methods are safe for concurrent use.
type Hooks struct {
	sink     func() Sink
	degraded *degraded.Parts

	mu    sync.Mutex
	hooks []*hook
	gone  map[string]*counts // of hooks that were configured before
}

// counts are what became of changes; the numbers of a name go on over reloads.
type counts [numResults]atomic.Uint64

// Result says what became of a change that a hook was to tell.
type Result uint8

// The results.
const (
	Sent Result = iota
	Failed
	Dropped
	Replaced
	numResults
)

// String is the value of the result label.
func (r Result) String() string {
	return [numResults]string{"sent", "failed", "dropped", "replaced"}[r]
}

// Start implements part.Part.
func (h *Hooks) Start(e *part.Env) (stop func(), err error) {
	host, _ := os.Hostname() // none is what it is called then
	h.sink = func() Sink { return Sink{Node: e.Config().Node.ID, Host: host, Version: e.Version} }
	h.degraded = e.Degraded
	h.Configure(e.Config().Notify)
	return h.Stop, nil
}

// Configure makes the hooks those of all. A hook that is as it was goes on, with what waits for it.
func (h *Hooks) Configure(all []conf.Notify) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var next []*hook
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
		at := slices.IndexFunc(h.hooks, func(k *hook) bool { return k.conf == c })
		if at >= 0 {
			next = append(next, h.hooks[at])
			continue
		}
		n := h.gone[c.Name]
		if n == nil {
			if n = new(counts); h.gone == nil {
				h.gone = map[string]*counts{}
			}
			h.gone[c.Name] = n
		}
		next = append(next, start(h, c, n))
	}
	for _, k := range h.hooks {
		if !slices.Contains(next, k) {
			k.stop()
		}
	}
	h.hooks = next
	h.degraded.Keep(block, names)
}

// Reload implements part.Reloads.
func (h *Hooks) Reload(_, c *conf.Config) { h.Configure(c.Notify) }

// Heed implements part.Heeds: it queues a change for all hooks. It never waits. A hook that fails is a problem, too: the hook itself is not told.
func (h *Hooks) Heed(c problem.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range h.hooks {
		if p := c.Problem.Place; len(p) == 1 && p[0] == (problem.Part{What: block, ID: k.conf.Name}) {
			continue
		}
		k.waiting.put(c)
	}
}

// Metrics implements part.Metrics.
func (h *Hooks) Metrics() []metric.Bound { return metric.Bind(metrics, h) }

var metrics = []metric.Of[Hooks]{
	{Name: "intsink_notify_total", Help: "begins and ends of problems that a webhook was to tell, by result: sent, failed (given up), dropped (no room), replaced (it went on before it was sent)", Samples: func(h *Hooks, to metric.Samples) {
		h.count(func(name string, r Result, n uint64) { to.Add(n, "name", name, "result", r) })
	}},
}

// count tells how many changes had each result, by the name of the hook.
func (h *Hooks) count(tell func(name string, r Result, n uint64)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range h.hooks {
		for r := range numResults {
			tell(k.conf.Name, r, k.counts[r].Load())
		}
	}
}

// Stop ends all hooks. What waits is not sent any more.
func (h *Hooks) Stop() { h.Configure(nil) }
