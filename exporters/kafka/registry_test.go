package kafka

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
)

// registry stands in for Confluent's: it knows schemas by subject, and may be away, or refuse one.
type registry struct {
	mu      sync.Mutex
	known   map[string]string // subject to schema
	status  int               // of all answers; 0: as it is
	log     []string
	logins  map[string]bool
	content map[string]bool
}

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var body struct{ SchemaType, Schema string }
	b, _ := io.ReadAll(q.Body)
	json.Unmarshal(b, &body)
	r.log = append(r.log, q.Method+" "+q.URL.Path+" "+body.SchemaType)
	user, password, _ := q.BasicAuth()
	r.logins[user+":"+password] = true
	r.content[q.Header.Get("Content-Type")] = true
	subject := strings.TrimSuffix(strings.TrimPrefix(q.URL.Path, "/subjects/"), "/versions")
	switch known, ok := r.known[subject], strings.HasSuffix(q.URL.Path, "/versions"); {
	case r.status != 0:
		http.Error(w, `{"error_code":409,"message":"Schema being registered is incompatible with an earlier schema"}`, r.status)
	case known == body.Schema || ok:
		r.known[subject] = body.Schema
		// Confluent's and Apicurio's say the schema again; ours has more than 5 KiB.
		json.NewEncoder(w).Encode(map[string]any{"subject": subject, "version": 1, "schema": body.Schema + strings.Repeat(" ", 8<<10), "id": 258})
	default:
		http.Error(w, `{"error_code":40403,"message":"Schema not found"}`, http.StatusNotFound)
	}
}

func newRegistry(t *testing.T) (*registry, string) {
	r := &registry{known: map[string]string{}, logins: map[string]bool{}, content: map[string]bool{}}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return r, s.URL
}

// messages reads n messages of the topic.
func messages(t *testing.T, n int, brokers []string) (all []*kgo.Record) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for len(all) < n && ctx.Err() == nil {
		all = append(all, client.PollFetches(ctx).Records()...)
	}
	return all
}

// TestRegistry: messages stand behind the number that the registry has for their schema, which is registered where it is not known.
// While the registry refuses it nothing is sent, and nothing is lost; the output says why.
func TestRegistry(t *testing.T) {
	r, address := newRegistry(t)
	r.status = http.StatusConflict
	password := filepath.Join(t.TempDir(), "password")
	os.WriteFile(password, []byte("secret\n"), 0o600)
	k := cluster(t)
	c := config(k.ListenAddrs())
	c.Format, c.Registry = collect.Protobuf, &Registry{URL: address + "/", Schema: "syntax", User: "u", PasswordFile: password}
	o := output(t, c)
	b := collecttest.New(t, collect.Options{}, 1<<30, o)
	b.Send(10)
	b.Wait("the registry refuses", func() bool { return o.Away() != nil })
	if why := o.Away().Error(); !strings.Contains(why, "incompatible with an earlier schema") || !strings.Contains(why, "take another topic") {
		t.Error(why)
	}
	if s := b.C.Snapshot().Outputs[0]; s.Delivered > 0 || s.Waiting+uint64(s.Queued) == 0 {
		t.Errorf("delivered %d, waiting %d", s.Delivered, s.Waiting)
	}
	r.mu.Lock()
	r.status = 0
	r.mu.Unlock()
	o.registration.next.Store(0)
	b.Wait("all is delivered", func() bool { s := b.C.Snapshot().Outputs[0]; return s.Delivered == 20 })
	b.Stop()
	if o.Away() != nil {
		t.Error(o.Away())
	}
	for _, m := range messages(t, 20, k.ListenAddrs()) {
		if len(m.Value) < prefixBytes || m.Value[0] != 0 || binary.BigEndian.Uint32(m.Value[1:]) != 258 || m.Value[5] != 0 || m.Value[6] != 8 { // field 1 is first
			t.Fatalf("a message begins with % x", m.Value[:8])
		}
	}
	if !r.logins["u:secret"] || len(r.logins) != 1 || !r.content["application/vnd.schemaregistry.v1+json"] {
		t.Errorf("logins %v, content %v", r.logins, r.content)
	}
	if first, last := r.log[0], r.log[len(r.log)-1]; first != "POST /subjects/"+topic+"-value PROTOBUF" || last != "POST /subjects/"+topic+"-value/versions PROTOBUF" {
		t.Errorf("asked %v", r.log)
	}
}

// TestRegistryKnows: a schema that is there is not registered once more, which takes a right that the user may lack.
func TestRegistryKnows(t *testing.T) {
	r, address := newRegistry(t)
	r.known[topic+"-value"] = "syntax"
	c := config(nil)
	c.Registry = &Registry{URL: address, Schema: "syntax"}
	g, err := newRegistration(&c)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.ask(t.Context()); err != nil || len(r.log) != 1 || g.prefix.Load() == nil {
		t.Errorf("%v, asked %v", err, r.log)
	}
}

// TestRegistryAnswers: what is no registry, and one that is away, are told.
func TestRegistryAnswers(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	defer page.Close()
	for address, want := range map[string]string{page.URL: "is this the URL of a schema registry?", "http://127.0.0.1:1": "connection refused"} {
		c := config(nil)
		c.Registry = &Registry{URL: address}
		g, _ := newRegistration(&c)
		if err := g.ask(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// TestHeadersAndTime: a message says what its record is without being decoded, and when it was: not after its receipt.
func TestHeadersAndTime(t *testing.T) {
	k := cluster(t)
	b := collecttest.New(t, collect.Options{}, 0, output(t, config(k.ListenAddrs())))
	before := time.Now().Add(-time.Second)
	b.Send(10)
	b.Stop()
	types := map[string]int{}
	for _, m := range messages(t, 20, k.ListenAddrs()) {
		var r struct {
			Type           string
			Time, Received time.Time
		}
		if err := json.Unmarshal(m.Value, &r); err != nil {
			t.Fatal(err)
		}
		want := r.Time
		if r.Received.Before(want) {
			want = r.Received
		}
		if len(m.Headers) != 2 || m.Headers[0].Key != "type" || string(m.Headers[0].Value) != r.Type || m.Headers[1].Key != "schema" || string(m.Headers[1].Value) != "intsink.v1.Report" || !m.Timestamp.Equal(want.Truncate(time.Millisecond)) {
			t.Fatalf("headers %v, timestamp %v of a record of %v (%v)", m.Headers, m.Timestamp, r.Time, before)
		}
		types[r.Type]++
	}
	if types["report"] != 20 {
		t.Errorf("%v", types)
	}
}

// TestTry: what --check tells of brokers and a registry, and that it leaves nothing there.
func TestTry(t *testing.T) {
	r, address := newRegistry(t)
	k := cluster(t)
	c := config(k.ListenAddrs())
	c.Registry = &Registry{URL: address, Schema: "syntax"}
	if err := output(t, c).Try(t.Context()); err != nil || len(r.known) > 0 {
		t.Errorf("%v, registered %v", err, r.known)
	}
	c.Topic = "another"
	c.Registry.URL = "http://127.0.0.1:1"
	if err := output(t, c).Try(t.Context()); err == nil || !strings.Contains(err.Error(), "create it, with 12 partitions") || !strings.Contains(err.Error(), "registry http://127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused") {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := output(t, config([]string{"127.0.0.1:1"})).Try(ctx); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
}
