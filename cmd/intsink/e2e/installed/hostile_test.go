package installed_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/status"
)

// escapes is a text that changes a terminal wherever it reaches one as it is.
const escapes = "\x1b]0;owned\a\u009b31m\x7f\r\u202e"

// fill puts escapes into each text of v, and one element into each list.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(escapes)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key := reflect.New(v.Type().Key()).Elem()
		fill(key)
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	}
}

// TestHostileSink: whatever answers at the sink's address, with names and errors that change a terminal, none of it
// reaches one as it is.
func TestHostileSink(t *testing.T) {
	var all status.Status
	fill(reflect.ValueOf(&all).Elem())
	text, err := json.Marshal(&all)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := json.Marshal(escapes)
	replace := func(s string) string { return strings.ReplaceAll(s, "E", string(e)) }
	answers := map[string]string{
		"/api/v1/status":      string(text),
		"/api/v1/mode":        replace(`{"mode":E,"asked":E,"overload":E,"why":E,"switch":{"state":E,"why":E,"error":E}}`),
		"/api/v1/mitigations": replace(`{"mitigations":[{"id":E,"match":{},"source":E,"by":E,"reason":E,"comment":E}],"items":[{"id":E,"by":E,"reason":E}],"rules":[{"id":E,"by":E}]}`),
		"/api/v1/paths":       replace(`{"items":[{"id":E,"worker":E,"nodes":[{"node":1}],"flows":1}],"totals":{}}`),
		"/api/v1/flows":       replace(`{"items":[{"id":E,"watch":E,"worker":E,"protocol":E,"source":E,"destination":E,"last_events":[E]}],"totals":{}}`),
		"/api/v1/queues":      replace(`{"items":[{"id":E,"worker":E}],"totals":{}}`),
		"/api/v1/links":       replace(`{"items":[{"id":E,"worker":E}],"totals":{}}`),
		"/api/v1/reload":      replace(`{"ok":false,"error":E,"config":E,"by":E,"changes":[{"path":E,"old":E,"new":E}],"needs_restart":[],"diagnostics":[{"severity":E,"file":E,"line":1,"column":1,"message":E,"snippet":E}],"note":E}`),
	}
	failing := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, known := answers[r.URL.Path]
		if failing || !known {
			w.WriteHeader(http.StatusServiceUnavailable)
			body = replace(`{"error":E,"field":E}`)
		}
		w.Write([]byte(body))
	}))
	defer server.Close()
	for _, failing = range []bool{false, true} {
		for _, line := range []string{
			"status", "top workers --once", "top flows --once", "top paths --once", "top queues --once", "top links --once", "top collectors --once", "paths", "paths --dot",
			"why udp:10.0.0.1:1-10.0.0.2:2", "mitigate list", "mitigate add --source 10.0.0.1", "mode", "mode strip", "health", "reload", "reload --dry-run", "confirm", "capture -w -",
		} {
			stdout, stderr, _ := sinktest.Run(t, append(strings.Fields(line), "--url", server.URL)...)
			for name, out := range map[string]string{"stdout": stdout, "stderr": stderr} {
				if bad := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) || r == utf8.RuneError }); bad >= 0 {
					t.Errorf("%s, failing %v: %s: %q", line, failing, name, out)
				}
			}
			if failing && stderr == "" {
				t.Errorf("%s: nothing is said", line)
			}
		}
	}
}
