package page_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/engine/wire/intgen"
	"intsink/internal/netns"
	"intsink/internal/rawsocket"
)

// prometheus is a server that scrapes a sink twice a second.
type prometheus struct {
	t    *testing.T
	base string
}

// startPrometheus runs Prometheus on the sink at address, with the rules of deploy/.
func startPrometheus(t *testing.T, address string) *prometheus {
	t.Helper()
	rules, err := filepath.Abs("../../../../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := sinktest.Write(t, filepath.Join(dir, "p.yml"), fmt.Sprintf(`
global: {scrape_interval: 500ms, evaluation_interval: 500ms}
rule_files: [%s]
scrape_configs:
  - {job_name: edge, static_configs: [{targets: ["%s"]}]}
`, rules, address))
	const listen = "127.0.0.1:9090" // of the test's own network namespace
	cmd := exec.Command("prometheus", "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return &prometheus{t, "http://" + listen}
}

// sample is one series of an answer.
type sample struct {
	Metric map[string]string
	Value  [2]any
}

// get asks the API; false: there is no answer, or not yet.
func (p *prometheus) get(path string, data any) bool {
	a, err := http.Get(p.base + path)
	if err != nil {
		return false
	}
	defer a.Body.Close()
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(a.Body).Decode(&answer); err != nil {
		return false
	}
	if answer.Status != "success" {
		p.t.Errorf("%s: %s", path, answer.Error)
		return true // it will not get better
	}
	if err := json.Unmarshal(answer.Data, data); err != nil {
		p.t.Errorf("%s: %v", path, err)
	}
	return true
}

// query waits until an expression gives a series, and returns what it gives.
func (p *prometheus) query(expression string) []sample {
	p.t.Helper()
	for end := time.Now().Add(sinktest.Patience); time.Now().Before(end); {
		var v struct{ Result []sample }
		if p.get("/api/v1/query?query="+url.QueryEscape(expression), &v) && (len(v.Result) > 0 || p.t.Failed()) {
			return v.Result
		}
		time.Sleep(50 * time.Millisecond) // until the next scrape
	}
	p.t.Errorf("no series: %s", expression)
	return nil
}

// prometheusConfig makes everything happen that panels show only where it happens: packets
// are dropped, events withheld, reports shed and lost.
const prometheusConfig = `
events {
  congestion { raise = 8000 }
  hop_latency { absolute = "10us" }
  link_latency { absolute = "10us" }
  path_change { rate = 1 }
}
collector "short" {
  address = "192.0.2.11:8555"
  budget {
    packets = 1
    bits    = 10000
  }
}
collector "refusing" { address = "127.0.0.1:9" }
collector "by port" {
  address = "192.0.2.12:8555"
  port    = "host"
  source  = "192.0.2.1"
}
`

// metered is the network whose metrics are looked at: flows from 101 to 103 by way of 102 or
// 112. trouble makes 102 slow, fills a queue of 103 and moves one flow to 122.
type metered struct {
	flows   int
	sent    uint32
	trouble atomic.Bool
}

// hops is what the nodes write into a packet of a flow, newest first.
func (s *metered) hops(flow int) []intgen.Hop {
	now := uint64(time.Now().UnixNano())
	middle, latency, queue := uint32(102), uint32(4000+10*flow), uint32(40+flow)
	if flow%3 == 0 {
		middle = 112
	}
	slow := uint32(0)
	if s.trouble.Load() {
		if flow == s.flows-1 {
			middle = 122
		}
		if middle == 102 {
			slow = 300_000
		}
		queue = 9000
	}
	return []intgen.Hop{
		{NodeID: 103, Ingress: uint16(middle % 100), Egress: 2, LatencyNs: latency, QueueOccupancy: queue, IngressTimestamp: now - 5000, EgressTimestamp: now, TxUtilization: 30},
		{NodeID: middle, Ingress: 1, Egress: 2, LatencyNs: latency + slow, QueueOccupancy: 20, IngressTimestamp: now - 20_000, EgressTimestamp: now - 11_000, TxUtilization: 20},
		{NodeID: 101, Ingress: 1, Egress: uint16(middle % 100), LatencyNs: latency, QueueOccupancy: 10, IngressTimestamp: now - 35_000, EgressTimestamp: now - 26_000, TxUtilization: 40},
	}
}

// play sends a packet of each flow every few milliseconds until stop is set.
func (s *metered) play(t *testing.T, out *rawsocket.Interface, stop *atomic.Bool) {
	source := &intgen.Source{UDPPort: 5000, Bitmap: 0xfd00, MaxHops: 8}
	for !stop.Load() {
		for n := range s.flows {
			f := intgen.Flow{
				SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2},
				Src: netip.AddrFrom4([4]byte{10, 0, 0, byte(n + 1)}), Dst: netip.AddrFrom4([4]byte{10, 1, 0, 1}), Proto: intgen.UDP, SrcPort: uint16(1024 + n), DstPort: 8000,
			}
			s.sent++
			frame, err := source.Insert(f.Frame(100+40*n, s.sent), s.hops(n))
			if err != nil {
				t.Error(err)
				return
			}
			out.Send(frame) // or not, where the kernel has no room: the next of the flow may go
		}
		time.Sleep(5 * time.Millisecond) // the pace of the traffic, not of the test
	}
}

// playMalformed sends packets whose shim reaches beyond their end, and switches the trouble
// of s on and off.
func playMalformed(t *testing.T, s *metered, out *rawsocket.Interface, stop *atomic.Bool) {
	source := &intgen.Source{UDPPort: 5000, Bitmap: 0xfd00, MaxHops: 8}
	f := intgen.Flow{Src: netip.MustParseAddr("10.0.9.1"), Dst: netip.MustParseAddr("10.1.0.1"), Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000}
	frame, err := source.Insert(f.Frame(60, 1), s.hops(0))
	if err != nil {
		t.Error(err)
		return
	}
	frame[14+20+8+1] = 255 // the shim's Length
	for !stop.Load() {
		s.trouble.Store(!s.trouble.Load())
		out.Send(frame)                   // or not, where the kernel has no room: the next may go
		time.Sleep(20 * time.Millisecond) // the pace of the traffic, not of the test
	}
}

// TestPrometheusAnswersEveryPanelAndRule: a Prometheus that scrapes a running sink has a series
// for every expression of the dashboard and of the rules. An alert may be silent, but
// what it looks at is there.
func TestPrometheusAnswersEveryPanelAndRule(t *testing.T) {
	if !netns.In(t) {
		return
	}
	sinktest.Wires(t, "a", "b")
	text := strings.Replace(onVeths(sinktest.Config("udp_port = 5000\n  malformed = \"drop\"\n")), `{ udp_port`, "{\n  udp_port", 1)
	r := sinktest.Start(t, sinktest.Small+text+prometheusConfig)
	r.Get(t, "/readyz")
	good, malformed := sinktest.OpenWire(t, "a-near"), sinktest.OpenWire(t, "a-near")
	s := &metered{flows: 12}
	var stop atomic.Bool
	var playing sync.WaitGroup
	playing.Go(func() { s.play(t, good, &stop) })
	playing.Go(func() { playMalformed(t, s, malformed, &stop) })
	defer func() { stop.Store(true); playing.Wait() }()

	p := startPrometheus(t, r.HTTP)
	p.checkPanels()
	p.checkRules()
}

// otherSinks is about what only others have: links with mitigation, hops of IFA in a layout that is not known, tunnels with IOAM, ports of the kernel, a degraded part, webhooks,
// collectors. Prometheus has to take the expressions.
var otherSinks = regexp.MustCompile(`intsink_mitigation_(packets|bytes)_|intsink_ifa_without_layout_|intsink_ioam_|intsink_port_rx_uncut_|intsink_degraded|intsink_notify_|intcollect[_:]`)

// legendLabel is a label in the legend of a panel.
var legendLabel = regexp.MustCompile(`\{\{(\w+)\}\}`)

// checkPanels asks for every expression of the dashboard; what its legend names, the series
// have.
func (p *prometheus) checkPanels() {
	text, err := os.ReadFile("../../../../deploy/grafana/sink.json")
	if err != nil {
		p.t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		p.t.Fatal(err)
	}
	variables := strings.NewReplacer("$instance", ".*", "$__rate_interval", "1m")
	asked := 0
	for _, panel := range d.Panels {
		for _, target := range panel.Targets {
			asked++
			p.t.Run(panel.Title, func(t *testing.T) {
				q := &prometheus{t, p.base}
				if otherSinks.MatchString(target.Expr) {
					var v struct{ Result []sample }
					if !q.get("/api/v1/query?query="+url.QueryEscape(variables.Replace(target.Expr)), &v) {
						t.Errorf("Prometheus refuses %s", target.Expr)
					}
					return
				}
				for _, s := range q.query(variables.Replace(target.Expr)) {
					for _, label := range legendLabel.FindAllStringSubmatch(target.LegendFormat, -1) {
						if s.Metric[label[1]] == "" {
							t.Errorf("%s: no label %s in %v", target.Expr, label[1], s.Metric)
						}
					}
				}
			})
		}
	}
	if asked < 30 {
		p.t.Errorf("%d expressions", asked)
	}
}

// threshold is what makes an alert of an expression.
var threshold = regexp.MustCompile(` (==|>) [0-9.]+( and .*)?$| unless .*|^absent`)

// checkRules asks for what every rule records, and for what every alert compares.
func (p *prometheus) checkRules() {
	var rules struct {
		Groups []struct {
			Rules []struct{ Name, Query, Type, Health, LastError string }
		}
	}
	for end := time.Now().Add(sinktest.Patience); time.Now().Before(end); { // until each was evaluated
		if p.get("/api/v1/rules", &rules); len(rules.Groups) > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	n := 0
	for _, g := range rules.Groups {
		for _, rule := range g.Rules {
			n++
			p.t.Run(rule.Name, func(t *testing.T) {
				q := &prometheus{t, p.base}
				if otherSinks.MatchString(rule.Query) {
					t.Log("only taken: no such series here")
				} else if rule.Type == "recording" {
					q.query(rule.Name)
				} else if left := threshold.ReplaceAllString(rule.Query, ""); left == rule.Query {
					t.Errorf("%s has no threshold", rule.Query)
				} else {
					q.query(left)
				}
				if rule.Health == "err" {
					t.Errorf("%s: %s", rule.Query, rule.LastError)
				}
			})
		}
	}
	if n < 20 {
		p.t.Errorf("%d rules", n)
	}
}
