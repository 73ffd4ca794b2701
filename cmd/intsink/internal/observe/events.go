// Serves GET /api/v1/events: writes server-sent events to one client.

package observe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"intsink/cmd/intsink/internal/control"
)

const (
	streamPatience = 10 * time.Second // a client that takes nothing for so long is left
	keepAlive      = 15 * time.Second // a comment tells proxies and clients that the stream lives
)

// events answers GET /api/v1/events: server-sent events, "report" for each report, "mode" for
// each step of how much is done with packets, and "missed" with a count where the client, or its reader here, was too slow.
func (s *Source) events(w http.ResponseWriter, r *http.Request) {
	of := []string{control.From(r)}
	if s.Control != nil {
		of = s.Control.Guests(r)
	}
	s.Live.events(w, r, of)
}

// events is for a client whose stream counts as one of each of these.
func (l *Live) events(w http.ResponseWriter, r *http.Request, of []string) {
	s, leave, why := l.subscribe(of)
	if s == nil {
		writeError(w, http.StatusServiceUnavailable, why+": close one")
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

// writeJSON answers with v, and no longer waits for a client that does not read.
func writeJSON(w http.ResponseWriter, status int, v any) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writePatience))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	e.Encode(v) // fails where nobody listens any more
}

func writeError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, map[string]string{"error": text})
}
