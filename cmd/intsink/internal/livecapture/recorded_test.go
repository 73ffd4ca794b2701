package livecapture

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/internal/flowapi"
	"intsink/engine/aside/recorder"
	"intsink/engine/burst"
	"intsink/engine/burst/bursttest"
	"intsink/engine/event"
)

// recording is a sink with a flight recorder, and what its worker records.
type recording struct {
	*Server
	bed *bursttest.Bed
	rec *recorder.Recorder
}

func newRecording(t *testing.T) *recording {
	bed := bursttest.New(t, bursttest.ByPort())
	bed.Watched = true
	rec := recorder.New(recorder.LeastMemory, bed.Now, bed.Detector, new(recorder.Counters))
	t.Cleanup(rec.Close)
	s := &Server{Recorders: []*recorder.Recorder{rec}, Config: inForce, Clock: func() int64 { return bed.Now }, WallClock: func() int64 { return 0 }}
	return &recording{s, bed, rec}
}

// pass records so many packets, one each 100 ms.
func (r *recording) pass(t *testing.T, n int) {
	for range n {
		r.bed.Now += 100_000_000
		r.bed.Parse(bursttest.WithINT(t, bursttest.Plain(1), nil))
		r.bed.Resolve()
		r.bed.Reportable, r.bed.Cause[0] = 1, burst.CauseOf(event.Sample.Set(), 0, false)
		r.rec.Burst(r.bed.Burst)
	}
}

// slowClient takes the first bytes, and then nothing while happens does.
type slowClient struct {
	*httptest.ResponseRecorder
	happens func()
}

func (c *slowClient) Write(b []byte) (int, error) {
	if c.happens != nil {
		c.happens()
	}
	c.happens = nil
	return c.ResponseRecorder.Write(b)
}

// TestClientThatIsTooSlow: packets that are overwritten before a client takes them are missing, and it hears so.
func TestClientThatIsTooSlow(t *testing.T) {
	r := newRecording(t)
	r.pass(t, 10_000)
	for name, c := range map[string]struct {
		happens func()
		says    string
	}{
		"at once": {nil, ""}, "late": {func() { r.pass(t, 10_000) }, "some were overwritten before they could be read"},
	} {
		q, f, err := compiled(`{"before": 10}`)
		if err != nil {
			t.Fatal(err)
		}
		w := &slowClient{httptest.NewRecorder(), c.happens}
		o := r.recorded(q, &f, inForce())
		if o.Stream == nil {
			t.Fatal(o.Error)
		}
		o.Stream(w, httptest.NewRequest(http.MethodPost, "/", nil))
		packets, _ := strconv.Atoi(w.Header().Get(trailerPackets))
		if says := recordedSummary(w.Header(), 10*time.Second, packets); !strings.Contains(says, c.says) || c.says == "" && strings.Contains(says, "overwritten") || strings.Contains(says, "nothing was reported") {
			t.Errorf("%s: %s, %v", name, says, w.Header())
		}
	}
}

// TestRecordedPacketsAreCounted in the time that is asked for, of the hosts that are.
func TestRecordedPacketsAreCounted(t *testing.T) {
	r := newRecording(t)
	begun := r.bed.Now
	r.pass(t, 100)
	at := func(ns int64) time.Time { return time.Unix(0, begun+ns) }
	source, _ := netip.AddrFromSlice(bursttest.Plain(1)[26:30])
	host := source.String()
	for _, c := range []struct {
		from, to int64
		wanted   flowapi.Wanted
		want     int
	}{
		{0, 1e12, flowapi.Wanted{}, 100}, {1e9, 2e9, flowapi.Wanted{Source: host}, 11}, {0, 1e12, flowapi.Wanted{Source: "203.0.113.9"}, 0}, {20e9, 30e9, flowapi.Wanted{}, 0},
	} {
		x := r.Recorded(&c.wanted, at(c.from), at(c.to))
		if x == nil || x.Packets != c.want || !x.Since.Equal(at(0)) || c.want == 11 && (!x.From.Equal(at(1e9)) || !x.To.Equal(at(2e9))) {
			t.Errorf("%+v: %+v, want %d packets", c, x, c.want)
		}
	}
	if x := (&Server{}).Recorded(&flowapi.Wanted{}, at(0), at(1)); x != nil {
		t.Errorf("without a recorder: %+v", x)
	}
}
