// Server: the modes as a part of a sink; GET and POST /api/v1/mode.

package failopen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/part"
	"intsink/conf"
)

// Server keeps the mode of a sink, and answers requests about it.
type Server struct {
	*Controller
	Control *control.Server // decides who may write

	bypass *bypassSwitch
	asks   func() (Asked, error)
}

// New makes the modes of a sink. It begins in the mode that asks returns, which BeginAgain calls again; enter makes the
// workers work in another one; run runs the command of the bypass switch, which is watched over from now on.
func New(config func() *conf.Config, asks func() (Asked, error), enter func(Mode), run func(context.Context, []string) error) (*Server, error) {
	asked, err := asks()
	if err != nil {
		return nil, err
	}
	s := &Server{bypass: newSwitch(config, run), asks: asks}
	s.Controller = &Controller{Config: config, Apply: enter, Watchdog: &s.bypass.Watchdog, Wall: time.Now}
	s.BeginIn(asked)
	s.bypass.watch()
	return s, nil
}

// BeginAgain takes the mode to begin in once more, before Start, and returns it: another program may have been asked for
// one since New.
func (s *Server) BeginAgain() (Mode, error) {
	asked, err := s.asks()
	s.BeginIn(asked)
	return asked.Mode, err
}

// Start implements part.Part.
func (s *Server) Start(e *part.Env) (stop func(), err error) {
	s.Control, s.Load = e.Control, NewMeter(e.Workers, e.Clock).Read
	s.Announce = func(x Change) { e.Announce("mode", x) }
	s.bypass.Announce = func(x SwitchChange) { e.Announce("bypass", x) }
	s.bypass.Stuck = func(after time.Duration) string { return Stuck(e.Workers, e.Clock(), after) }
	return s.Keep(e.State), nil
}

// Run implements part.Runs: it looks at the load, and lets the bypass switch look at the workers.
func (s *Server) Run(done <-chan struct{}) {
	close(s.bypass.begin)
	s.Controller.Run(done)
}

// Leave puts the bypass switch into bypass for good, and waits until it is, or could not be turned within bypass.timeout.
func (s *Server) Leave() { s.bypass.turn() }

// Says implements part.Says.
func (s *Server) Says() string {
	if m := s.State(); m.Mode != Full.String() {
		return "mode " + m.Mode + ": " + m.Why
	}
	return ""
}

// Request is the body of POST /api/v1/mode.
type Request struct {
	Mode string `json:"mode"`
}

// Register adds the routes.
func (s *Server) Register(mux control.Mux) {
	mux.HandleFunc("GET /api/v1/mode", s.show)
	mux.HandleFunc("POST /api/v1/mode", s.Control.Handle(s.ask))
	mux.HandleFunc("/api/v1/mode", control.Only("GET and POST", "GET, HEAD, POST"))
}

func (s *Server) show(w http.ResponseWriter, _ *http.Request) {
	control.Answer(w, http.StatusOK, s.State())
}

func (s *Server) ask(who string, r *http.Request) control.Outcome {
	q, err := parseRequest(r.Body)
	if err != nil || r.URL.RawQuery != "" {
		return control.BadRequest(fmt.Sprintf(`the body must be such as {"mode": "strip"}, without parameters: %v`, err))
	}
	mode, err := ParseMode(q.Mode)
	if err != nil {
		return control.BadRequest(err.Error())
	}
	return control.Outcome{Result: control.WriteOK, Status: http.StatusOK, Body: s.Ask(mode, who), Detail: mode.String()}
}

// parseRequest reads the body of a request, and fails if anything follows it.
func parseRequest(body io.Reader) (q Request, err error) {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err = d.Decode(&q); err != nil {
		return q, err
	}
	if _, more := d.Token(); !errors.Is(more, io.EOF) {
		return q, errors.New("more follows it")
	}
	return q, nil
}
