// Serves GET /api/v1/events: writes server-sent events to one client.

// Package events is GET /api/v1/events: what the workers report, and what the sink tells of itself, for readers who
// listen; no reader holds a worker up.
package events

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/part"
)

const (
	streamPatience = 10 * time.Second // a client that takes nothing for so long is left
	keepAlive      = 15 * time.Second // a comment tells proxies and clients that the stream lives
)

// Server answers GET /api/v1/events: server-sent events, "report" for each report, "mode" for
// each step of how much is done with packets, and "missed" with a count where the client, or its reader here, was too slow.
type Server struct {
	*Live
	Control *control.Server // tells clients apart; nil: by their address alone
}

// Start implements part.Part.
func (s *Server) Start(e *part.Env) (stop func(), err error) {
	s.Live, s.Control = NewLive(e.Workers), e.Control
	e.Announce = s.Announce
	return nil, nil
}

// Heed implements part.Heeds.
func (s *Server) Heed(c problem.Change) { s.Announce("problem", c) }

// Register adds the routes.
func (s *Server) Register(mux control.Mux) {
	mux.HandleFunc("GET /api/v1/events", func(w http.ResponseWriter, r *http.Request) {
		of := []string{control.From(r)}
		if s.Control != nil {
			of = s.Control.Guests(r)
		}
		s.events(w, r, of)
	})
	mux.HandleFunc("HEAD /api/v1/events", control.Only("GET", "GET")) // which would hold a stream that says nothing
}

// Paths are what can be read.
func (s *Server) Paths() []string { return []string{"/api/v1/events"} }

// events is for a client whose stream counts as one of each of these.
func (l *Live) events(w http.ResponseWriter, r *http.Request, of []string) {
	s, leave, why := l.subscribe(of)
	if s == nil {
		control.Answer(w, http.StatusServiceUnavailable, map[string]string{"error": why + ": close one"})
		return
	}
	defer leave()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	out := &eventWriter{w: w, c: http.NewResponseController(w)}
	out.write("retry: 3000\n\n")
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for out.err == nil {
		select {
		case <-r.Context().Done():
			return
		case <-alive.C:
			out.write(": alive\n\n")
		case n := <-s.notices:
			out.put(n.event, n.body)
			for range len(s.notices) {
				n := <-s.notices
				out.put(n.event, n.body)
			}
			if missed := l.takeMissed(s); missed > 0 {
				out.put("missed", map[string]uint64{"count": missed})
			}
			out.flush()
		}
	}
}

// eventWriter writes the lines of a stream until the first error.
type eventWriter struct {
	w   http.ResponseWriter
	c   *http.ResponseController
	err error
}

func (e *eventWriter) put(event string, v any) {
	if e.err != nil {
		return
	}
	body, err := json.Marshal(v)
	if e.err = err; err == nil {
		e.c.SetWriteDeadline(time.Now().Add(streamPatience))
		_, e.err = fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", event, body)
	}
}

func (e *eventWriter) write(line string) {
	e.c.SetWriteDeadline(time.Now().Add(streamPatience))
	_, e.err = fmt.Fprint(e.w, line)
	e.flush()
}

func (e *eventWriter) flush() {
	if e.err == nil {
		e.err = e.c.Flush()
	}
}
