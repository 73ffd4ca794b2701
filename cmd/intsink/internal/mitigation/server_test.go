package mitigation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/control/controltest"
	"intsink/cmd/intsink/internal/packetmatch"
	"intsink/engine/aside/mitigate"
	"intsink/engine/selector"
	"intsink/flows"
)

// worker keeps the table that it was handed.
type worker struct {
	table atomic.Pointer[mitigate.Table]
}

func (w *worker) Mitigate(t *mitigate.Table) { w.table.Store(t) }

func (w *worker) Mitigates(t *mitigate.Table) bool { return w.table.Load() == t }

// drops reports whether the worker drops an INT packet to destination with this device id and
// this source MAC address.
func (w *worker) drops(destination string, port uint16, device, mac uint64, now int64) bool {
	t := w.table.Load()
	if t == nil {
		return false
	}
	a := netip.MustParseAddr(destination)
	version := uint8(6)
	if a.Is4() {
		version = 4
	}
	var k flows.Key
	k.SetAddrs(a, a)
	k.SetPorts(version, 17, 1, port)
	i := t.Find(&selector.Packet{Key: &k, HasDevice: device != 0, Device: device, SourceMAC: mac}, now)
	if i == selector.None {
		return false
	}
	t.At(i).Count(0, 1, 100)
	return t.At(i).Wants(now, 100)
}

// site is a server on a unix socket, over two workers.
type site struct {
	*testing.T
	*controltest.Site
	workers [2]*worker
	store   *Store
	now     atomic.Int64
}

func newSite(t *testing.T, links []string, deviceBytes ...int) *site {
	s := &site{T: t, workers: [2]*worker{{}, {}}}
	s.now.Store(1e9)
	s.store = NewStore(s.workers[:], links, s.now.Load, func() int64 { return 0 })
	t.Cleanup(s.store.Close)
	s.Site = controltest.New(t, func(mux *http.ServeMux, c *control.Server) {
		(&Server{Store: s.store, Control: c, DeviceBytes: func() []int { return deviceBytes }}).Register(mux)
	})
	return s
}

// TestRulesComeAndGo: rules are added, listed, counted, and ended by their time and by DELETE, in
// all workers.
func TestRulesComeAndGo(t *testing.T) {
	s := newSite(t, []string{"edge"})
	status, body := s.Ask("POST", "/api/v1/mitigations", `{"match": {"destination": "192.0.2.1", "protocol": ["udp", 6], "destination_port": 53}, "action": "drop", "ttl": "10m", "comment": "dns"}`)
	var r Rule
	if err := json.Unmarshal([]byte(body), &r); err != nil || status != 201 || r.ID != 1 || r.Comment != "dns" || !strings.HasPrefix(r.By, "unix uid 0") {
		t.Fatalf("%d %s %v", status, body, err)
	}
	for _, w := range s.workers {
		if !w.drops("192.0.2.1", 53, 0, 0, 2e9) || w.drops("192.0.2.1", 54, 0, 0, 2e9) || w.drops("192.0.2.2", 53, 0, 0, 2e9) {
			t.Error("a worker drops something else")
		}
	}
	status, body = s.Ask("POST", "/api/v1/mitigations", `{"match": {"source": ["10.0.0.0/8", "2001:db8::/32"]}, "action": "police", "rate": 1000000, "ttl": 60}`)
	if status != 201 || !strings.Contains(body, `"expires": "1970-01-01T00:01:01Z"`) {
		t.Fatalf("%d %s", status, body)
	}
	var l List
	_, body = s.Ask("GET", "/api/v1/mitigations", "")
	if err := json.Unmarshal([]byte(body), &l); err != nil || len(l.Rules) != 2 || l.Capacity != 1024 || l.Rules[0].Packets != 2 {
		t.Fatalf("%s %v", body, err)
	}
	s.now.Store(61e9) // the second has ended
	if status, _ = s.Ask("GET", "/api/v1/mitigations/2", ""); status != 404 {
		t.Errorf("the rule that has ended: %d", status)
	}
	if status, body = s.Ask("DELETE", "/api/v1/mitigations/1", ""); status != 200 || !strings.Contains(body, `"packets": 2`) {
		t.Errorf("%d %s", status, body)
	}
	if status, _ = s.Ask("DELETE", "/api/v1/mitigations/1", ""); status != 404 || s.workers[0].table.Load() != nil || s.workers[1].table.Load() != nil {
		t.Errorf("removed twice: %d, or workers have rules still", status)
	}
	if n := strings.Count(s.Logged.String(), "api: write"); n != 4 || !strings.Contains(s.Logged.String(), `detail="rule 1: drop {`) {
		t.Errorf("%d lines in the log, want 4:\n%s", n, s.Logged)
	}
}

