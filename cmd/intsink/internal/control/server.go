// Serves POST reload and confirm, GET config; Handle authorises, bounds, logs and answers
// each write of the API.

package control

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"intsink/cmd/internal/webguard"
	"intsink/conf"
)

// Sink is the running sink that requests change.
type Sink interface {
	// Reload reads the configuration that q names and waits until it is in force, or refused.
	// The result names who, the one who asked.
	Reload(who string, q *Request) *Result
	// Confirm ends the trial of the configuration in force: it stays or, with back, the one
	// before it returns. The error says that there is no trial.
	Confirm(who string, back bool) (*Result, error)
	// Upgrade starts the program that lies beside the sink's own, to take its place on trial as q says, and returns when it is
	// ready to. The error says why it does not; nothing has changed then.
	Upgrade(who string, q *Request) (*Result, error)
	// Config returns the configuration in force.
	Config() *conf.Config
}

// Server answers the requests that control a sink.
type Server struct {
	Sink   Sink
	State  *State
	Writes *Writes

	guests      guests
	guesses     webguard.Guesses
	authorities authorities
}

// Register adds the routes.
func (s *Server) Register(mux Mux) {
	mux.HandleFunc("GET /api/v1/config", s.config)
	mux.HandleFunc("POST /api/v1/reload", s.HandleUpTo(maxConfig, s.reload))
	mux.HandleFunc("POST /api/v1/confirm", s.Handle(s.confirm))
	mux.HandleFunc("POST /api/v1/upgrade", s.Handle(s.upgrade))
	mux.HandleFunc("/api/v1/config", Only("GET", "GET, HEAD"))
	mux.HandleFunc("/api/v1/reload", Only("POST", "POST"))
	mux.HandleFunc("/api/v1/confirm", Only("POST", "POST"))
	mux.HandleFunc("/api/v1/upgrade", Only("POST", "POST"))
}

func (s *Server) reload(who string, r *http.Request) Outcome {
	var q Request
	err := decode(r.Body, &q)
	if err == nil {
		err = q.Check()
	}
	if err != nil || r.URL.RawQuery != "" {
		return BadRequest(fmt.Sprintf(`no body, or one such as {"name": "new.hcl", "files": [{"name": "new.hcl", "text": "..."}], "confirm": "10m"}, and no parameters: %v`, err))
	}
	q.Remote = !onSocket(r)
	result := s.Sink.Reload(who, &q)
	if !result.OK {
		return Outcome{Result: WriteRefused, Status: http.StatusUnprocessableEntity, Error: result.Error, Body: result, Detail: q.detail()}
	}
	return Outcome{Result: WriteOK, Status: http.StatusOK, Body: result, Detail: q.detail()}
}

// detail returns the words of the log's line about q.
func (q *Request) detail() string {
	var parts []string
	if q.DryRun {
		parts = append(parts, "dry run")
	}
	if len(q.Files) > 0 {
		parts = append(parts, fmt.Sprintf("of %.200q", q.Name))
	}
	if q.Rollback > 0 {
		parts = append(parts, fmt.Sprintf("back to configuration %d", q.Rollback))
	}
	if q.Confirm > 0 {
		parts = append(parts, fmt.Sprintf("on trial for %v", time.Duration(q.Confirm)))
	}
	return strings.Join(parts, ", ")
}

func (s *Server) confirm(who string, r *http.Request) Outcome {
	var q Confirmation
	if err := decode(r.Body, &q); err != nil || r.URL.RawQuery != "" {
		return BadRequest(fmt.Sprintf(`no body, or {"back": true}, and no parameters: %v`, err))
	}
	if t := s.State.Trial(); t != nil && t.Program != "" && !onSocket(r) {
		return Outcome{Result: WriteForbidden, Status: http.StatusForbidden, Error: ofTheProgram}
	}
	result, err := s.Sink.Confirm(who, q.Back)
	if err != nil {
		return Outcome{Result: WriteRefused, Status: http.StatusConflict, Error: err.Error()}
	}
	detail := "kept"
	if q.Back {
		detail = "back"
	}
	return Outcome{Result: WriteOK, Status: http.StatusOK, Body: result, Detail: detail}
}

// ofTheProgram is why a token does not do.
const ofTheProgram = "which program runs is decided on the machine: root may, on the sink's unix socket"

func (s *Server) upgrade(who string, r *http.Request) Outcome {
	var q Request
	err := decode(r.Body, &q)
	if err == nil {
		err = q.Check()
	}
	if err != nil || r.URL.RawQuery != "" || q.Confirm == 0 || q.DryRun || q.Rollback != 0 || len(q.Files) > 0 {
		return BadRequest(fmt.Sprintf(`{"confirm": "10m"}, with limit and tolerate where they are wanted, and no parameters: %v`, err))
	}
	if !onSocket(r) {
		return Outcome{Result: WriteForbidden, Status: http.StatusForbidden, Error: ofTheProgram}
	}
	result, err := s.Sink.Upgrade(who, &q)
	if err != nil {
		return Outcome{Result: WriteRefused, Status: http.StatusConflict, Error: err.Error()}
	}
	return Outcome{Result: WriteOK, Status: http.StatusOK, Body: result, Detail: q.detail()}
}

// config answers the configuration in force, all defaults written out.
func (s *Server) config(w http.ResponseWriter, _ *http.Request) {
	_, good := s.State.Last()
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience))
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

	// Stream writes the whole answer itself, in place of Body, for as long as it takes.
	Stream func(w http.ResponseWriter, r *http.Request)
}

// BadRequest is the outcome of a request that is wrong.
func BadRequest(text string) Outcome {
	return Outcome{Result: WriteBad, Status: http.StatusBadRequest, Error: text}
}

// Handle handles requests that change something by do. It turns away those who may not, refuses
// too many requests and too long ones, and counts and logs each.
func (s *Server) Handle(do func(who string, r *http.Request) Outcome) http.HandlerFunc {
	return s.HandleUpTo(maxBody, do)
}

// HandleUpTo does as Handle, for requests of up to the given number of bytes.
func (s *Server) HandleUpTo(bytes int64, do func(who string, r *http.Request) Outcome) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		c.SetReadDeadline(time.Now().Add(s.Writes.come))
		r.Body = http.MaxBytesReader(w, r.Body, bytes)
		who, err := s.authority(r)
		var out Outcome
		switch {
		case !s.Writes.room(r, err == nil):
			out = Outcome{Result: WriteLimited, Status: http.StatusTooManyRequests, Error: "too many writes at once; try again in a second"}
		case err != nil:
			out = Outcome{Result: WriteForbidden, Status: http.StatusForbidden, Error: err.Error()}
		default:
			letIn(r, true)
			out = do(who, r)
		}
		if out.Body == nil {
			out.Body = failure{Error: out.Error}
		}
		s.Writes.done(who, r, &out)
		if out.Stream != nil {
			out.Stream(w, r)
			return
		}
		Answer(w, out.Status, out.Body)
	}
}

// failure is the JSON of an error.
type failure struct {
	Error string `json:"error"`
	Field string `json:"field,omitempty"` // the field of the request that is wrong
}
