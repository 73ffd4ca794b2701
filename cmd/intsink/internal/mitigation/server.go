// Serves /api/v1/mitigations: lists, adds and removes rules of the Store.

package mitigation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/part"
	"intsink/conf"
	"intsink/engine"
	"intsink/engine/aside/mitigate"
)

// Server answers requests about the rules in Store.
type Server struct {
	Store   *Store
	Control *control.Server // decides who may write

	// DeviceBytes returns the lengths of domain specific metadata with the role device_id in the
	// configuration in force.
	DeviceBytes func() []int
}

// Start implements part.Part: it takes up the rules of before a restart.
func (s *Server) Start(e *part.Env) (stop func(), err error) {
	var links []string
	for _, l := range e.Config().Links {
		if l.Mitigation {
			links = append(links, l.Name)
		}
	}
	var asides []*mitigate.Aside
	for _, w := range e.Workers {
		asides = append(asides, engine.AsideOf[*mitigate.Aside](w))
	}
	s.Store, s.Control = NewStore(asides, links, e.Clock, e.WallClock), e.Control
	s.DeviceBytes = func() []int { return deviceBytes(e.Config()) }
	s.Store.Keep(e.State)
	return s.Store.Close, nil
}

// deviceBytes are the lengths of device ids in domain specific metadata.
func deviceBytes(c *conf.Config) (all []int) {
	for _, d := range c.INT.Domains {
		for _, in := range d.Instructions {
			if in.Role == conf.DeviceIDRole {
				all = append(all, int(in.Length))
			}
		}
	}
	return all
}

// Register adds the routes.
func (s *Server) Register(mux control.Mux) {
	mux.HandleFunc("GET /api/v1/mitigations", func(w http.ResponseWriter, _ *http.Request) { control.Answer(w, http.StatusOK, s.Store.List()) })
	mux.HandleFunc("GET /api/v1/mitigations/{id}", s.one)
	mux.HandleFunc("POST /api/v1/mitigations", s.Control.Handle(s.add))
	mux.HandleFunc("DELETE /api/v1/mitigations/{id}", s.Control.Handle(s.remove))
	mux.HandleFunc("POST /aggAttack", s.Control.Handle(s.startAttack))
	mux.HandleFunc("DELETE /aggAttack", s.Control.Handle(s.stopAttack))
	mux.HandleFunc("/api/v1/mitigations", control.Only("GET and POST", "GET, HEAD, POST"))
	mux.HandleFunc("/api/v1/mitigations/{id}", control.Only("GET and DELETE", "GET, HEAD, DELETE"))
	mux.HandleFunc("/aggAttack", control.Only("POST and DELETE", "POST, DELETE"))
}

func (s *Server) one(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	for _, rule := range s.Store.List().Rules {
		if strconv.FormatUint(rule.ID, 10) == id {
			control.Answer(w, http.StatusOK, rule)
			return
		}
	}
	control.Answer(w, http.StatusNotFound, map[string]string{"error": noRule(id)})
}

func noRule(id string) string {
	return fmt.Sprintf("there is no rule %.40q: it has ended, or was removed; intsink mitigate list, or GET /api/v1/mitigations, shows those that there are", id)
}

func (s *Server) add(who string, r *http.Request) control.Outcome {
	if r.URL.RawQuery != "" {
		return control.BadRequest("this takes no parameters: the rule is the body, in JSON")
	}
	var q Request
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(&q)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more follows the rule")
		}
	}
	if err != nil {
		return control.BadRequest(fmt.Sprintf(`the body must be a rule in JSON, such as {"match": {"destination": "192.0.2.1", "protocol": "udp"}, "action": "drop", "ttl": "10m"}: %v`, err))
	}
	return added(s.Store.Add(&q, who, nil))
}

// added returns the outcome of a request for a result of Store.Add.
func added(rule Rule, err error) control.Outcome {
	switch {
	case errors.Is(err, errNoLink), errors.Is(err, errFull):
		return control.Outcome{Result: control.WriteRefused, Status: http.StatusConflict, Error: err.Error()}
	case err != nil:
		return control.WrongRequest(err)
	}
	return control.Outcome{Result: control.WriteOK, Status: http.StatusCreated, Body: rule, Detail: rule.detail()}
}

func (s *Server) remove(_ string, r *http.Request) control.Outcome {
	id := r.PathValue("id")
	rule, ok := s.Store.Remove(func(e *entry) bool { return strconv.FormatUint(e.rule.ID, 10) == id })
	if !ok {
		return control.Outcome{Result: control.WriteRefused, Status: http.StatusNotFound, Error: noRule(id)}
	}
	return control.Outcome{Result: control.WriteOK, Status: http.StatusOK, Body: rule, Detail: rule.detail()}
}
