//go:build engines

package collect

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
	"intsink/exporters/jsonl"
)

// worker is one of a sink.
type worker struct {
	Node uint32 `json:"node"`
	HwID uint32 `json:"hw_id"`
}

// TestFleet: 30 sinks of 8 workers send to two collectors, each worker to both in turn, and
// lose one packet in ten. The numbers begin again in between: of half of the workers before
// one of the collectors has seen any of theirs; and then a sink starts again. reports_missing
// of docs/queries.md gives what was lost of each worker, which neither of the collectors can
// know.
func TestFleet(t *testing.T) {
	const sinks, workers, packets = 30, 8, 40
	dir := t.TempDir()
	var beds []*collecttest.Bed
	for _, name := range []string{"a", "b"} {
		o := collect.Options{Listens: []collect.Listen{{Address: "127.0.0.1:0", Sockets: 2, Buffer: 4 << 20, Streams: 2 * sinks * workers}}} // one address takes half
		beds = append(beds, collecttest.New(t, o, 0, jsonl.New(jsonl.Config{Path: filepath.Join(dir, name)})))
	}
	r := rand.New(rand.NewPCG(1, 2))
	want := map[worker]int{}
	for n := range uint32(packets) {
		for i := range uint32(sinks * workers) {
			w := worker{1 + i/workers, i % workers}
			edge := n == 0 || n == packets/2-1 || n == packets/2 || n == packets-1 // a loss there cannot be known
			if !edge && r.IntN(10) == 0 {
				want[w]++
				continue
			}
			number := 4194300 + n // over the wrap
			if n >= packets/2 {
				number = 2000000 + n // started again
			}
			p := collecttest.Packet(number, 1)
			p[0], p[1] = 0x20|byte(w.HwID>>2), p[1]&0x3f|byte(w.HwID<<6)
			p[7] = byte(w.Node)
			to := (n + i) % 2
			if i%2 == 0 && n < 8 {
				to = 0
			}
			beds[to].Write(p)
		}
	}
	for _, b := range beds {
		b.Stop()
	}
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	for _, name := range []string{"a", "b"} {
		records, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		c.insert(records)
	}
	got := map[worker]int{}
	for line := range strings.Lines(c.must(documented(t)["reports_missing"])) {
		var row struct {
			worker
			Packets int
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		got[row.worker] += row.Packets
	}
	if len(want) < 100 || !reflect.DeepEqual(got, want) {
		t.Errorf("missing of each stream\n%v, lost were\n%v", got, want)
	}
}
