// The route POST /api/v1/capture: checks requests, runs one capture at a time, counts packets.

package livecapture

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/part"
	"intsink/conf"
	"intsink/engine/aside/capture"
	"intsink/engine/aside/recorder"
)

// Worker is the part of engine.Worker that captures packets.
type Worker interface{ Capture(*capture.Capture) }

// Server answers requests for captures.
type Server struct {
	Workers   []Worker
	Recorders []*recorder.Recorder // of the same workers
	Config    func() *conf.Config  // returns the configuration in force
	Clock     func() int64         // the workers' clock
	WallClock func() int64         // by how much the wall clock is ahead of that
	Control   *control.Server      // decides who may capture
	Version   string

	reading  sync.Mutex // held while the recorders are read
	counting sync.Mutex // held while their packets are counted
	mu       sync.Mutex
	who      string // who asked for the capture that runs; "": none runs
	since    time.Time
	running  atomic.Bool // a capture takes packets
	packets  atomic.Uint64
	rate     atomic.Uint64
	full     atomic.Uint64
}

// Counters counts the packets that captures have taken and dropped since the start.
type Counters struct {
	Running     bool
	Packets     uint64 // copies that were written, one for each stage
	DroppedRate uint64 // packets that the rate of a capture did not allow
	DroppedRoom uint64 // copies for which a slow reader left no room
}

// Counters returns the counters of this moment.
func (s *Server) Counters() Counters {
	return Counters{Running: s.running.Load(), Packets: s.packets.Load(), DroppedRate: s.rate.Load(), DroppedRoom: s.full.Load()}
}

// Start implements part.Part.
func (s *Server) Start(e *part.Env) (stop func(), err error) {
	s.Config, s.Clock, s.WallClock, s.Control, s.Version = e.Config, e.Clock, e.WallClock, e.Control, e.Version
	for _, w := range e.Workers {
		s.Workers = append(s.Workers, w.Captures)
		s.Recorders = append(s.Recorders, w.Recorder)
	}
	return nil, nil
}

// Register adds the route.
func (s *Server) Register(mux control.Mux) {
	mux.HandleFunc("POST /api/v1/capture", s.Control.Handle(s.begin))
	mux.HandleFunc("/api/v1/capture", control.Only("POST", "POST"))
}

// begin checks a request and streams its capture. It takes the right to write, since a capture
// shows the contents of packets.
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
	if q.Before > 0 {
		return s.recorded(q, &f, c)
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
	return control.Outcome{Result: control.WriteOK, Status: http.StatusOK, Detail: detailOf(q), Stream: func(w http.ResponseWriter, r *http.Request) {
		defer s.end()
		(&stream{s: s, request: q, filter: f, config: c}).run(w, r)
	}}
}

// detailOf is q for the log.
func detailOf(q *Request) string {
	detail, _ := json.Marshal(q) // never fails: q has only texts and numbers
	return string(detail)
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.who = ""
}
