package installed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/openapi"
	"intsink/deploy/playground/scene"
	"intsink/internal/netns"
)

// described is a document of OpenAPI.
type described struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]any }
}

// operation is one operation of it.
type operation struct {
	Parameters []struct {
		Name, In string
		Schema   map[string]any
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema any }
	}
}

// differences lists where a value is not what a schema says.
func (d *described) differences(schema, value any, at string) (all []string) {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		return d.differences(d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")], value, at)
	}
	if of, ok := s["anyOf"].([]any); ok {
		for _, one := range of {
			if all = d.differences(one, value, at); all == nil {
				return nil
			}
		}
		return all
	}
	if kinds := kindsOf(s["type"]); len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k string) bool { return isOf(k, value) }) {
		return []string{fmt.Sprintf("%s: %v is no %v", at, value, kinds)}
	}
	switch v := value.(type) {
	case map[string]any:
		return d.fields(s, v, at)
	case []any:
		for i, x := range v {
			all = append(all, d.differences(s["items"], x, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case float64:
		if least, ok := s["minimum"].(float64); ok && v < least {
			all = append(all, fmt.Sprintf("%s: %v is too low", at, v))
		}
		if most, ok := s["maximum"].(float64); ok && v > most {
			all = append(all, fmt.Sprintf("%s: %v is too high", at, v))
		}
	case string:
		if s["format"] == "date-time" {
			if _, err := time.Parse(time.RFC3339, v); err != nil {
				all = append(all, fmt.Sprintf("%s: %v", at, err))
			}
		}
	}
	return all
}

// fields lists the fields that an object has and should not, or the other way round.
func (d *described) fields(s, v map[string]any, at string) (all []string) {
	properties, _ := s["properties"].(map[string]any)
	for name, x := range v {
		switch p, known := properties[name]; {
		case known:
			all = append(all, d.differences(p, x, at+"."+name)...)
		case s["additionalProperties"] == false:
			all = append(all, fmt.Sprintf("%s.%s is not described", at, name))
		case s["additionalProperties"] != nil:
			all = append(all, d.differences(s["additionalProperties"], x, at+"."+name)...)
		}
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			all = append(all, fmt.Sprintf("%s lacks %s", at, name))
		}
	}
	return all
}

func kindsOf(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, x := range v {
			all = append(all, x.(string))
		}
	}
	return all
}

func isOf(kind string, value any) bool {
	switch v := value.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && v == math.Trunc(v)
	case []any:
		return kind == "array"
	}
	return kind == "object"
}

// answers asks a sink on its socket.
type answers struct {
	t      *testing.T
	client http.Client
}

func (a *answers) ask(method, path, body string) (status int, kind string, text []byte) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), sinktest.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://intsink/api/v1"+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	answer, err := a.client.Do(r)
	if err != nil {
		a.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer answer.Body.Close()
	if kind = answer.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/event-stream") {
		return answer.StatusCode, kind, nil
	}
	text, err = io.ReadAll(answer.Body)
	if err != nil {
		a.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer.StatusCode, kind, text
}

// sampleOf is a value for a parameter.
func sampleOf(name string, schema map[string]any) string {
	special := map[string]string{"source": "10.0.0.0/8", "destination": "10.3.0.0/16", "address": "10.1.0.1", "protocol": "udp", "link": "101-201", "watch": "all", "path": "0123456789abcdef", "id": "0123456789abcdef", "kind": "loop,node_gone", "since": "2026-01-02T03:04:05Z"}
	if v := special[name]; v != "" {
		return v
	}
	if of, ok := schema["enum"].([]any); ok {
		return of[len(of)-1].(string)
	}
	return map[string]string{"integer": "1", "boolean": "true"}[fmt.Sprint(schema["type"])]
}

