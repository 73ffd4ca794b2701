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
	mux.HandleFunc("POST /api/v1/reload", s.write(func(who string) (WriteResult, string, any) {
		r := s.Sink.Reload(who)
		if !r.OK {
			return WriteRefused, r.Error, r
		}
		return WriteOK, "", r
	}))
	mux.HandleFunc("/api/v1/config", only("GET", "GET, HEAD"))
	mux.HandleFunc("/api/v1/reload", only("POST", "POST"))
}

// only answers requests with another method.
func only(method, allow string) http.HandlerFunc {
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

// write handles a request that changes something: whoever may not is turned away, what is
// too much or too long is refused, and all of it is counted and logged.
func (s *Server) write(do func(who string) (WriteResult, string, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		c.SetReadDeadline(time.Now().Add(writePatience))
		who, err := s.authority(r)
		result, status, text := WriteOK, http.StatusOK, ""
		var body any
		switch {
		case !s.Writes.room(r):
			result, status, text = WriteLimited, http.StatusTooManyRequests, "too many writes at once; try again in a second"
		case err != nil:
			result, status, text = WriteForbidden, http.StatusForbidden, err.Error()
		case !empty(w, r):
			result, status, text = WriteBad, http.StatusBadRequest, "this takes neither a body nor parameters"
		default:
			if result, text, body = do(who); result != WriteOK {
				status = http.StatusUnprocessableEntity
			}
		}
		if body == nil {
			body = failure{text}
		}
		s.Writes.done(who, r, result, text)
		c.SetWriteDeadline(time.Now().Add(writePatience))
		answer(w, status, body)
	}
}

// empty tells whether a request says no more than its path.
func empty(w http.ResponseWriter, r *http.Request) bool {
	n, err := http.MaxBytesReader(w, r.Body, maxBody).Read(make([]byte, 1))
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
