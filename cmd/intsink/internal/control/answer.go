// Answers of routes as JSON.

package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// patience is how long an answer waits for a client that does not read.
const patience = 10 * time.Second

// Mux is where routes are added: http.ServeMux, or what remembers them.
type Mux interface {
	Handle(pattern string, h http.Handler)
	HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request))
}

// Answer writes body as JSON, and waits for at most patience until the client has read it.
func Answer(w http.ResponseWriter, status int, body any) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	e.Encode(body) // an error means that the client is gone
}

// Only answers requests with another method.
func Only(method, allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allow)
		Answer(w, http.StatusMethodNotAllowed, map[string]string{"error": fmt.Sprintf("only %s: %s", method, r.URL.Path)})
	}
}
