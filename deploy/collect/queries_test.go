//go:build engines

package collect

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/exporters/record"
)

// network has the records of two sinks (nodes 1 and 2), as JSON.
type network struct {
	now      time.Time // a whole minute
	records  []byte
	all      []*record.Record
	sequence [3]uint64
	start    int64 // of the sinks
	bare     bool  // the sinks do not explain their reports
}

const everyHop = record.HopNode | record.HopIngress | record.HopEgress | record.HopLatency | record.HopQueue | record.HopOccupancy

// hop is one of node with egress interface 2.
func hop(node, latency, occupancy uint32) record.Hop {
	return record.Hop{Known: everyHop, NodeID: node, Ingress: 1, Egress: 2, LatencyNs: latency, Queue: 5, Occupancy: occupancy}
}

// report adds one of a flow from 10.0.0.n, by sink, so long ago.
func (n *network) report(sink uint32, flow byte, ago time.Duration, events string, edit func(r *record.Record), hops ...record.Hop) {
	r := &record.Record{
		Known: record.KnownNode | record.KnownEvents | record.KnownExplanation | record.KnownAddresses | record.KnownPorts | record.KnownHopCount | record.KnownPath | record.KnownLatency,
		Time:  n.now.Add(-ago).UnixNano(), Exporter: netip.MustParseAddr("192.0.2.1"), Version: record.Version20,
		NodeID: sink, Start: n.start, Sequence: n.sequence[sink], Tracked: true, Protocol: 6,
		Source: netip.AddrFrom4([4]byte{10, 0, 0, flow}), Destination: netip.MustParseAddr("10.1.0.1"), SourcePort: 1024, DestinationPort: 80, Length: 1500,
		Hops: hops, HopCount: uint16(len(hops)),
	}
	n.sequence[sink]++
	r.Received = r.Time
	id := inthdr.StartOfPath
	for i := range hops {
		id = id.Via(hops[i].NodeID, 1, 2, 0)
		r.LatencyNs += uint64(hops[i].LatencyNs)
	}
	r.Path = uint64(id)
	for bit, name := range report.EventNames {
		if name == events {
			r.Events |= 1 << bit
		}
	}
	if events == "congestion" {
		r.Congested, r.EventNode = true, 12
		r.Known |= record.KnownEventNode
	}
	if edit != nil {
		edit(r)
	}
	if n.bare {
		r.Known &^= record.KnownExplanation | record.KnownEventNode
		if !r.Congested && !r.Dropped {
			r.Events = 0
		}
	}
	n.add(r)
}

func (n *network) add(r *record.Record) {
	n.records = append(record.AppendJSON(n.records, r), '\n')
	kept := *r
	n.all = append(n.all, &kept)
}

// lose makes packets of a sink's stream, which the collector says with a gap, its stats
// with their number.
func (n *network) lose(sink uint32, packets uint64, ago time.Duration) {
	at := n.now.Add(-ago).UnixNano()
	r := &record.Record{
		Type: record.Gap, Known: record.KnownNode, Time: at, Received: at, Exporter: netip.MustParseAddr("192.0.2.1"), NodeID: sink, Start: n.start, Version: record.Version20,
		First: n.sequence[sink], Last: n.sequence[sink] + packets - 1, Count: packets,
	}
	n.sequence[sink] += packets
	n.add(r)
	r.Type, r.Stats = record.Stats, record.StreamStats{Received: 1000 - packets, Lost: packets}
	n.add(r)
}

