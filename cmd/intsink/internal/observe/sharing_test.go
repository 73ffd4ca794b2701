package observe

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"intsink/cmd/intsink/internal/sharing"
)

// Answers that cost something are shared; a stream of events is its client's.
func TestWhatClientsShare(t *testing.T) {
	mux := source(polling(t)).routes()
	for path, shared := range map[string]bool{
		"/api/v1/status": true, "/api/v1/queues": true, "/api/v1/flows?limit=1": true, "/metrics": true, "/healthz": false,
	} {
		t.Run(path, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, r)
			h, _ := mux.Handler(r)
			if _, got := h.(*sharing.Answers); got != shared || w.Code != http.StatusOK {
				t.Errorf("status %d, shared: %t, not %t", w.Code, got, shared)
			}
		})
	}
}
