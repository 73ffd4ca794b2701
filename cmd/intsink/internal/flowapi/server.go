// API: registers the routes below /api/v1, asks every worker one query at a time, writes
// answers and errors as JSON.

package flowapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/verdict"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/part"
	"intsink/cmd/intsink/internal/status"
	"intsink/engine"
	"intsink/engine/aside/inspect"
	"intsink/engine/series"
)

// API answers /api/v1 with what the workers know.
type API struct {
	workers []*engine.Worker
	clock   func() int64
	timeout time.Duration // of one request
	turns   turns         // workers answer one request at a time
	told    uint64        // of the episodes that ended, by EndedEpisodes

	announce func(event string, body any)

	Problems func() []*problem.Problem               // of the sink and the network, of the last day; nil: nobody looks
	Seen     func(node uint32) (time.Time, bool)     // when a node of the last day was seen last; nil: nobody looks
	Changes  Changes                                 // of paths, of the last day; nil: nobody looks
	Silent   Silent                                  // flows that fell silent together; nil: nobody looks
	Recorded Recorded                                // what the flight recorder has; nil: there is none
	Page     func(x *Incident, format string) string // an incident for people: as text, or a page of HTML

	Counts *series.Counts // what there is a history of besides places; whoever looks at counters fills it; nil: nobody does
	Wall   func() int64   // by how much the wall clock is ahead of clock; nil: by nothing
}

// Changes shows changes of paths, the newest first, until see returns false.
type Changes func(see func(at time.Time, flows []string, from, to *inspect.Path) bool)

// Silent shows the flows that fell silent together and still are, with the ways that they took.
type Silent func(see func(at time.Time, flow string, way *inspect.Path))

func (in *API) ahead() int64 {
	if in.Wall == nil {
		return 0
	}
	return in.Wall()
}

// Timeout is longer than an answer over the largest flow table takes.
const Timeout = 30 * time.Second

// New makes an API over workers, whose time clock tells.
func New(workers []*engine.Worker, clock func() int64) *API {
	return &API{workers: workers, clock: clock, timeout: Timeout}
}

// Counter is a part that has the history of counters.
type Counter interface{ Counts() *series.Counts }

// Pages is a part that makes a page for people of an incident: text, or HTML.
type Pages interface {
	Page(x *Incident, format string) string
}

// Watcher is a part that looks at the network.
type Watcher interface {
	Seen(node uint32) (time.Time, bool)
	EachChange(see func(at time.Time, flows []string, from, to *inspect.Path) bool)
	EachSilent(see func(at time.Time, flow string, way *inspect.Path))
}

// Start implements part.Part. Parts that it asks may start later: nobody asks it before all have.
func (in *API) Start(e *part.Env) (stop func(), err error) {
	in.workers, in.clock, in.timeout, in.announce = e.Workers, e.Clock, Timeout, e.Announce
	in.Wall, in.Problems = e.WallClock, e.Problems.All
	if c := part.Find[Counter](e); c != nil {
		in.Counts = c.Counts()
	}
	if w := part.Find[Watcher](e); w != nil {
		in.Seen, in.Changes, in.Silent = w.Seen, w.EachChange, w.EachSilent
	}
	if p := part.Find[Pages](e); p != nil {
		in.Page = p.Page
	}
	if r := part.Find[Recorder](e); r != nil {
		in.Recorded = r.Recorded
	}
	return nil, nil
}

// Look implements part.Looks: it announces episodes that ended.
func (in *API) Look(*status.Status) {
	in.EndedEpisodes(func(x *EpisodeItem) { in.announce("episode", x) })
}

// Lists are the lists that there are, and their order in messages.
var Lists = []string{"flows", "paths", "queues", "links", "interfaces", "episodes"}

// Details are what there is one of, by its id.
var Details = []string{"flows/{id}", "paths/{id}", "queues/{id}"}

// RegisterShared adds the routes below /api/v1/.
func (in *API) RegisterShared(mux control.Mux) {
	lists := map[string]func(context.Context, *parameters) (any, error){
		"flows": in.flows, "paths": in.paths, "queues": in.queues, "links": in.links, "interfaces": in.interfaces, "episodes": in.episodes,
	}
	for name, list := range lists {
		mux.HandleFunc("GET /api/v1/"+name, in.handle(list))
		mux.HandleFunc("/api/v1/"+name, in.handle(readOnly))
	}
	for name, one := range map[string]func(context.Context, *parameters) (any, error){"flows": in.flow, "paths": in.path, "queues": in.queue} {
		mux.HandleFunc("GET /api/v1/"+name+"/{id}", in.handle(one))
		mux.HandleFunc("/api/v1/"+name+"/{id}", in.handle(readOnly))
	}
	mux.HandleFunc("GET /api/v1/incident", in.handle(in.incident))
	mux.HandleFunc("/api/v1/incident", in.handle(readOnly))
	mux.HandleFunc("GET /api/v1/history/{id}", in.handle(in.history))
	mux.HandleFunc("/api/v1/history/{id}", in.handle(readOnly))
	mux.HandleFunc("/api/v1/", in.handle(func(context.Context, *parameters) (any, error) {
		return nil, apiError{http.StatusNotFound, "there is nothing here; GET /api/v1/ lists what there is"}
	}))
}

