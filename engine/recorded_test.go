package engine

import (
	"bytes"
	"testing"

	"intsink/engine/aside/capture"
	"intsink/engine/aside/recorder"
	"intsink/engine/event"
)

// TestPacketsOfAnEpisodeAreRecorded: of both workers, as they came, with its number, whether they are reported or not; those
// before it are not.
func TestPacketsOfAnEpisodeAreRecorded(t *testing.T) {
	beds := sharedBeds(t, func(r *Rules) {
		r.Watches[0].Policy.Events = event.Congestion.Set()
		r.Watches[0].Policy.Thresholds.CongestionQuota = 2
	})
	for _, b := range beds {
		b.remake(func(c *WorkerConfig) { c.Recorder = recorder.LeastMemory })
		t.Cleanup(b.Recorder.Close)
	}
	var sent [2][][]byte
	for n := range 20 {
		occupancy := uint32(0)
		if n >= 10 {
			occupancy = 9000
		}
		b := beds[n%2]
		b.now += 1e6
		beds[1-n%2].now = b.now
		b.network.RX = queue(t, n%2, occupancy, 10)
		if m := b.network.RX[0]; n >= 10 {
			sent[n%2] = append(sent[n%2], bytes.Clone(m))
		}
		b.Poll()
		b.sealed()
	}
	for w, b := range beds {
		var p capture.Record
		n, reported := 0, 0
		for x := b.Recorder.Read(0); x.Next(&p); n++ {
			if n >= len(sent[w]) || p.Episode != 1 || p.Watch != "all" || !bytes.Equal(p.Data, sent[w][n]) {
				t.Errorf("worker %d, packet %d: %+v", w, n, p)
			}
			if p.Events != 0 {
				reported++
			}
		}
		if n != len(sent[w]) || reported == n || b.counters.Recorder.Packets != uint64(n) {
			t.Errorf("worker %d: %d packets, %d of them reported, want %d; %+v", w, n, reported, len(sent[w]), b.counters.Recorder)
		}
	}
}
