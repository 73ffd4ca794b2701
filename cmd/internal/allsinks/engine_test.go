//go:build engines

package allsinks

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// store is ClickHouse in a process, with the tables of deploy/collect.
type store struct {
	t  *testing.T
	mu sync.Mutex
	in *json.Encoder
	up *bufio.Reader
}

// ofCollect is where its tables and what starts it are.
var ofCollect = filepath.Join("..", "..", "..", "deploy", "collect")

func newStore(t *testing.T) *store {
	t.Helper()
	engines := os.Getenv("INTSINK_ENGINES")
	if engines == "" {
		engines, _ = filepath.Abs(filepath.Join("..", "..", "..", "bin", "engines"))
	}
	cmd := exec.Command("node", filepath.Join(ofCollect, "testdata", "chdb.js"), t.TempDir())
	cmd.Env, cmd.Stderr = append(os.Environ(), "NODE_PATH="+filepath.Join(engines, "chdb", "node_modules")), os.Stderr
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: make deps-engines installs it", err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	s := &store{t: t, in: json.NewEncoder(in), up: bufio.NewReaderSize(out, 1<<20)}
	comments := regexp.MustCompile(`(?m)--.*$`)
	for _, name := range []string{"clickhouse.sql", "clickhouse-problems.sql"} {
		b, err := os.ReadFile(filepath.Join(ofCollect, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range strings.Split(comments.ReplaceAllString(string(b), ""), ";") {
			if strings.TrimSpace(sql) != "" {
				s.must(sql)
			}
		}
	}
	return s
}

// read answers a query as the server does over HTTP. The library makes JSON lines of what it is asked, and takes no FORMAT.
func (s *store) read(_ context.Context, query string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.in.Encode(map[string]string{"sql": strings.TrimSuffix(query, " FORMAT JSONEachRow")}); err != nil {
		return nil, err
	}
	line, err := s.up.ReadBytes('\n')
	var answer struct{ Text, Error string }
	if err == nil {
		err = json.Unmarshal(line, &answer)
	}
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	return []byte(answer.Text), err
}

func (s *store) must(query string) {
	s.t.Helper()
	if _, err := s.read(context.Background(), query); err != nil {
		s.t.Fatalf("%v\n%s", err, query)
	}
}

// reports stores one a minute of a flow on its way, each hop with this latency.
func (s *store) reports(from time.Time, minutes int, flow string, nodes []int, latency func(node int) int) {
	s.t.Helper()
	source, destination := flow[4:strings.Index(flow[4:], ":")+4], flow[strings.Index(flow, "-")+1:strings.LastIndex(flow, ":")]
	var rows []string
	for i := range minutes {
		var hops, links []string
		for n, node := range nodes {
			hops = append(hops, fmt.Sprintf(`{"node_id":%d,"ingress":1,"egress":%d,"latency_ns":%d}`, node, 10+n, latency(node)))
			if n > 0 {
				links = append(links, fmt.Sprintf(`{"from":%d,"to":%d,"latency_ns":500}`, nodes[n-1], node))
			}
		}
		at := from.Add(time.Duration(i) * time.Minute)
		rows = append(rows, fmt.Sprintf(`{"type":"report","id":"%s %d","time":%q,"flow":%q,"source":"::ffff:%s","destination":"::ffff:%s","path":"p%v","hops":[%s],"links":[%s],"tracked":true}`,
			flow, at.Unix(), at.UTC().Format("2006-01-02 15:04:05"), flow, source, destination, nodes, strings.Join(hops, ","), strings.Join(links, ",")))
	}
	s.must("INSERT INTO int.reports FORMAT JSONEachRow " + strings.Join(rows, "\n"))
}

// TestIncidentOfLastWeek: five days ago a spine was slow for ten minutes, a queue was full, a node was gone; each is found in its time, for those who
// met it, and for nobody else; before and afterwards the network was normal; what was never reported cannot be said.
func TestIncidentOfLastWeek(t *testing.T) {
	x, c := newNetwork(t, 2), newStore(t)
	x.sinks.o.Past = &Past{Database: "`int`.", Read: c.read}
	x.says(0, "/api/v1/incident", `{"verdict": "cannot_say", "title": "not enough coverage to say", "why": [], "coverage": {"flows": 0, "gone": 0}}`)
	x.says(1, "/api/v1/incident", `{"verdict": "cannot_say", "title": "not enough coverage to say", "why": [], "coverage": {"flows": 0, "gone": 0}}`)
	x.says(0, "/api/v1/episodes", `{"items": [], "totals": {"rows": 0}}`)
	begin := time.Now().UTC().Add(-5 * 24 * time.Hour).Truncate(time.Hour)
	usually := func(int) int { return 4000 }
	slowed, other, full := "udp:10.0.0.4:1024-10.1.0.4:80", "udp:10.0.0.5:1024-10.1.0.5:80", "udp:10.0.0.6:1024-10.1.0.6:80"
	for flow, nodes := range map[string][]int{slowed: {101, 202, 302}, other: {101, 203, 302}, full: {101, 203, 303}} {
		c.reports(begin.Add(-3*time.Hour), 180, flow, nodes, usually)
		c.reports(begin.Add(10*time.Minute), 60, flow, nodes, usually)
	}
	c.reports(begin, 10, other, []int{101, 203, 302}, usually)
	c.reports(begin, 10, full, []int{101, 203, 303}, usually)
	c.reports(begin, 10, slowed, []int{101, 202, 302}, func(node int) int {
		if node == 202 {
			return 300_000
		}
		return 4000
	})
	at := func(minute int) string { return begin.Add(time.Duration(minute) * time.Minute).Format(time.RFC3339) }
	c.must(fmt.Sprintf(`INSERT INTO int.episodes (id, node, egress, queue, begin, end, packets, bytes, culprits, victims) FORMAT JSONEachRow {"id":"e1","node":303,"egress":12,"queue":0,"begin":"%s","end":"%s","packets":9,"bytes":1000,"culprits":[{"flow":"udp:10.0.0.9:1-10.1.0.9:2","bytes":800,"over":0}],"victims":[{"flow":%q,"added_ns":77,"over":0}]}`,
		begin.Add(20*time.Minute).Format("2006-01-02 15:04:05"), begin.Add(22*time.Minute).Format("2006-01-02 15:04:05"), full))
	gone := fmt.Sprintf(`{"id":7,"kind":"node_gone","severity":"error","place":[{"what":"node","id":"204"}],"what":"no packet comes through it any more","since":%q,"until":%q,"evidence":{"flows":[%q]},"todo":"look"}`, at(30), at(40), other)
	post, _ := json.Marshal(map[string]string{"event": "end", "problem": gone, "sink": `{"node":90001,"host":"a"}`, "text": ""})
	c.must("INSERT INTO int.problem_posts FORMAT JSONEachRow " + string(post))

	cut := "udp:10.0.0.7:1024-10.1.0.7:80" // node 204 tells no latency
	c.reports(begin, 10, cut, []int{101, 203}, usually)
	c.must(fmt.Sprintf(`INSERT INTO int.reports FORMAT JSONEachRow {"type":"report","id":"cut","time":"%s","flow":%q,"source":"::ffff:10.0.0.7","destination":"::ffff:10.1.0.7","path":"cut","hops":[{"node_id":101,"ingress":1,"egress":10,"latency_ns":4000},{"node_id":204}]}`, begin.Format("2006-01-02 15:04:05"), cut))

	for name, want := range map[string]struct{ about, verdict, title, why string }{
		"the slow spine":           {"host=10.0.0.4&from=" + at(0) + "&to=" + at(10), "network_slow", "network was slow at node 202", "node 202: median of the reports of a minute up to 300us, 75.0 x the 4us of the day before, in 10 of 10 minutes"},
		"the spine itself":         {"node=202&from=" + at(-10) + "&to=" + at(20), "network_slow", "network was slow at node 202", "in 10 of 30 minutes"},
		"by another spine":         {"flow=10.0.0.5,10.1.0.5&from=" + at(0) + "&to=" + at(10), "network_normal", "network normal in what was reported: look at the hosts", "in no minute was one slow"},
		"before it was slow":       {"host=10.0.0.4&from=" + at(-30) + "&to=" + at(0), "network_normal", "network normal in what was reported: look at the hosts", ""},
		"who waited":               {"flow=" + full + "&from=" + at(15) + "&to=" + at(25), "network_slow", "network was slow at queue 0 of node 303", "udp:10.0.0.9:1-10.1.0.9:2 filled it, with 80 % of its bytes"},
		"who filled it":            {"host=10.0.0.9&from=" + at(15) + "&to=" + at(25), "network_slow", "network was slow at queue 0 of node 303", ""},
		"a full queue elsewhere":   {"flow=10.0.0.4,10.1.0.4&from=" + at(15) + "&to=" + at(25), "network_normal", "network normal in what was reported: look at the hosts", ""},
		"the node was gone":        {"host=10.0.0.0/24&from=" + at(31) + "&to=" + at(35), "node_gone", "node 204 was gone", "node 204: no packet comes through it any more, from " + at(30)},
		"the other way round":      {"flow=udp:10.1.0.4:80-10.0.0.4:1024&from=" + at(0) + "&to=" + at(10), "network_slow", "network was slow at node 202", ""},
		"a hop that tells nothing": {"host=10.0.0.7&from=" + at(0) + "&to=" + at(10), "cannot_say", "not enough coverage to say", "1 hop of the ways had no report with a latency"},
		"nobody was there":         {"host=10.0.0.44&from=" + at(0) + "&to=" + at(10), "cannot_say", "not enough coverage to say", "no report of this time is about such a flow"},
		"nothing is known before":  {"host=10.0.0.4&from=" + at(-179) + "&to=" + at(-170), "cannot_say", "not enough coverage to say", "too few reports to know what was usual"},
	} {
		x.later()
		code, o := x.get("/api/v1/incident?" + want.about)
		why := fmt.Sprint(o["why"])
		if code != 200 || text(o, "verdict") != want.verdict || text(o, "title") != want.title || !strings.Contains(why, want.why) || o["partial"] != nil {
			t.Errorf("%s: %d %s: %s\n%s\npartial %v error %v", name, code, o["verdict"], o["title"], why, o["partial"], o["error"])
		}
	}
	for about, want := range map[string]string{
		"host=10.0.0.4&from=240h&to=200h": "from and to are more than 24 hours apart", "host=x'%20OR%201&from=240h&to=239h": "host = ", "flow=udp'--&from=240h&to=239h": "flow = ",
		"host=10.0.0.4&node=7&from=240h&to=239h": "write one of", "host=10.0.0.4&compare=1h&from=240h&to=239h": "compare goes with", "host=10.0.0.4&from=239h&to=240h": "from is not before to",
	} {
		if code, o := x.get("/api/v1/incident?" + about); code != 400 || !strings.HasPrefix(text(o, "error"), want) {
			t.Errorf("%s: %d %v", about, code, o)
		}
	}
	_, o := x.get("/api/v1/problems?since=" + at(0))
	is(t, strings.Join(lines(o), "\n"), "error node_gone at node 204 since "+at(30)+" until "+at(40))
	for range 2 { // the second answer is made of the rows that the first one read
		_, o = x.get(fmt.Sprintf("/api/v1/episodes?since=%s&until=%s", at(0), at(60)))
		if e := objects(o, "items"); len(e) != 1 || text(e[0], "begin") != stamp(begin.Add(20*time.Minute)) {
			t.Errorf("episodes %v", e)
		}
	}
	_, o = x.get(fmt.Sprintf("/api/v1/history/hops?node=202&step=10m&since=%s&until=%s", at(-10), at(20)))
	if h := objects(o, "items"); len(h) != 1 || fmt.Sprint(inner(h[0], "latency_ns")["median"]) != "[4000 300000 4000]" {
		t.Errorf("history %v", h)
	}
}

// TestStoreWhereNoSinkAnswers: what was last week is known without them; they are named.
func TestStoreWhereNoSinkAnswers(t *testing.T) {
	x, c := newNetwork(t, 1), newStore(t)
	x.sinks.o.Past = &Past{Database: "`int`.", Read: c.read}
	begin := time.Now().UTC().Add(-50 * time.Hour).Truncate(time.Hour)
	c.reports(begin.Add(-time.Hour), 80, "udp:10.0.0.4:1024-10.1.0.4:80", []int{101, 202}, func(int) int { return 4000 })
	c.must(fmt.Sprintf(`INSERT INTO int.episodes (id, node, egress, queue, begin, end, packets, bytes, culprits, victims) FORMAT JSONEachRow {"id":"e1","node":303,"egress":12,"queue":0,"begin":"%[1]s","end":"%[1]s","packets":9,"bytes":1000,"culprits":[],"victims":[]}`, begin.Format("2006-01-02 15:04:05")))
	x.fakes[0].Close()
	for path, want := range map[string]string{
		"incident?node=202&from=" + begin.Format(time.RFC3339) + "&to=" + begin.Add(10*time.Minute).Format(time.RFC3339): "network_normal",
		"episodes?since=60h&until=40h":                 "e1",
		"history/hops?node=202&step=1h&since=60h":      "4000 4000",
		"problems?since=" + begin.Format(time.RFC3339): "sink_away",
	} {
		x.later()
		code, o := x.get("/api/v1/" + path)
		if all := fmt.Sprint(o); code != 200 || !strings.Contains(all, want) || !strings.Contains(path, "incident") && o["partial"] == nil {
			t.Errorf("%s: %d %v", path, code, o)
		}
	}
}