// episode adds the record of one, as so many sinks saw it: node 12, interface 2, queue 5 was long for two minutes, and
// flows 2 and 3 had a half and a tenth of its bytes.
func (n *network) episode(sinks int, bytes uint64, ago time.Duration) {
	begin := n.now.Add(-ago).UnixNano()
	e := record.Episode{Sinks: sinks, Episode: report.Episode{
		ID: 1, Node: 12, Egress: 2, Queue: 5, Begin: begin, End: begin + 120_500e6, Packets: bytes / 100, Bytes: bytes,
		Peak: report.EpisodePeak{At: begin + 60e9, Latency: 95_000, Occupancy: 950, Window: 2_560_000_000, Packets: 7, Bytes: 700}, UsualLatency: 1000,
		NumCulprits: 2, NumVictims: 1,
	}}
	flow := func(n byte, sum uint64) report.EpisodeFlow {
		return report.EpisodeFlow{Source: netip.AddrFrom4([4]byte{10, 0, 0, n}), Destination: netip.MustParseAddr("10.1.0.1"), SourcePort: 1024, DestinationPort: 80, Protocol: 6, Sum: sum}
	}
	e.Culprits[0], e.Culprits[1], e.Victims[0] = flow(2, bytes/2), flow(3, bytes/10), flow(4, 5e9)
	n.add(&record.Record{ // of other ten minutes, so that int.reports has both
		Type: record.EpisodeType, Known: record.KnownNode, Time: e.End + int64(sinks)*600e9, Received: e.End, Exporter: netip.MustParseAddr("192.0.2.1"), NodeID: 1, Start: n.start, Version: record.Version20,
		Episodes: []record.Episode{e},
	})
}

// day is a day of that network: a path that changes, a queue that two flows fill, a link
// that becomes slower, lost report packets, drops.
func day(now time.Time) *network { return (&network{now: now, start: 1}).day() }

func (n *network) day() *network {
	link := func(ns uint64) func(r *record.Record) {
		return func(r *record.Record) {
			r.Links = append(r.Links, record.Link{From: 11, To: 12, LatencyNs: ns}, record.Link{From: 12, To: 13, LatencyNs: 500})
		}
	}
	bytes := func(b uint64) func(r *record.Record) { return func(r *record.Record) { r.FlowBytes = b } }
	for i := range 20 {
		n.report(1, 9, 24*time.Hour+time.Duration(i)*time.Minute, "sample", link(1000+uint64(i)))
	}
	n.report(1, 1, 50*time.Minute, "new_flow", nil, hop(11, 100, 1), hop(12, 100, 1))
	n.report(2, 1, 49*time.Minute, "new_flow", nil, hop(21, 100, 1))
	n.report(1, 1, 40*time.Minute, "path_change", nil, hop(11, 100, 1), hop(13, 200, 1))
	n.lose(1, 3, 39*time.Minute)
	// Node 12, interface 2, queue 5: long from 20 to 18 minutes ago.
	for _, f := range []byte{2, 3, 4} {
		n.report(1, f, 22*time.Minute, "sample", bytes(1000), hop(12, 1000, 10))
	}
	n.report(1, 2, 20*time.Minute, "congestion", bytes(2000), hop(12, 90_000, 900), hop(13, 200, 1))
	n.report(1, 2, 18*time.Minute-time.Second, "sample", bytes(900_000), hop(12, 2000, 20)) // over
	n.report(1, 2, 19*time.Minute, "congestion", bytes(700_000), hop(12, 95_000, 950))
	n.report(1, 3, 19*time.Minute, "congestion", bytes(251_000), hop(12, 91_000, 910))
	n.report(1, 4, 19*time.Minute, "hop_latency", bytes(1500), hop(12, 93_000, 930))
	for i := range 20 {
		n.report(1, 9, time.Duration(10+i)*time.Minute, "sample", link(4000+uint64(i)))
	}
	n.report(2, 7, 5*time.Minute, "drop", func(r *record.Record) {
		r.Dropped, r.Drops, r.DropReason = true, 41, 51
		r.Known |= record.KnownDropReason
	})
	n.lose(2, 1, 5*time.Minute)
	at := n.now.Add(-4 * time.Minute).UnixNano()
	n.add(&record.Record{ // the sink was away for so long that nobody knows how much is missing
		Type: record.Gap, Known: record.KnownNode, Time: at, Received: at, Exporter: netip.MustParseAddr("192.0.2.1"), NodeID: 2, Start: n.start, Version: record.Version20, First: n.sequence[2],
	})
	if !n.bare {
		n.episode(1, 1000, 20*time.Minute)
		n.episode(2, 5000, 20*time.Minute) // one more sink saw it
	}
	n.report(1, 9, time.Minute, "sample", nil)
	n.report(2, 9, time.Minute, "sample", nil)
	return n
}

