// Serves GET /api/v1/config/history and /api/v1/config/diff.

package confighistory

import (
	"fmt"
	"net/http"
	"strconv"

	"intsink/cmd/intsink/internal/control"
	"intsink/conf"
)

// Server answers requests about the history.
type Server struct {
	*History
	Control *control.Server // whose sink has the configuration in force

	// Env looks up the variables of the environment that texts name, as far as whoever may read may know them.
	Env func(name string) (value string, ok bool)
}

// Diff is the JSON of GET /api/v1/config/diff.
type Diff struct {
	From    uint64        `json:"from"`
	To      uint64        `json:"to"` // 0: the configuration in force
	Changes []conf.Change `json:"changes"`
}

// Register adds the routes.
func (s *Server) Register(mux control.Mux) {
	mux.HandleFunc("GET /api/v1/config/history", func(w http.ResponseWriter, _ *http.Request) {
		control.Answer(w, http.StatusOK, map[string]any{"items": s.Entries()})
	})
	mux.HandleFunc("GET /api/v1/config/diff", s.diff)
	for _, path := range []string{"/api/v1/config/history", "/api/v1/config/diff"} {
		mux.HandleFunc(path, control.Only("GET", "GET, HEAD"))
	}
}

// Paths are what can be read.
func (s *Server) Paths() []string {
	return []string{"/api/v1/config/history", "/api/v1/config/diff?from={n}"}
}

// diff answers what changed from one entry to another, or to the configuration in force.
func (s *Server) diff(w http.ResponseWriter, r *http.Request) {
	d, status, err := s.compare(r)
	if err != nil {
		control.Answer(w, status, map[string]string{"error": err.Error()})
		return
	}
	control.Answer(w, http.StatusOK, d)
}

func (s *Server) compare(r *http.Request) (*Diff, int, error) {
	d := &Diff{}
	for name, values := range r.URL.Query() {
		into := map[string]*uint64{"from": &d.From, "to": &d.To}[name]
		if into == nil {
			return nil, http.StatusBadRequest, fmt.Errorf("parameter %.40q is not known; there is from, to", name)
		}
		n, err := strconv.ParseUint(values[0], 10, 64)
		if err != nil || n == 0 {
			return nil, http.StatusBadRequest, fmt.Errorf("%s = %.40q: must be the number of a configuration, as GET /api/v1/config/history lists it", name, values[0])
		}
		*into = n
	}
	if d.From == 0 {
		return nil, http.StatusBadRequest, fmt.Errorf("from is missing: the number of a configuration, as GET /api/v1/config/history lists it")
	}
	from, err := s.parsed(d.From)
	if err != nil {
		return nil, http.StatusNotFound, err
	}
	to := s.Control.Sink.Config()
	if d.To != 0 {
		if to, err = s.parsed(d.To); err != nil {
			return nil, http.StatusNotFound, err
		}
	}
	d.Changes = conf.Diff(from, to)
	return d, 0, nil
}

// parsed is entry n as this version reads it.
func (s *Server) parsed(n uint64) (*conf.Config, error) {
	e, err := s.Entry(n)
	if err != nil {
		return nil, err
	}
	c, diags := conf.ParseAgain(e.Config, Sources(e.Files), s.Control.Sink.Config(), s.Env)
	if c == nil {
		return nil, fmt.Errorf("configuration %d is not valid any more: %w", n, diags.Err())
	}
	return c, nil
}

// Sources are files as package conf reads them.
func Sources(files []control.File) (all []conf.Source) {
	for _, f := range files {
		all = append(all, conf.Source{Name: f.Name, Text: []byte(f.Text)})
	}
	return all
}