// TestAnswersAreAsDescribed: each path of the OpenAPI document answers with the fields that it says, in a network in which there is
// something of everything; each parameter is taken, and all together; what cannot be answered is an error in JSON.
func TestAnswersAreAsDescribed(t *testing.T) {
	if !netns.In(t) {
		return
	}
	var d described
	if err := json.Unmarshal(openapi.Document, &d); err != nil {
		t.Fatal(err)
	}
	sinktest.Wires(t, "a", "b")
	text, socket := sinktest.AddSocket(t, sinktest.Mitigated(sinktest.PageConfig(t)))
	r := sinktest.Start(t, text)
	r.Get(t, "/readyz")
	out := sinktest.OpenWire(t, "a-near")
	p := &sinktest.Played{Network: scene.New()}
	var stop atomic.Bool
	var playing sync.WaitGroup
	playing.Go(func() { p.Play(t, out, &stop) })
	defer func() { stop.Store(true); playing.Wait() }()
	a := &answers{t: t, client: http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}}
	full := func(path, field string) func() bool {
		return func() bool { _, _, text := a.ask("GET", path, ""); return bytes.Contains(text, []byte(field)) }
	}
	if !sinktest.Eventually(full("/paths", `"node": 203`)) {
		t.Fatal("no path")
	}
	for _, word := range []string{"slow", "fill", "move", "lose"} {
		p.Make(t, word)
	}
	for path, field := range map[string]string{"/changes": `"count"`, "/episodes": `"victims"`, "/queues": `"id"`, "/problems": `"loss_between"`, "/links": `"from_node"`, "/interfaces": `"egress"`} {
		if !sinktest.Eventually(full(path, field)) {
			t.Errorf("GET %s never has %s", path, field)
		}
	}
	for _, request := range [][3]string{
		{"POST", "/mitigations", `{"match": {"destination": "192.0.2.1", "protocol": "udp"}, "action": "count", "ttl": "10m"}`},
		{"POST", "/mode", `{"mode": "full"}`}, {"POST", "/reload", ``}, {"POST", "/capture", `{"count": 1}`},
	} {
		status, kind, text := a.ask(request[0], request[1], request[2])
		a.compare(&d, request[1], d.Paths[request[1]]["post"], status, kind, text)
	}
	for path, operations := range d.Paths {
		if o, ok := operations["get"]; ok {
			a.read(&d, path, o)
		}
	}
	status, kind, text2 := a.ask("DELETE", "/mitigations/1", "")
	a.compare(&d, "/mitigations/{id}", d.Paths["/mitigations/{id}"]["delete"], status, kind, text2)
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// read asks for a path: plain, with each parameter and with all; and what the path has no answer to.
func (a *answers) read(d *described, path string, o operation) {
	a.t.Helper()
	at := path
	if path == "/history/{id}" { // of a kind, in place of an id
		at, o.Parameters = "/history/queues", nil
	} else if list, found := strings.CutSuffix(path, "/{id}"); found {
		at = list + "/" + url.PathEscape(a.first(list))
	}
	if path == "/config/diff" {
		at += "?from=1"
	}
	if path == "/incident" { // about one of three
		at += "?node=203"
		o.Parameters = nil
	}
	status, kind, text := a.ask("GET", at, "")
	a.compare(d, path, o, status, kind, text)
	if kind == "text/event-stream" {
		return
	}
	together := url.Values{}
	for _, q := range o.Parameters {
		if q.In != "query" || q.Name == "cursor" || path == "/config/diff" {
			continue
		}
		value := sampleOf(q.Name, q.Schema)
		together.Set(q.Name, value)
		if status, _, text := a.ask("GET", path+"?"+url.Values{q.Name: {value}}.Encode(), ""); status == http.StatusBadRequest {
			a.t.Errorf("GET %s: parameter %s=%s: %s", path, q.Name, value, text)
		}
	}
	if len(together) > 0 {
		status, kind, text := a.ask("GET", path+"?"+together.Encode(), "")
		a.compare(d, path+" with all parameters", o, status, kind, text)
	}
	if strings.HasSuffix(path, "/{id}") {
		status, kind, text := a.ask("GET", strings.TrimSuffix(path, "{id}")+"nobody", "")
		a.compare(d, path+" of nobody", o, status, kind, text)
		if status < 400 {
			a.t.Errorf("GET %s of nobody: %d", path, status)
		}
	}
}

// first is the id of the first item of a list.
func (a *answers) first(list string) string {
	_, _, text := a.ask("GET", list, "")
	var v struct {
		Items []struct {
			ID   any
			Node any
		}
		Rules []struct{ ID any }
	}
	json.Unmarshal(text, &v)
	switch {
	case len(v.Rules) > 0:
		return fmt.Sprint(v.Rules[0].ID)
	case len(v.Items) == 0:
		a.t.Errorf("GET %s: it is empty", list)
		return "none"
	case v.Items[0].ID == nil:
		return fmt.Sprint(v.Items[0].Node)
	}
	return fmt.Sprint(v.Items[0].ID)
}

// compare holds an answer against the document.
func (a *answers) compare(d *described, path string, o operation, status int, kind string, text []byte) {
	a.t.Helper()
	response, ok := o.Responses[fmt.Sprint(status)]
	if !ok {
		response = o.Responses["default"]
		if status < 400 {
			a.t.Errorf("%s: status %d is not described", path, status)
		}
	}
	kind, _, _ = strings.Cut(kind, ";")
	content, ok := response.Content[kind]
	if !ok {
		a.t.Errorf("%s: %d is %q, which is not described: %.200s", path, status, kind, text)
		return
	}
	if kind != "application/json" {
		return
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		a.t.Errorf("%s: %v", path, err)
		return
	}
	for _, wrong := range d.differences(content.Schema, value, path) {
		a.t.Error(wrong)
	}
}