var blocks = regexp.MustCompile("(?s)```sql\n-- ([a-z_]+)\n(.*?)```")

// documented are the queries of docs/queries.md by their names.
func documented(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../docs/queries.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range blocks.FindAllStringSubmatch(string(b), -1) {
		all[m[1]] = m[2]
	}
	if len(all) != strings.Count(string(b), "```sql") {
		t.Fatal("a block of SQL in docs/queries.md has no name: its first line is a comment with one")
	}
	return all
}

// TestQueries runs every query of docs/queries.md on the records of day. Each record is stored
// twice.
func TestQueries(t *testing.T) {
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	now := time.Now().UTC().Truncate(time.Minute)
	n := day(now)
	c.must("SYSTEM STOP MERGES") // what is there twice stays so
	c.insert(n.records)
	c.must("INSERT INTO int.reports SELECT * REPLACE (received + INTERVAL 1 SECOND AS received) FROM int.reports WHERE type != 'report'")
	at := func(ago time.Duration, layout string) string { return now.Add(-ago).Format(layout) }
	const long, short, stamp = "2006-01-02 15:04:05.000000000", "2006-01-02 15:04:05", "2006-01-02 15:04:05.000"
	flow := func(n int) string { return fmt.Sprintf("tcp:10.0.0.%d:1024-10.1.0.1:80", n) }
	path := func(nodes ...uint32) string {
		id := inthdr.StartOfPath
		for _, n := range nodes {
			id = id.Via(n, 1, 2, 0)
		}
		return fmt.Sprintf("%016x", uint64(id))
	}
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "12\t4294967295\tspine 2\n12\t2\tEth1/2\n")
	}))
	defer collector.Close()
	c.runFile("clickhouse-problems.sql") // TestProblems has some
	c.runFile("clickhouse-names.sql", "http://127.0.0.1:9466", collector.URL)
	queries := documented(t)
	for _, q := range []struct {
		name   string
		params string // NAME = VALUE, as clickhouse-client's --param_NAME=VALUE
		want   string // rows; empty objects stand for any row
	}{
		{"named_hops", "", `{"id":12,"node":"spine 2","egress":"Eth1/2","reports":9,"latency_p99":94840}
			{"id":13,"node":"13","egress":"2","reports":2,"latency_p99":200}
			{"id":11,"node":"11","egress":"2","reports":2,"latency_p99":100}
			{"id":21,"node":"21","egress":"2","reports":1,"latency_p99":100}`},
		{"problems", "", ""},
		{"flow_path", "flow = '" + flow(1) + "'",
			`{"sink":1,"path":"` + path(11, 12) + `","hops":[[11,1,2],[12,1,2]],"first_seen":"` + at(50*time.Minute, long) + `","last_seen":"` + at(50*time.Minute, long) + `","reports":1,"latency_p99":200}
			{"sink":2,"path":"` + path(21) + `","hops":[[21,1,2]],"first_seen":"` + at(49*time.Minute, long) + `","last_seen":"` + at(49*time.Minute, long) + `","reports":1,"latency_p99":100}
			{"sink":1,"path":"` + path(11, 13) + `","hops":[[11,1,2],[13,1,2]],"first_seen":"` + at(40*time.Minute, long) + `","last_seen":"` + at(40*time.Minute, long) + `","reports":1,"latency_p99":300}`},
		{"flow_changes", "flow = '" + flow(1) + "'",
			`{"time":"` + at(50*time.Minute, long) + `","sink":1,"events":["new_flow"],"path":"` + path(11, 12) + `","nodes":[11,12],"latency_ns":200,"event_node":null,"reference":null,"value":null}
			{"time":"` + at(49*time.Minute, long) + `","sink":2,"events":["new_flow"],"path":"` + path(21) + `","nodes":[21],"latency_ns":100,"event_node":null,"reference":null,"value":null}
			{"time":"` + at(40*time.Minute, long) + `","sink":1,"events":["path_change"],"path":"` + path(11, 13) + `","nodes":[11,13],"latency_ns":300,"event_node":null,"reference":null,"value":null}`},
		{"queue_episodes", "raise = 100",
			`{"node":12,"egress":2,"queue":5,"first":"` + at(20*time.Minute, short) + `","last":"` + at(19*time.Minute, short) + `","minutes":2,"occupancy":950,"flows":3}`},
		{"episodes", "",
			`{"begin":"` + at(20*time.Minute, long) + `","seconds":120.5,"node":12,"egress":2,"queue":5,"packets":50,"peak_latency_ns":95000,"usual_latency_ns":1000,"sinks":2,"culprits":[["` + flow(2) + `",0.5],["` + flow(3) + `",0.1]],"doubt":"","victims":["` + flow(4) + `"]}`},
		{"culprits_and_victims", "node = 12; egress = 2; queue = 5; from = '" + at(20*time.Minute, stamp) + "'; to = '" + at(18*time.Minute, stamp) + "'",
			`{"flow":"` + flow(2) + `","reports":2,"counted":699000,"bytes":699000,"share":0.736,"latency_during":95000,"latency_before":1000,"role":"culprit"}
			{"flow":"` + flow(3) + `","reports":1,"counted":250000,"bytes":250000,"share":0.263,"latency_during":91000,"latency_before":1000,"role":"culprit"}
			{"flow":"` + flow(4) + `","reports":1,"counted":500,"bytes":500,"share":0.001,"latency_during":93000,"latency_before":1000,"role":"victim"}`},
		{"links_slower", "", `{"from_node":11,"to_node":12,"p99_ns":4019,"yesterday_ns":1019,"reports":20}`},
		{"slowest_nodes", "", `{"node":12,"egress":2,"p50_p90_p99":[2000,95000,95000],"maximum":95000,"reports":9}
			{} {} {}`},
		{"reports_lost", "", `{"node":1,"hw_id":0,"exporter":"::ffff:192.0.2.1","packets":3,"ranges":1,"of_unknown_length":0,"first":"` + at(39*time.Minute, short) + `","last":"` + at(39*time.Minute, short) + `"}
			{"node":2,"hw_id":0,"exporter":"::ffff:192.0.2.1","packets":1,"ranges":2,"of_unknown_length":1,"first":"` + at(5*time.Minute, short) + `","last":"` + at(4*time.Minute, short) + `"}`},
		{"reports_missing", "", `{"node":1,"hw_id":0,"exporter":"::ffff:192.0.2.1","packets":3} {"node":2,"hw_id":0,"exporter":"::ffff:192.0.2.1","packets":1}`},
		{"loss_per_minute", "", `{"minute":"` + at(39*time.Minute, short) + `","node":1,"received":997,"lost":3,"ratio":0.003}
			{"minute":"` + at(5*time.Minute, short) + `","node":2,"received":999,"lost":1,"ratio":0.001}`},
		{"drops", "", `{"node":2,"drop_reason":51,"name":"traffic_manager","flows":1,"packets":41,"last_seen":"` + at(5*time.Minute, long) + `"}`},
	} {
		t.Run(q.name, func(t *testing.T) {
			c.t = t
			sql, ok := queries[q.name]
			if !ok {
				t.Fatal("docs/queries.md has no query of that name")
			}
			delete(queries, q.name)
			for _, p := range strings.Split(q.params, "; ") {
				name, value, _ := strings.Cut(p, " = ")
				sql = regexp.MustCompile(`\{`+name+`:([^}]*)\}`).ReplaceAllString(sql, "CAST("+value+" AS $1)")
			}
			got, want := rows(t, c.must(sql)), rows(t, q.want)
			for i := range min(len(got), len(want)) {
				if len(want[i]) == 0 {
					want[i] = got[i]
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("rows\n%s\nwant\n%s", c.must(sql), q.want)
			}
		})
	}
	for name := range queries {
		t.Errorf("the query %s of docs/queries.md is not tested", name)
	}
}

