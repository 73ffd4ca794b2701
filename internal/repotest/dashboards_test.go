package repotest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// metricName finds the sink's metrics in rules and dashboards.
var metricName = regexp.MustCompile(`\bintsink_[a-z0-9_]+`)

// TestRulesAndDashboardsNameMetrics that docs/metrics.md has.
func TestRulesAndDashboardsNameMetrics(t *testing.T) {
	doc, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(intsink_\\w+)").FindAllStringSubmatch(string(doc), -1) {
		known[m[1]] = true
	}
	for _, path := range []string{"../../deploy/prometheus/rules.yml", "../../deploy/prometheus/rules_test.yml", "../../deploy/grafana/sink.json"} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			names := metricName.FindAllString(string(text), -1)
			if len(names) < 10 {
				t.Fatalf("only %d metrics", len(names))
			}
			for _, name := range names {
				base := name
				for _, part := range []string{"_bucket", "_sum", "_count"} { // of histograms
					base = strings.TrimSuffix(base, part)
				}
				if !known[name] && !known[base] {
					t.Errorf("%s is not in docs/metrics.md", name)
				}
			}
		})
	}
}

// TestDashboardHasEveryMetric of docs/metrics.md.
func TestDashboardHasEveryMetric(t *testing.T) {
	doc, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	dashboard, err := os.ReadFile("../../deploy/grafana/sink.json")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, name := range metricName.FindAllString(string(dashboard), -1) {
		shown[strings.TrimSuffix(name, "_bucket")] = true
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(intsink_\\w+)").FindAllStringSubmatch(string(doc), -1) {
		if !shown[m[1]] {
			t.Errorf("no panel of deploy/grafana/sink.json has %s", m[1])
		}
	}
}

// TestRulesHaveWhatToAlertOn: every metric of that table of docs/run.md has an alert; of dropped packets,
// every reason.
func TestRulesHaveWhatToAlertOn(t *testing.T) {
	doc, err := os.ReadFile("../../docs/run.md")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("../../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	alerts := ""
	for _, m := range regexp.MustCompile(`(?m)- alert: .*\n\s*expr: (.*)`).FindAllStringSubmatch(string(rules), -1) {
		alerts += m[1] + "\n"
	}
	rows := regexp.MustCompile("(?m)^\\| `(intsink_\\w+)(?:\\{(reason=\"[a-z_]+\")\\})?`").FindAllStringSubmatch(string(doc), -1)
	if len(rows) < 15 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, m := range rows {
		name := m[1]
		if name == "intsink_dropped_packets_total" {
			name += "{" + m[2] + "}"
		}
		if !strings.Contains(alerts, name) {
			t.Errorf("no alert of rules.yml has %s", name)
		}
	}
}

// TestAlertsFire: every alert fires in a unit test, and none depends on what a job is called.
func TestAlertsFire(t *testing.T) {
	rules, err := os.ReadFile("../../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile("../../deploy/prometheus/rules_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`job *[=!]~?`).Match(rules) {
		t.Error("rules.yml names a job")
	}
	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		if !regexp.MustCompile(`alertname: ` + m[1] + `\n\s+exp_alerts:\n\s+- exp_labels`).Match(tests) {
			t.Errorf("no test of rules_test.yml has %s fire", m[1])
		}
	}
}

// TestRulesNameCollectorMetrics that docs/collect.md has.
func TestRulesNameCollectorMetrics(t *testing.T) {
	doc, err := os.ReadFile("../../docs/collect.md")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("../../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`\bintcollect_\w+`).FindAllString(string(rules), -1) {
		name = strings.TrimSuffix(name, "_bucket")
		if !strings.Contains(string(doc), "`"+name+"`") && !strings.Contains(string(doc), "`"+name+"{") {
			t.Errorf("%s is not in docs/collect.md", name)
		}
	}
}

