package main

import (
	"net/http/httptest"
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