// rows are JSON objects one behind the other.
func rows(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var row map[string]any
		if err := d.Decode(&row); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		all = append(all, row)
	}
	return all
}

// TestTwoCollectors: two collectors of one sink store each report under two ids; the answer of docs/collect.md has each once, also where
// sinks do not explain their reports.
func TestTwoCollectors(t *testing.T) {
	b, err := os.ReadFile("../../docs/collect.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(b), "### Two collectors of a sink, one store\n")
	_, sql, _ := strings.Cut(section, "```sql\n")
	sql, _, found := strings.Cut(sql, "```")
	if !found {
		t.Fatal("docs/collect.md has no such answer")
	}
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	now := time.Now().UTC().Truncate(time.Minute)
	for _, bare := range []bool{false, true} {
		want := 0
		for start := range int64(2) {
			n := (&network{now: now, start: 1 + start, bare: bare}).day()
			c.insert(n.records)
			want = strings.Count(string(n.records), `"type":"report"`)
		}
		c.must("OPTIMIZE TABLE int.reports FINAL")
		for sql, want := range map[string]int{sql: want, "SELECT count() FROM int.reports FINAL WHERE type = 'report'": 2 * want} {
			if got := c.must("SELECT toUInt32(*) AS n FROM (" + sql + ")"); got != countRow(want)+"\n" {
				t.Errorf("explained %v: %s, want %d: %s", !bare, got, want, sql)
			}
		}
		c.must("TRUNCATE TABLE int.reports")
	}
}

// TestQueriesWithoutExplanation: the questions whose answers come of explanations, of sinks that do not explain their reports: what was
// reported stands in for what was counted.
func TestQueriesWithoutExplanation(t *testing.T) {
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	now := time.Now().UTC().Truncate(time.Minute)
	c.insert((&network{now: now, start: 1, bare: true}).day().records)
	at := func(ago time.Duration, layout string) string { return now.Add(-ago).Format(layout) }
	const stamp, long = "2006-01-02 15:04:05.000", "2006-01-02 15:04:05.000000000"
	queries := documented(t)
	for _, q := range []struct {
		name   string
		params map[string]string
		want   string
	}{
		{"culprits_and_victims", map[string]string{"node": "12", "egress": "2", "queue": "5", "from": "'" + at(20*time.Minute, stamp) + "'", "to": "'" + at(18*time.Minute, stamp) + "'"},
			`{"flow":"tcp:10.0.0.2:1024-10.1.0.1:80","reports":2,"counted":0,"bytes":3000,"share":0.5,"latency_during":95000,"latency_before":1000,"role":"culprit"}
			{"flow":"tcp:10.0.0.4:1024-10.1.0.1:80","reports":1,"counted":0,"bytes":1500,"share":0.25,"latency_during":93000,"latency_before":1000,"role":"culprit"}
			{"flow":"tcp:10.0.0.3:1024-10.1.0.1:80","reports":1,"counted":0,"bytes":1500,"share":0.25,"latency_during":91000,"latency_before":1000,"role":"culprit"}`},
		{"flow_changes", map[string]string{"flow": "'tcp:10.0.0.3:1024-10.1.0.1:80'"},
			`{"time":"` + at(19*time.Minute, long) + `","sink":1,"events":["congestion"],"path":"` + fmt.Sprintf("%016x", uint64(inthdr.StartOfPath.Via(12, 1, 2, 0))) + `","nodes":[12],"latency_ns":91000,"event_node":null,"reference":null,"value":null}`},
		{"drops", nil, `{"node":2,"drop_reason":51,"name":"traffic_manager","flows":1,"packets":1,"last_seen":"` + at(5*time.Minute, long) + `"}`},
		{"queue_episodes", map[string]string{"raise": "100"},
			`{"node":12,"egress":2,"queue":5,"first":"` + at(20*time.Minute, time.DateTime) + `","last":"` + at(19*time.Minute, time.DateTime) + `","minutes":2,"occupancy":950,"flows":3}`},
		{"episodes", nil, ""},
	} {
		sql := queries[q.name]
		for name, value := range q.params {
			sql = regexp.MustCompile(`\{`+name+`:([^}]*)\}`).ReplaceAllString(sql, "CAST("+value+" AS $1)")
		}
		if got, want := rows(t, c.must(sql)), rows(t, q.want); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: rows\n%s\nwant\n%s", q.name, c.must(sql), q.want)
		}
	}
}