// TestRulesHold: promtool takes the rules, and they do what their unit tests say.
func TestRulesHold(t *testing.T) {
	for _, args := range [][]string{{"check", "rules", "rules.yml"}, {"test", "rules", "rules_test.yml"}} {
		cmd := exec.Command("promtool", args...)
		cmd.Dir = "../../deploy/prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// dashboard is what a file of deploy/grafana with metrics has.
type dashboard struct {
	Panels []struct {
		Title, Type string
		GridPos     struct{ X, Y, W, H int }
		Targets     []struct{ Expr string }
	}
}

func readDashboard(t *testing.T, name string) (d dashboard, text string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../deploy/grafana", name))
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d, string(b)
}

// TestDashboardIsWhole: every panel has a title, a place of its own and an expression.
func TestDashboardIsWhole(t *testing.T) {
	for _, name := range []string{"sink.json", "collect.json"} {
		d, _ := readDashboard(t, name)
		taken := map[[2]int]string{}
		for _, p := range d.Panels {
			if p.Title == "" {
				t.Errorf("%s: a panel has no title", name)
			}
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					if other := taken[[2]int{x, y}]; other != "" {
						t.Fatalf("%s: panel %q stands where %q does", name, p.Title, other)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
			if p.Type != "row" && (len(p.Targets) == 0 || p.Targets[0].Expr == "") {
				t.Errorf("%s: panel %q has no expression", name, p.Title)
			}
		}
	}
}

// TestCollectorDashboard: it has every metric of docs/collect.md and no other, and Prometheus takes each expression. What stands in
// its first row is right for a collector that has a fault of each kind, and for one that has none.
func TestCollectorDashboard(t *testing.T) {
	doc, err := os.ReadFile("../../docs/collect.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`\bintcollect_[a-z0-9_]+`)
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `intcollect_.*?\\|").FindAllString(string(doc), -1) {
		for _, m := range name.FindAllString(row, -1) {
			documented[m] = true
		}
	}
	d, text := readDashboard(t, "collect.json")
	shown := map[string]bool{}
	for _, m := range name.FindAllString(text, -1) {
		shown[strings.TrimSuffix(m, "_bucket")] = true
	}
	for m := range documented {
		if !shown[m] {
			t.Errorf("no panel has %s", m)
		}
	}
	for m := range shown {
		if !documented[m] {
			t.Errorf("%s is not in docs/collect.md", m)
		}
	}
	variables := strings.NewReplacer("$instance", ".*", "$__rate_interval", "5m")
	var rules strings.Builder
	rules.WriteString("groups:\n- name: panels\n  rules:\n")
	first := map[string]string{}
	for i, p := range d.Panels {
		for j, target := range p.Targets {
			expr := variables.Replace(target.Expr)
			fmt.Fprintf(&rules, "  - {record: 'panel:%d:%d', expr: %q}\n", i, j, expr)
			if p.Type == "stat" {
				first[p.Title] = expr
			}
		}
	}
	tests := `rule_files: []
evaluation_interval: 1m
tests:
- interval: 1m
  input_series:
  - {series: 'intcollect_build_info{instance="a"}', values: '1x70'}
  - {series: 'intcollect_build_info{instance="b"}', values: '1x70'}
  - {series: 'intcollect_degraded{instance="a",part="output",name="x"}', values: '1x70'}
  - {series: 'intcollect_output_up{instance="a",output="x"}', values: '0x70'}
  - {series: 'intcollect_output_queued_records{instance="a",output="x"}', values: '0x70'}
  - {series: 'intcollect_output_spooled_records{instance="a",output="x"}', values: '5x70'}
  - {series: 'intcollect_output_up{instance="b",output="x"}', values: '0x70'} # and nothing waits
  - {series: 'intcollect_output_queued_records{instance="b",output="x"}', values: '0x70'}
  - {series: 'intcollect_output_spooled_records{instance="b",output="x"}', values: '0x70'}
  - {series: 'intcollect_lost_report_packets_total{instance="a",listen="l"}', values: '0+2x70'}
  - {series: 'intcollect_late_report_packets_total{instance="a",listen="l"}', values: '0+1x70'}
  - {series: 'intcollect_lost_report_packets_total{instance="b",listen="l"}', values: '7x70'}
  - {series: 'intcollect_late_report_packets_total{instance="b",listen="l"}', values: '0x70'}
  - {series: 'intcollect_output_dropped_records_total{instance="a",output="x",reason="spool_full"}', values: '0+3x70'}
  - {series: 'intcollect_output_dropped_records_total{instance="b",output="x",reason="no_flow"}', values: '0+3x70'}
  - {series: 'intcollect_output_dropped_records_total{instance="b",output="x",reason="spool_full"}', values: '0x70'}
  - {series: 'intcollect_spool_bytes{instance="a"}', values: '9x70'}
  - {series: 'intcollect_spool_size_bytes{instance="a"}', values: '10x70'}
  - {series: 'intcollect_stream_clock_behind_seconds{instance="a",node="7"}', values: '-90x70'}
  - {series: 'intcollect_stream_clock_behind_seconds{instance="a",node="8"}', values: '3x70'}
  promql_expr_test:
`
	for title, want := range map[string][2]string{
		"Degraded": {"1", "0"}, "Outputs away": {"1", "0"}, "Reports lost, an hour": {"60", "0"}, "Records dropped, an hour": {"180", "0"}, "Spool": {"0.9", ""}, "Clocks": {"90", ""},
	} {
		tests += fmt.Sprintf("  - {expr: %q, eval_time: 65m, exp_samples: [", first[title])
		for i, instance := range []string{"a", "b"} {
			if want[i] != "" {
				tests += fmt.Sprintf("{labels: '{instance=\"%s\"}', value: %s}, ", instance, want[i])
			}
		}
		tests += "]}\n"
		delete(first, title)
	}
	for title := range first {
		t.Errorf("the answer of panel %q is not known here", title)
	}
	dir := t.TempDir()
	for file, text := range map[string]string{"rules.yml": rules.String(), "tests.yml": tests} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"check", "rules", "rules.yml"}, {"test", "rules", "tests.yml"}} {
		cmd := exec.Command("promtool", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
