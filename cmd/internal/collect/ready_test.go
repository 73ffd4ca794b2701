package collect

import "testing"

// TestReadyOnlyWhenProved: an output that has been given records and has acknowledged none is not up, and without a spool
// nothing is ready then, at once and not after ten seconds.
func TestReadyOnlyWhenProved(t *testing.T) {
	p := launch(t, configure(t, t.TempDir(), "kafka \"k\" { brokers = [\"127.0.0.1:1\"] }\n"))
	if code, body := p.get("/readyz"); code != 200 {
		t.Errorf("before there is any report: %d %s", code, body)
	}
	p.send(0, 1)
	p.wait("a record is given to the output", func() bool { return p.metric(`intcollect_output_records_total{output="kafka k"}`) > 0 })
	if code, _ := p.get("/readyz"); code != 503 {
		t.Errorf("with the broker away: %d", code)
	}
	if up := p.metric(`intcollect_output_up{output="kafka k"}`); up != 0 {
		t.Errorf("output_up %v", up)
	}
}
