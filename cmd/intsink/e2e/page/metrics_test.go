package page_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
)

// histogramPart ends the names of a histogram's series.
var histogramPart = regexp.MustCompile(`_(bucket|sum|count)$`)

func TestMetricsOfARunningAppliance(t *testing.T) {
	r := sinktest.Start(t, sinktest.Small+sinktest.Config("udp_port = 5000")+`collector "by port" {
  address = "192.0.2.11:8555"
  port    = "host"
  source  = "192.0.2.1"
}
`)
	text := r.Get(t, "/metrics")
	p := observetest.Parse(t, text)
	lint := exec.Command("promtool", "check", "metrics")
	lint.Stdin = strings.NewReader(text)
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	for name, help := range observetest.Documented(t, "../../../..") {
		if otherSinks.MatchString(name) && p.Kind[name] == "" {
			continue
		}
		if p.Help[name] != help {
			t.Errorf("%s is not there, or not as docs/metrics.md says: %q %q", name, p.Kind[name], p.Help[name])
		}
		delete(p.Help, name)
	}
	for name := range p.Help {
		if strings.HasPrefix(name, "intsink_") {
			t.Errorf("docs/metrics.md lacks %s", name)
		}
	}
	p = observetest.Parse(t, text)
	for name := range p.Series {
		if base, _, _ := strings.Cut(name, "{"); strings.HasPrefix(base, "intsink_") && p.Help[base] == "" && p.Help[histogramPart.ReplaceAllString(base, "")] == "" {
			t.Errorf("%s has no HELP", base)
		}
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
}
