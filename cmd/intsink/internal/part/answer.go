// Answers of routes as JSON.

package part

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Patience is how long an answer waits for a client that does not read.
const Patience = 10 * time.Second

// Answer writes body as JSON, and waits for at most Patience until the client has read it.
func Answer(w http.ResponseWriter, status int, body any) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(Patience))
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
