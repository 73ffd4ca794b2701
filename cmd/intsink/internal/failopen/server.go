// Serves GET and POST /api/v1/mode from the Controller.

package failopen

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"intsink/cmd/intsink/internal/control"
)

// Server answers requests about the mode.
type Server struct {
	*Controller
	Control *control.Server // decides who may write
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
