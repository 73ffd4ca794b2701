// Routes of control: POST reload, GET config; Handle, which checks, bounds and logs each
// write.

package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"intsink/conf"
)

// Sink is what is controlled.
type Sink interface {
	// Reload reads the configuration again and waits until it is in force, or refused. who
	// asked stands in the result.
	Reload(who string) *Result
	// Config is the configuration in force.
	Config() *conf.Config
}

// Server answers the requests that control a sink.
type Server struct {
	Sink   Sink
	State  *State
	Writes *Writes
}

// Endpoints are the paths below /api/v1/ that can be read.
var Endpoints = []string{"config"}

// Register adds the routes.
func (s *Server) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/config", s.config)
	mux.HandleFunc("POST /api/v1/reload", s.Handle(func(who string, q *http.Request) Outcome {
		if !empty(q) {
			return BadRequest("this takes neither a body nor parameters")
		}
		r := s.Sink.Reload(who)
		if !r.OK {
			return Outcome{Result: WriteRefused, Status: http.StatusUnprocessableEntity, Error: r.Error, Body: r}
		}
		return Outcome{Result: WriteOK, Status: http.StatusOK, Body: r}
	}))
	mux.HandleFunc("/api/v1/config", Only("GET", "GET, HEAD"))
	mux.HandleFunc("/api/v1/reload", Only("POST", "POST"))
}

// Only answers requests with another method.
func Only(method, allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allow)
		answer(w, http.StatusMethodNotAllowed, failure{fmt.Sprintf("only %s: %s", method, r.URL.Path)})
	}
}

// config answers the configuration in force, all defaults written out.
func (s *Server) config(w http.ResponseWriter, _ *http.Request) {
	_, good := s.State.Last()
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writePatience))
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "# In force: generation %d, since %s, from %s (SHA-256 %s).\n\n", good.Generation, good.Time.Format(time.RFC3339), good.Config, good.SHA256)
	w.Write(s.Sink.Config().DumpWithoutSecrets())
}

// Outcome is the answer to a request that changes something.
type Outcome struct {
	Result WriteResult
	Status int
	Error  string // for the log, and the answer where there is no Body
	Detail string // for the log: what was done
	Body   any    // JSON
}

// BadRequest is the outcome of a request that is wrong.
func BadRequest(text string) Outcome {
	return Outcome{Result: WriteBad, Status: http.StatusBadRequest, Error: text}
}

// Handle handles requests that change something by do: whoever may not is turned away, what
// is too much or too long is refused, and all of it is counted and logged.
func (s *Server) Handle(do func(who string, r *http.Request) Outcome) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		c.SetReadDeadline(time.Now().Add(writePatience))
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		who, err := s.authority(r)
		var out Outcome
		switch {
		case !s.Writes.room(r):
			out = Outcome{Result: WriteLimited, Status: http.StatusTooManyRequests, Error: "too many writes at once; try again in a second"}
		case err != nil:
			out = Outcome{Result: WriteForbidden, Status: http.StatusForbidden, Error: err.Error()}
		default:
			out = do(who, r)
		}
		if out.Body == nil {
			out.Body = failure{out.Error}
		}
		s.Writes.done(who, r, &out)
		c.SetWriteDeadline(time.Now().Add(writePatience))
		answer(w, out.Status, out.Body)
	}
}

// empty tells whether a request says no more than its path.
func empty(r *http.Request) bool {
	n, err := r.Body.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, io.EOF) && r.URL.RawQuery == ""
}

// failure is the JSON of an error.
type failure struct {
	Error string `json:"error"`
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	e.Encode(body) // fails where nobody listens any more
}
