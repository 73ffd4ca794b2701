package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWhereASinkListens(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:9465": "http://127.0.0.1:9465", ":9465": "http://127.0.0.1:9465", "0.0.0.0:1": "http://127.0.0.1:1",
		"[::]:9465": "http://[::1]:9465", "[2001:db8::1]:80": "http://[2001:db8::1]:80", "sink.example:80": "http://sink.example:80",
	} {
		t.Run(listen, func(t *testing.T) {
			if got := listenURL(listen); got != want {
				t.Errorf("%s is reached at %s, want %s", listen, got, want)
			}
		})
	}
}

// TestErrorsSayWhatToDo: nobody listens, somebody else does, and the sink's own errors.
func TestErrorsSayWhatToDo(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte(`{"error": "worker w0 does not answer"}`))
	}))
	defer sink.Close()
	for name, c := range map[string]struct{ url, want string }{
		"nobody": {"http://127.0.0.1:1", "start it, or say where its http.listen is with --url or --config"},
		"other":  {other.URL, "no intsink of this version listens there"},
		"sink":   {sink.URL, "worker w0 does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := (&Options{URL: c.url}).Open()
			if err != nil {
				t.Fatal(err)
			}
			var v any
			if err := s.Read(context.Background(), "/api/v1/status", &v); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := (&Options{URL: "9465"}).Open(); err == nil || !strings.Contains(err.Error(), "must be such as http://127.0.0.1:9465") {
		t.Errorf("a bad URL: %v", err)
	}
}

// TestNobodyOnTheInstalledSocket: who starts the sink by hand learns why there is none.
func TestNobodyOnTheInstalledSocket(t *testing.T) {
	for path, want := range map[string]bool{installedSocket: true, "/nowhere/api.sock": false} {
		t.Run(path, func(t *testing.T) {
			err := unixSink(path).unreachable(errors.New("no such file"))
			if got := strings.Contains(err.Error(), `http { socket = "/path" }`); got != want || !strings.Contains(err.Error(), "--socket or --config") {
				t.Errorf("%v", err)
			}
		})
	}
}