// TestWrongRules: wrong rules are refused, and the error says what is wrong.
func TestWrongRules(t *testing.T) {
	s := newSite(t, []string{"edge"})
	for _, c := range []struct{ name, body, want string }{
		{"no JSON", `drop it`, "must be a rule in JSON"},
		{"two", `{"match": {"protocol": 6}, "action": "drop", "ttl": "1m"} {}`, "more follows"},
		{"another name", `{"match": {"port": 6}, "action": "drop", "ttl": "1m"}`, `unknown field \"port\"`},
		{"empty", `{"match": {}, "action": "drop", "ttl": "1m"}`, "match is empty"},
		{"empty lists", `{"match": {"source": []}, "action": "drop", "ttl": "1m"}`, "match is empty"},
		{"no ttl", `{"match": {"protocol": 6}, "action": "drop"}`, "ttl is missing"},
		{"long", `{"match": {"protocol": 6}, "action": "drop", "ttl": "721h"}`, "from 1s to 720h"},
		{"negative", `{"match": {"protocol": 6}, "action": "drop", "ttl": "-1m"}`, "from 1s to 720h"},
		{"ttl in words", `{"match": {"protocol": 6}, "action": "drop", "ttl": "soon"}`, "ttl = "},
		{"no action", `{"match": {"protocol": 6}, "ttl": "1m"}`, "action = "},
		{"no rate", `{"match": {"protocol": 6}, "action": "police", "ttl": "1m"}`, "to police takes a rate"},
		{"a rate to drop", `{"match": {"protocol": 6}, "action": "drop", "rate": 5000, "ttl": "1m"}`, "goes with the action"},
		{"host bits", `{"match": {"source": "10.0.0.1/8"}, "action": "drop", "ttl": "1m"}`, "write 10.0.0.0/8"},
		{"zone", `{"match": {"source": "fe80::1%eth0"}, "action": "drop", "ttl": "1m"}`, "must be an address or a prefix"},
		{"mapped", `{"match": {"source": "::ffff:10.0.0.0/104"}, "action": "drop", "ttl": "1m"}`, "must be an address or a prefix"},
		{"port", `{"match": {"source_port": "80-70"}, "action": "drop", "ttl": "1m"}`, "must be a port"},
		{"protocol", `{"match": {"protocol": 256}, "action": "drop", "ttl": "1m"}`, "must be tcp"},
		{"device", `{"match": {"device_id": "0x1ffffffffffffffff"}, "action": "drop", "ttl": "1m"}`, "up to 64 bits"},
		{"octal", `{"match": {"device_id": "010"}, "action": "drop", "ttl": "1m"}`, "up to 64 bits"},
		{"mac", `{"match": {"source_mac": "02:00:00:00:00"}, "action": "drop", "ttl": "1m"}`, "must be a MAC address"},
		{"object", `{"match": {"source": {"a": 1}}, "action": "drop", "ttl": "1m"}`, "must be a text"},
		{"comment", `{"match": {"protocol": 6}, "action": "drop", "ttl": "1m", "comment": "a\nb"}`, "comment"},
		{"many", `{"match": {"protocol": [` + strings.Repeat("6,", 64) + `6]}, "action": "drop", "ttl": "1m"}`, "at most 64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Request
			d := json.NewDecoder(strings.NewReader(c.body))
			d.DisallowUnknownFields()
			server := &Server{Store: s.store}
			q, _ := http.NewRequest("POST", "/api/v1/mitigations", strings.NewReader(c.body))
			out := server.add("me", q)
			if escaped := strings.ReplaceAll(c.want, `\"`, `"`); out.Status != 400 || !strings.Contains(out.Error, escaped) {
				t.Errorf("%d %s, want 400 and %q (%+v)", out.Status, out.Error, escaped, r)
			}
		})
	}
	if s.workers[0].table.Load() != nil {
		t.Error("a rule is in force")
	}
}

