package repotest

import (
	"encoding/json"
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

// TestDashboardIsWhole: every panel has a title, a place of its own and an expression.
func TestDashboardIsWhole(t *testing.T) {
	text, err := os.ReadFile("../../deploy/grafana/sink.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title, Type string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	taken := map[[2]int]string{}
	for _, p := range d.Panels {
		at := [2]int{p.GridPos.X, p.GridPos.Y}
		if other := taken[at]; other != "" || p.Title == "" {
			t.Errorf("panel %q stands where %q does, or has no title", p.Title, other)
		}
		taken[at] = p.Title
		if p.Type != "row" && (len(p.Targets) == 0 || p.Targets[0].Expr == "") {
			t.Errorf("panel %q has no expression", p.Title)
		}
	}
}