// Paths are what can be read.
func (in *API) Paths() []string {
	all := []string{"/api/v1/incident"}
	for _, name := range slices.Concat(Lists, Details) {
		all = append(all, "/api/v1/"+name)
	}
	for _, name := range Histories {
		all = append(all, "/api/v1/history/"+name)
	}
	return all
}

// readOnly answers every method but GET and HEAD.
func readOnly(context.Context, *parameters) (any, error) {
	return nil, apiError{http.StatusMethodNotAllowed, "only GET is taken here; what changes something is /api/v1/reload, /api/v1/mode, /api/v1/mitigations and others: GET /api/v1/ lists them"}
}

// apiError is an error with its HTTP status.
type apiError struct {
	status int
	text   string
}

func (e apiError) Error() string { return e.text }

func badRequest(format string, args ...any) error {
	return apiError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// handle answers in JSON, errors too: {"error": "..."}.
func (in *API) handle(answer func(context.Context, *parameters) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), in.timeout)
		defer cancel()
		status := http.StatusOK
		who := callerOf(r)
		var body any
		err := in.turns.enter(who)
		if err == nil {
			body, err = answer(context.WithValue(ctx, callerKey{}, who), newParameters(r))
			in.turns.leave(who)
		}
		if err != nil {
			status = http.StatusInternalServerError
			var known apiError
			if errors.As(err, &known) {
				status = known.status
			}
			body = map[string]string{"error": err.Error()}
		}
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(in.timeout)) // a client that does not read holds the answer no longer
		if p, is := body.(*document); is {
			p.write(w)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		if status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", "GET, HEAD")
		}
		if status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(status)
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		if _, long := body.(*historyAnswer); !long {
			e.SetIndent("", "  ")
		}
		e.Encode(body) // fails where nobody listens any more
	}
}

// document is an answer for people.
type document struct{ format, text string }

// write writes a document, which may load and run nothing: in it stands what packets and peers said.
func (p *document) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", map[string]string{"text": "text/plain", "html": "text/html"}[p.format]+"; charset=utf-8")
	h.Set("Content-Security-Policy", verdict.Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	io.WriteString(w, p.text) // fails where nobody listens any more
}

// ask puts a query to every worker, once it is this request's turn.
func (in *API) ask(ctx context.Context, newQuery func(worker int) *inspect.Query) ([]*inspect.PendingQuery, error) {
	if !in.turns.take(ctx) {
		return nil, apiError{http.StatusServiceUnavailable, "the workers are still busy with other questions; ask again, or less often"}
	}
	defer in.turns.give()
	now := in.clock()
	var all []*inspect.Aside
	for i, w := range in.workers {
		if late := now - w.Beat(); late > int64(StuckAfter) {
			return nil, gone(i, "")
		}
		all = append(all, w.Questions)
	}
	questions, err := inspect.AskAll(ctx, all, newQuery)
	var silent *inspect.NoAnswer
	if errors.As(err, &silent) {
		return nil, gone(silent.Worker, fmt.Sprintf(" within %v", in.timeout))
	}
	return questions, err
}

// Tables asks every worker for its tables, for the sink itself: within ctx, in turn with the requests of others.
func (in *API) Tables(ctx context.Context, what inspect.What) ([]*inspect.PendingQuery, error) {
	return in.ask(ctx, func(int) *inspect.Query { return inspect.New(what, 0) })
}

func gone(worker int, within string) error {
	return apiError{http.StatusServiceUnavailable, fmt.Sprintf(
		"worker w%d does not answer%s: GET /healthz tells whether it polls; where it does, ask again, otherwise restart intsink", worker, within)}
}

// StuckAfter is how long a worker may go without a tick before it counts as
// stuck. A burst takes microseconds.
const StuckAfter = 2 * time.Second

// tables asks every worker for tables, once all parameters are read.
func (in *API) tables(ctx context.Context, p *parameters, what inspect.What) ([]*inspect.PendingQuery, error) {
	if err := p.end(); err != nil {
		return nil, err
	}
	return in.ask(ctx, func(int) *inspect.Query { return inspect.New(what, 0) })
}

// unknownValue is what a node writes that has no value (INT 2.1: all ones).
const unknownValue = 1<<32 - 1