// TestThereIsRoomForSoMany: rules beyond the limit are refused, and all are if no link has
// mitigation.
func TestThereIsRoomForSoMany(t *testing.T) {
	q := &Request{Match: packetmatch.Match{Protocol: packetmatch.Texts{"6"}}, Action: "count", TTL: Life(minLife)}
	s := newSite(t, []string{"edge"})
	for range mitigate.MaxRules {
		if _, err := s.store.Add(q, "me", nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.store.Add(q, "me", nil); err != errFull {
		t.Errorf("one too many: %v", err)
	}
	if n := s.store.Rules(); n[mitigate.Count] != mitigate.MaxRules {
		t.Errorf("%d rules", n)
	}
	s.now.Add(1e9)
	if _, err := s.store.Add(q, "me", nil); err != nil {
		t.Errorf("the others have ended: %v", err)
	}
	none := newSite(t, nil)
	if status, body := none.Ask("POST", "/api/v1/mitigations", `{"match": {"protocol": 6}, "action": "drop", "ttl": "1m"}`); status != 409 || !strings.Contains(body, "no link has mitigation") {
		t.Errorf("%d %s", status, body)
	}
}

// The requests that CableLabs' Transparent Security publishes: playbooks/scenarios/general/
// drop_report_simple.yml, docs/ae/kubernetes/kafka-trpt-ddos-detection.yaml as Siddhi's JSON
// mapper writes its stream, tests/trans_sec/controller/http_server_flask_tests.py.
var published = []struct{ name, query, start, stop string }{
	{"playbook", "", `{"event": {"src_mac": "00:00:00:00:01:01", "dst_ip": "192.168.1.2", "dst_port": "1234"}}`, `{"event": {"src_mac": "00:00:00:00:01:01", "dst_ip": "192.168.1.2", "dst_port": "1234"}}`},
	{"siddhi", "", `{"event":{"src_mac":"00:00:00:00:01:01","ip_ver":4,"dst_ip":"192.168.1.2","dst_port":1234,"count":10}}`, `{"event":{"dropKey":"` + dropKey + `","dropCount":57,"count":3}}`},
	{"siddhi from JSON", "", `{"event":{"origMac":"00:00:00:00:01:01","ipVer":4,"dstAddr":"192.168.1.2","dstPort":1234,"count":100}}`, `{"event": {"src_mac": "00:00:00:00:01:01", "dst_ip": "192.168.1.2", "dst_port": "1234"}}`},
	{"without event", "", `{"src_mac": "00:00:00:00:01:01", "dst_ip": "192.168.1.2", "dst_port": "1234"}`, `{"src_mac": "00:00:00:00:01:01", "dst_ip": "192.168.1.2", "dst_port": "1234"}`},
	{"parameters", "?src_mac=00%3A00%3A00%3A00%3A01%3A01&dst_ip=192.168.1.2&dst_port=1234", "", ""},
}

// dropKey begins as `printf '00:00:00:00:01:01|1234|192.168.1.2|::' | sha256sum` does.
const dropKey = "ed2a688b09f4eeea52a282946609442a"

// TestAggAttack: the published requests start and stop dropping, also when they are repeated, and
// get the controller's answer.
func TestAggAttack(t *testing.T) {
	const mac = 0x000000000101
	for _, c := range published {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, []string{"edge"}, 8)
			for range 2 {
				if status, body := s.Ask("POST", "/aggAttack"+c.query, c.start); status != 201 || body != `"{\"success\": true}"`+"\n" {
					t.Fatalf("%d %s", status, body)
				}
			}
			if n := len(s.store.List().Rules); n != 1 {
				t.Errorf("%d rules, want 1", n)
			}
			w := s.workers[1]
			if !w.drops("192.168.1.2", 1234, mac<<16, 5, 2e9) || w.drops("192.168.1.2", 1235, mac<<16, 5, 2e9) || w.drops("192.168.1.2", 1234, 0, mac, 2e9) {
				t.Error("something else is dropped")
			}
			s.now.Add(int64(attackLife) - 1)
			s.Ask("POST", "/aggAttack"+c.query, c.start) // lasts longer
			s.now.Add(int64(attackLife) - 1)
			if !w.drops("192.168.1.2", 1234, mac<<16, 5, s.now.Load()) {
				t.Error("a repeated attack has ended")
			}
			if status, body := s.Ask("DELETE", "/aggAttack"+c.query, c.stop); status != 201 || body != `"{\"success\": true}"`+"\n" {
				t.Fatalf("%d %s", status, body)
			}
			if w.table.Load() != nil {
				t.Error("the attack is dropped still")
			}
			if status, _ := s.Ask("DELETE", "/aggAttack"+c.query, c.stop); status != 201 {
				t.Errorf("stopped twice: %d", status)
			}
		})
	}
	t.Run("without device ids", func(t *testing.T) {
		s := newSite(t, []string{"edge"})
		s.Ask("POST", "/aggAttack", `{"event": {"src_mac": "00:00:00:00:01:01", "dst_ip": "2001:db8::2", "dst_port": 80}}`)
		if w := s.workers[0]; !w.drops("2001:db8::2", 80, 0, mac, 2e9) || w.drops("2001:db8::2", 80, 0, mac+1, 2e9) {
			t.Error("the source of the frame does not count")
		}
	})
	for _, body := range []string{`[`, `{"event": {}}`, `{"src_mac": "00:00:00:00:01:01", "dst_ip": "x", "dst_port": 1}`, `{"src_mac": "00:00:00:00:01:01", "dst_ip": "10.0.0.1", "dst_port": 65536}`} {
		t.Run(body, func(t *testing.T) {
			s := newSite(t, []string{"edge"})
			for _, method := range []string{"POST", "DELETE"} {
				if status, text := s.Ask(method, "/aggAttack", body); status != 400 || !strings.Contains(text, `"error"`) {
					t.Errorf("%s: %d %s", method, status, text)
				}
			}
		})
	}
}

// FuzzRequest: any body gives a rule that workers can apply, or is refused.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"match": {"destination": "192.0.2.1", "protocol": ["udp", 6], "destination_port": 53}, "action": "drop", "ttl": "10m"}`))
	for _, p := range published {
		f.Add([]byte(p.start))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		store := NewStore([]*worker{{}}, []string{"edge"}, func() int64 { return 1 }, func() int64 { return 0 })
		defer store.Close()
		s := &Server{Store: store, DeviceBytes: func() []int { return []int{8} }}
		for _, handle := range []func(string, *http.Request) control.Outcome{s.add, s.startAttack, s.stopAttack} {
			r, _ := http.NewRequest("POST", "/", bytes.NewReader(b))
			if out := handle("me", r); out.Result == control.WriteOK == (out.Error != "") {
				t.Errorf("%s", fmt.Sprint(out))
			}
		}
		for _, r := range store.List().Rules {
			if r.Expires.Before(r.Created) || r.Match.Text() == "" {
				t.Errorf("%+v", r)
			}
		}
	})
}
