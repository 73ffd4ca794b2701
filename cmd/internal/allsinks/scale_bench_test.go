package allsinks

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// hundred is a network of a hundred sinks: each tells of the same 50 places, sees 400 queues of 10,000, and has the largest flows of ten thousand.
func hundred(b *testing.B) *network {
	x := newNetwork(b, 100)
	var wrong, nodes []string
	for i := range 50 {
		wrong = append(wrong, aProblem(i, "queue_congested", fmt.Sprintf("node %d, egress 12, queue 2", 200+i), begin, ""))
		nodes = append(nodes, fmt.Sprintf(`{"node": %d, "last_seen": %q}`, 200+i, begin))
	}
	for s := range 100 {
		var queues, flows []string
		for i := range 400 {
			n := (s*100 + i) % 10000
			queues = append(queues, fmt.Sprintf(`{"id": "%d:1:0", "node": %d, "egress": 1, "queue": 0, "latency_ns": %d, "congested": false, "usual": {"latency_ns": 1000, "latency_p99_ns": 1500, "occupancy": 3, "since": %q}}`, n, n, n, begin))
			flows = append(flows, fmt.Sprintf(`{"id": "udp:10.0.%d.%d:1028-10.1.0.1:8000", "watch": "all", "worker": "w0", "protocol": "udp", "packets": %d, "bytes": 321000, "last_seen": %q, "nodes": [101, 102, 103]}`, s, i, i, begin))
		}
		x.says(s, "/api/v1/problems", problems(wrong...))
		x.says(s, "/api/v1/nodes", `{"items": [`+strings.Join(nodes, ",")+`], "totals": {}}`)
		x.says(s, "/api/v1/queues", `{"items": [`+strings.Join(queues, ",")+`], "totals": {"rows": 400}}`)
		x.says(s, "/api/v1/flows", `{"items": [`+strings.Join(flows[:100], ",")+`], "totals": {"flows": 10000}}`)
	}
	x.get("/api/v1/status")
	return x
}

// BenchmarkHundredSinks has each answer made anew: all sinks, in this process, are asked, and what they say is merged. The memory is what the
// process has then, the sinks' own with it.
func BenchmarkHundredSinks(b *testing.B) {
	x := hundred(b)
	for _, path := range []string{"problems", "queues?limit=1000", "flows"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				x.later()
				if code, _ := x.get("/api/v1/" + path); code != 200 {
					b.Fatal(code)
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapInuse)/(1<<20), "MiB")
		})
	}
}
