package collect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"intsink/engine/wire/report/reporttest"
	"intsink/internal/loopback"
)

// TestTerminators: a switch that terminates IFA has its packets in the file, and every counter that the documents name adds up.
func TestTerminators(t *testing.T) {
	dir := t.TempDir()
	path, out := filepath.Join(dir, "collect.hcl"), filepath.Join(dir, "out.jsonl")
	write(t, path, fmt.Sprintf(`
listen "switches" {
  address        = %q
  receive_buffer = "8MiB"
  ipfix {
    enterprise = 4413
    headers    = 1
    stack      = 2
    packet     = 3
  }
}
http { listen = %q }
file "out" { path = %q }
`, loopback.Address(t), loopback.Address(t), out))
	p := launch(t, path)
	const packet = `2b 020000000002 020000000001 0800 4500 001d 0001 4000 40 11 0000 0a000001 0a000002 9c40 0035 0009 0000 00`
	const data = `0101 0059  2f110080 00001e08  20 1000 1a3f 00000000 007e007b 00000000 000003e8 00000000 00000000 00000000` + packet
	for _, m := range []string{
		`000a 0069 69211920 00000000 00000007` + data, // before its template
		`000a 0089 69211920 00000001 00000007  0002 0020 0101 0003 8001 0008 0000113d 8002 ffff 0000113d 8003 ffff 0000113d ` + data,
		`000a 0014 69211920 00000002 00000007 0102 0004`,
		`000a 0010`,
	} {
		if _, err := p.conn.Write(reporttest.Hex(t, m)); err != nil {
			t.Fatal(err)
		}
	}
	p.wait("all are taken", func() bool { return p.metric(`intcollect_datagrams_total{listen="switches"}`) == 4 })
	p.wait("it is in the file", func() bool { return p.metric(`intcollect_output_delivered_records_total{output="file out"}`) >= 1 })
	line, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(line), `"flow":"udp:10.0.0.1:40000-10.0.0.2:53"`) || !strings.Contains(string(line), `"int_type":"ifa"`) || !strings.Contains(string(line), `"node_id":7`) {
		t.Errorf("%v: %s", err, line)
	}
	for series, want := range map[string]float64{
		`intcollect_report_packets_total{listen="switches"}`:                                                            3,
		`intcollect_refused_datagrams_total{listen="switches",reason="not_report"}`:                                     1,
		`intcollect_ipfix_data_records_total{listen="switches",is="report"}`:                                            1,
		`intcollect_ipfix_data_records_total{listen="switches",is="not_ifa"}`:                                           0,
		`intcollect_ipfix_unread_total{listen="switches",reason="no_template"}`:                                         2,
		`intcollect_ipfix_templates{listen="switches"}`:                                                                 1,
		`intcollect_stream_report_packets_total{exporter="127.0.0.1",node="7",hw_id="0",collector="` + p.reports + `"}`: 1,
	} {
		if got := p.metric(series); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
	if log := p.stderr.String(); !strings.Contains(log, "have the exporter tell its templates more often") {
		t.Errorf("the log does not say why:\n%s", log)
	}
}
