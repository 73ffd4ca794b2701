// The route POST /api/v1/capture: one capture at a time, and what captures have taken.

package livecapture

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"intsink/cmd/intsink/internal/control"
	"intsink/conf"
	"intsink/engine"
	"intsink/engine/capture"
)

// Worker is what takes packets.
type Worker interface{ Capture(*capture.Capture) }

// Server answers requests for captures.
type Server struct {
	Workers []Worker
	Config  func() *conf.Config // in force
	Clock   func() int64        // of the workers
	Control *control.Server     // says who may
	Version string

	mu      sync.Mutex
	who     string // asked for the capture that runs; "": none does
	since   time.Time
	running atomic.Bool // packets are taken
	packets atomic.Uint64
	rate    atomic.Uint64
	full    atomic.Uint64
}

// Counters are what captures have taken and dropped since the start.
type Counters struct {
	Running     bool
	Packets     uint64 // copies that were written, one for each stage
	DroppedRate uint64 // packets that the rate of a capture did not allow
	DroppedRoom uint64 // copies for which a slow reader left no room
}

// Counters are those of now.
func (s *Server) Counters() Counters {
	return Counters{Running: s.running.Load(), Packets: s.packets.Load(), DroppedRate: s.rate.Load(), DroppedRoom: s.full.Load()}
}

// WorkersOf are the workers of an engine.
func WorkersOf(all []*engine.Worker) (out []Worker) {
	for _, w := range all {
		out = append(out, w)
	}
	return out
}

// Register adds the route.
func (s *Server) Register(mux *http.ServeMux) {
	mux.HandleFunc("POST /api/v1/capture", s.Control.Handle(s.begin))
	mux.HandleFunc("/api/v1/capture", control.Only("POST", "POST"))
}

// begin checks a request, and streams what it asks for. A capture shows what is in packets,
// so it takes the right to write.
func (s *Server) begin(who string, r *http.Request) control.Outcome {
	if r.URL.RawQuery != "" {
		return control.BadRequest("this takes no parameters: what is wanted is the body, in JSON")
	}
	q, err := decode(r.Body)
	if err != nil {
		return control.WrongRequest(err)
	}
	c := s.Config()
	f, err := q.compile(c)
	if err != nil {
		return control.WrongRequest(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.who != "" {
		return control.Outcome{
			Result: control.WriteRefused, Status: http.StatusConflict,
			Error: fmt.Sprintf("a capture runs already, which %s began %v ago: wait for its end", s.who, time.Since(s.since).Round(time.Second)),
		}
	}
	s.who, s.since = who, time.Now()
	detail, _ := json.Marshal(q) // texts and numbers alone: never fails
	return control.Outcome{Result: control.WriteOK, Status: http.StatusOK, Detail: string(detail), Stream: func(w http.ResponseWriter, r *http.Request) {
		defer s.end()
		(&stream{s: s, request: q, filter: f, config: c}).run(w, r)
	}}
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.who = ""
}
