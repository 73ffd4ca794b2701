package flowapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"intsink/engine"
	"intsink/engine/enginetest/workertest"
)

const flowParameters = "address, congested, cursor, destination, destination_port, limit, link, min_hop_latency_ns, min_latency_ns, node, path, port, protocol, sort, " +
	"source, source_port, watch"

func TestBadRequestsSayWhatIsKnown(t *testing.T) {
	b := newAPIBed(t, twoWorkers...)
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/api/v1/flows?colour=red":                                     {400, `parameter "colour" is not known here; known are ` + flowParameters},
		"/api/v1/flows?limit=0":                                        {400, "limit = 0: must be 1 to 1000"},
		"/api/v1/flows?limit=x":                                        {400, "whole number"},
		"/api/v1/flows?sort=colour":                                    {400, "must be one of packets, bytes, last_seen, latency, hop_latency, lost"},
		"/api/v1/flows?source=x":                                       {400, "must be an address or a prefix"},
		"/api/v1/flows?protocol=x":                                     {400, "must be a number up to 255"},
		"/api/v1/flows?link=1":                                         {400, "two nodes that follow each other"},
		"/api/v1/flows?watch=":                                         {400, "watch is empty"},
		"/api/v1/flows?watch=a&watch=b":                                {400, "watch is there 2 times"},
		"/api/v1/flows?watch=nope":                                     {400, `watch = "nope": there is none of that name; there are "all", "web"`},
		"/api/v1/flows?path=zz":                                        {400, "as GET /api/v1/paths lists it"},
		"/api/v1/paths?id=570A":                                        {400, "as GET /api/v1/paths lists it"},
		"/api/v1/flows?cursor=x":                                       {400, "cursor"},
		"/api/v1/flows?cursor=" + (&cursor{"bytes", 1, ""}).String():   {400, "sort = bytes"},
		"/api/v1/flows?cursor=" + (&cursor{"packets", 1, ""}).String(): {400, "cursor: flow"},
		"/api/v1/queues?congested=1":                                   {400, "must be true or false"},
		"/api/v1/links?%zz":                                            {400, "%zz"},
		"/api/v1/flows/udp:10.0.0.4":                                   {400, "write it as tcp:"},
		"/api/v1/flows/udp:10.0.0.4:1-10.1.0.1:8000?x=1":               {400, "there are none"},
		"/api/v1/flows/udp:10.0.0.4:1-10.1.0.1:8000":                   {404, "is not in the table: no INT packet of it came, or it ended, and the other direction is a flow of its own; intsink top flows shows what is there, and so does GET /api/v1/flows?source=10.0.0.4"},
		"/api/v1/paths/570A":                                           {400, "is no id of a path"},
		"/api/v1/paths/570a954f16dea0e1":                               {404, "no flow is on path 570a954f16dea0e1 now"},
		"/api/v1/queues/112:2":                                         {400, "write node:egress:queue"},
		"/api/v1/queues/112:-:1":                                       {404, "no watched packet went through it"},
		"/api/v1/queues/112:-:1?x=1":                                   {400, "there are none"},
		"/api/v1/nodes":                                                {404, "GET /api/v1/ lists what there is"},
	} {
		t.Run(path, func(t *testing.T) {
			var body struct {
				Error string `json:"error"`
			}
			if status := b.get(path, &body); status != want.status || !strings.Contains(body.Error, want.text) {
				t.Errorf("%s: %d %q, want %d %q", path, status, body.Error, want.status, want.text)
			}
		})
	}
}

// TestOtherMethodsAreRefused, by every endpoint, with what is allowed.
func TestOtherMethodsAreRefused(t *testing.T) {
	b := newAPIBed(t)
	for _, path := range append(Lists, "flows/udp:10.0.0.4:1-10.1.0.1:8000", "paths/570a954f16dea0e0", "queues/112:2:1") {
		for _, method := range []string{"POST", "PUT", "DELETE"} {
			w := httptest.NewRecorder()
			b.server.Config.Handler.ServeHTTP(w, httptest.NewRequest(method, "/api/v1/"+path, nil))
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" || !strings.Contains(w.Body.String(), `"error"`) {
				t.Errorf("%s %s: %d %v %s", method, path, w.Code, w.Header(), w.Body)
			}
		}
	}
}

// TestWorkersThatAreGone: 503, with the worker and what to do.
func TestWorkersThatAreGone(t *testing.T) {
	b := newAPIBed(t, []int{1})
	stopped := workertest.New(t, func(c *engine.WorkerConfig) { c.Clock = func() int64 { return 0 } })
	b.in.workers = append([]*engine.Worker{stopped}, b.workers...) // the first: it is named, whichever others have no CPU
	b.in.timeout = 500 * time.Millisecond
	var body map[string]string
	for _, beats := range []bool{false, true} {
		if beats { // once, and never again
			stopped.Tick(time.Now().UnixNano())
		}
		status, text := b.get("/api/v1/flows", &body), body["error"]
		if status != 503 || !strings.Contains(text, "worker w0 does not answer") || !strings.Contains(text, "/healthz") {
			t.Errorf("beats %v: %d %v", beats, status, body)
		}
	}
	b.in.turns.take(t.Context()) // another request, which does not end
	if status := b.get("/api/v1/paths", &body); status != 503 || !strings.Contains(body["error"], "busy") {
		t.Errorf("%d %v", status, body)
	}
}

// deadlined notes until when the answer may be written.
type deadlined struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (d *deadlined) SetWriteDeadline(t time.Time) error {
	d.until = t
	return nil
}

// TestSlowClientsAreLeft: none holds an answer for ever.
func TestSlowClientsAreLeft(t *testing.T) {
	w := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	newAPIBed(t).server.Config.Handler.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/flows", nil))
	if left := time.Until(w.until); w.Code != 200 || left <= 0 || left > Timeout {
		t.Errorf("status %d, %v to write the answer", w.Code, left)
	}
}
