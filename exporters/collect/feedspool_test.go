package collect

import (
	"testing"
	"time"
)

// TestReplayAfterAnOutage: the receiver is away for 30 seconds at 5000 records a second; then
// the output reads as many records as replay allows, at different intervals.
func TestReplayAfterAnOutage(t *testing.T) {
	const arrive, beyond = 5000, 1000
	for _, c := range []struct {
		name  string
		every time.Duration // interval at which the output reads from the spool
	}{
		{"often", 2 * time.Millisecond},
		{"at the tick", tick},
		{"late", 700 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Unix(1700000000, 0)
			r := replay{rate: beyond, since: now}
			waiting := 30 * arrive
			r.arrived += waiting
			now = now.Add(30 * time.Second)
			begin, total := now, 0
			for n := int(arrive * c.every / time.Second); waiting > n; {
				for waiting > 0 && !r.wait(now) {
					n := min(64, waiting)
					r.read(n)
					waiting, total = waiting-n, total+n
				}
				if rate := float64(total) / max(1, now.Sub(begin).Seconds()); rate > 2.1*(arrive+beyond) {
					t.Fatalf("%.0f records a second %v after the outage", rate, now.Sub(begin))
				}
				now = now.Add(c.every)
				waiting, r.arrived = waiting+n, r.arrived+n
				if now.Sub(begin) > 200*time.Second {
					t.Fatalf("%d records wait still", waiting)
				}
			}
			// The backlog of 150,000 records shrinks by 1000 a second.
			if took := now.Sub(begin); took < 140*time.Second || took > 155*time.Second {
				t.Errorf("caught up after %v", took)
			}
		})
	}
}

func TestReplayWithoutABound(t *testing.T) {
	var r replay
	r.read(1 << 30)
	if r.wait(time.Now()) {
		t.Error("waits")
	}
}
