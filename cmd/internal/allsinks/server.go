// Routes: the API of a sink below /api/v1, answered over all sinks, and what is only there: /api/v1/sinks.

package allsinks

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"intsink/conf"
)

// statusPath is what says who a sink is.
const statusPath = "/api/v1/status"

// answerer makes the answer of one route.
type answerer func(ctx context.Context, r *http.Request) (object, error)

// routes are the paths, each with who answers it.
func (s *Sinks) routes() map[string]answerer {
	all := map[string]answerer{
		"status": s.status, "problems": s.problemList, "sinks": s.list, "incident": s.incident, "history/{what}": s.history,
		"flows/{id}": s.detail(newestFlow), "paths/{id}": s.detail(mergeOne("paths")), "queues/{id}": s.detail(mergeOne("queues")), "nodes/{id}": s.detail(mergeOne("nodes")),
	}
	for name := range lists {
		all[name] = s.listOf(name)
	}
	all["episodes"] = s.episodeList
	return all
}

// Paths are what can be asked, for who lists it.
func Paths() (all []string) {
	for path := range (&Sinks{}).routes() {
		all = append(all, "/api/v1/"+path)
	}
	slices.Sort(all)
	return all
}

// Register adds the routes. What changes a sink is not here: it is asked of the sink itself.
func (s *Sinks) Register(mux *http.ServeMux) {
	for path, answer := range s.routes() {
		mux.HandleFunc("GET /api/v1/"+path, s.handle(answer))
	}
	mux.HandleFunc("GET /api/v1/{$}", s.handle(func(context.Context, *http.Request) (object, error) { return object{"endpoints": Paths()}, nil }))
	mux.HandleFunc("/api/v1/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			fail(w, &refusal{http.StatusMethodNotAllowed, "this is the page of all sinks, which changes none: ask the sink itself"})
			return
		}
		fail(w, &refusal{http.StatusNotFound, "there is nothing here over all sinks: ask the sink itself; GET /api/v1/sinks has their addresses"})
	})
}

// handle answers in JSON, errors too.
func (s *Sinks) handle(answer answerer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 6*s.o.Timeout+time.Second)
		defer cancel()
		o, err := answer(ctx, r)
		if err != nil {
			fail(w, err)
			return
		}
		if page, is := o[pageKey].(*page); is {
			page.write(w)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.Encode(o) // fails where nobody listens any more
	}
}

// fail answers an error.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusServiceUnavailable
	var said *refusal
	switch {
	case errors.As(err, &said):
		status = said.status
	case errors.Is(err, errBusy):
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": err.Error()}) // fails where nobody listens any more
}

// errNobody is the error where no sink answers.
var errNobody = errors.New("no sink answers: GET /api/v1/sinks says why, for each")

// asked asks all sinks for the path and parameters of r. Where no sink answers, the error is what they say is wrong with the question, or that
// nobody answers.
func (s *Sinks) asked(ctx context.Context, r *http.Request, limit time.Duration) (*question, error) {
	return s.askFor(ctx, pathOf(r), limit)
}

func (s *Sinks) askFor(ctx context.Context, path string, limit time.Duration) (*question, error) {
	q, err := s.ask(ctx, path, limit)
	if err != nil {
		return nil, err
	}
	if err := q.refused(); err != nil {
		return q, err
	}
	if len(q.answers()) == 0 {
		return q, errNobody
	}
	return q, nil
}

// pathOf is the path of a request with its parameters in one order, so that the same question is the same.
func pathOf(r *http.Request) string {
	path := r.URL.EscapedPath()
	if q, err := url.ParseQuery(r.URL.RawQuery); err == nil && len(q) > 0 {
		return path + "?" + q.Encode()
	}
	return path
}

// once merges the replies of q by merge, for the first who wants it.
func (q *question) once(merge func(q *question) (object, error)) (object, error) {
	q.merge.Do(func() {
		o, err := merge(q)
		if p := q.partial(); err == nil && len(p) > 0 {
			o["partial"] = p
		}
		q.merged, q.failed = o, err
	})
	return q.merged, q.failed
}

// WriteNames answers GET /api/v1/names in JSON.
func (s *Sinks) WriteNames(w http.ResponseWriter, r *http.Request) { s.handle(s.names)(w, r) }

// names answers what nodes, interfaces and hosts are called: by the network's own file, else by the sinks'.
func (s *Sinks) names(ctx context.Context, _ *http.Request) (object, error) {
	q, err := s.askFor(ctx, "/api/v1/names", s.o.Timeout)
	nodes, hosts := object{}, object{}
	if err == nil {
		for _, a := range q.answers() {
			for id, n := range inner(a.o, "nodes") {
				nodes[id] = n
			}
			for a, n := range inner(a.o, "hosts") {
				hosts[a] = n
			}
		}
	}
	own := s.o.Names()
	for _, n := range own.All() {
		nodes[number64(uint64(n.ID))] = nodeNames(n)
	}
	for a, name := range own.HostNames {
		hosts[a.String()] = name
	}
	return object{"nodes": nodes, "hosts": hosts}, nil
}

func nodeNames(n conf.NodeName) object {
	interfaces := object{}
	for _, i := range n.Interfaces {
		interfaces[number64(uint64(i.Number))] = i.Text
	}
	return object{"name": n.Name, "interfaces": interfaces}
}
