package observe

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Answers that cost something are shared; a stream of events is its client's.
func TestWhatClientsShare(t *testing.T) {
	h := source(polling(t)).handler()
	for path, shared := range map[string]bool{
		"/api/v1/status": true, "/api/v1/queues": true, "/api/v1/flows?limit=1": true, "/metrics": true, "/healthz": false,
	} {
		t.Run(path, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header.Set("Cache-Control", "max-age=1")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Header().Get("Age") != ""; got != shared || w.Code != http.StatusOK {
				t.Errorf("status %d, shared: %t, not %t", w.Code, got, shared)
			}
		})
	}
}
