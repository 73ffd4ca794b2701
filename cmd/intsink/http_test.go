package main

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// deadlined notes until when the answer may be written.
type deadlined struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (d *deadlined) SetWriteDeadline(t time.Time) error {
	d.until = t
	return nil
}

// TestSlowClientsAreLeft: none holds an answer, or a connection on which it asks
// nothing, for ever.
func TestSlowClientsAreLeft(t *testing.T) {
	s := newServer(newAPIBed(t).server.Config.Handler)
	if s.ReadHeaderTimeout <= 0 || s.IdleTimeout <= 0 {
		t.Errorf("header timeout %v, idle timeout %v", s.ReadHeaderTimeout, s.IdleTimeout)
	}
	w := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	s.Handler.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/flows", nil))
	if left := time.Until(w.until); w.Code != 200 || left <= 0 || left > apiTimeout {
		t.Errorf("status %d, %v to write the answer", w.Code, left)
	}
}

// TestRootNamesTheEndpoints, and each of them but those with a parameter answers.
func TestRootNamesTheEndpoints(t *testing.T) {
	b := newAPIBed(t, []int{1})
	h := (&appliance{workers: b.workers, clock: b.in.clock}).handler()
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	}
	for _, path := range strings.Fields(get("/").Body.String()) {
		if path == "/metrics" || strings.Contains(path, "{") { // of a whole appliance; of one flow
			continue
		}
		if w := get(path); w.Code != 200 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if get("/").Code != 200 || get("/nowhere").Code != 404 {
		t.Errorf("/ %d, /nowhere %d", get("/").Code, get("/nowhere").Code)
	}
}
