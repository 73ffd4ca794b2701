package truth

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The trace of every run of the tests, and the one of `make soak`.
var (
	short = Config{
		Seed: 20, Duration: 10 * time.Minute, Scenes: 4000, Shared: 12,
		Floods: 2, Flood: 3000, Burst: time.Second,
	}
	soak = Config{
		Seed: 21, Duration: time.Hour, Scenes: 0, Shared: 200,
		Floods: 12, Flood: 50_000, Burst: 500 * time.Millisecond,
	}
)

// TestTruth plays a trace to a worker: recall 1, nothing false.
func TestTruth(t *testing.T) {
	score(t, short, 1000, 1<<14)
}

// TestSoak is `make soak`: a million flows, one virtual hour. It is no test of every
// run: SOAK=1 asks for it.
func TestSoak(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		return
	}
	c := soak
	c.Scenes = 1_000_000 - c.Floods*c.Flood
	score(t, c, 20_000, 1<<18)
}

func score(t *testing.T, c Config, rate float64, capacity int) {
	policies := Policies(rate)
	var absent []string
	for _, e := range Classes {
		if !slices.Contains(known(), e) {
			absent = append(absent, e)
		}
	}
	b := newBed(t, policies[:], capacity)
	start := time.Now()
	r, err := Run(New(c), NewModel(policies[:], known()), b)
	if err != nil {
		t.Fatal(err)
	}
	b.close()
	var table strings.Builder
	r.Print(&table)
	t.Logf("seed %d, %.1f s, peak memory %s; the engine has no %v\n%s",
		c.Seed, time.Since(start).Seconds(), peakMemory(), absent, &table)
	if r.Recall() == 1 && r.False() == 0 {
		return
	}
	for _, f := range r.Faults {
		t.Logf("\n%s", f)
	}
	t.Errorf("recall %.6f, want 1; %d false, want 0", r.Recall(), r.False())
}

// peakMemory is the process's, as Linux tells it.
func peakMemory() string {
	b, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(b)) {
		if size, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.TrimSpace(size)
		}
	}
	return "unknown"
}

// TestModelKnowsThePlan: the model finds every planted event and, in quiet scenes,
// nothing else. It needs no engine, so that events which that does not have yet are
// checked, too.
func TestModelKnowsThePlan(t *testing.T) {
	c := short
	c.Seed, c.Scenes, c.Floods = 99, 1500, 0
	policies := Policies(1000)
	m := NewModel(policies[:], Classes)
	wanted, planned := map[string]int{}, map[string]int{}
	timers := func(now int64) {
		for _, x := range m.Overdue(now) {
			wanted[x.Event]++
		}
	}
	faults := 0
	trace := New(c)
	for k := trace.Next(); k != nil; k = trace.Next() {
		timers(k.Time)
		e := m.Packet(k)
		for _, want := range k.Plan {
			planned[want]++
			if want != FlowEnd && want != Loss && !slices.Contains(e.Must, want) && faults < 20 {
				faults++
				t.Errorf("planted %s is not in %v, perhaps %v\n%v\n%s\n%s", want, e.Must, e.May, k, strings.Join(e.Why, "; "), m.State(k.Flow.Key()))
			}
		}
		for _, x := range e.Must {
			wanted[x]++
			if k.Quiet && x != NewFlow && x != Refresh && x != Sample && faults < 20 {
				faults++
				t.Errorf("%s in a quiet scene\n%v\n%s\n%s", x, k, strings.Join(e.Why, "; "), m.State(k.Flow.Key()))
			}
		}
		m.Decide(e.Must)
	}
	timers(trace.last + int64(time.Hour))
	for _, e := range []string{FlowEnd, Loss} { // these have no packet
		if wanted[e] != planned[e] {
			t.Errorf("%d %s planted, the model has %d", planned[e], e, wanted[e])
		}
	}
	for _, e := range Classes {
		if wanted[e] == 0 {
			t.Errorf("the trace has no %s", e)
		}
	}
	t.Logf("planted %v, expected %v", planned, wanted)
}

// TestTracesRepeat: the same seed gives the same packets.
func TestTracesRepeat(t *testing.T) {
	c := short
	c.Scenes, c.Floods, c.Shared = 100, 0, 1
	a, b := New(c), New(c)
	for {
		x, y := a.Next(), b.Next()
		if x == nil || y == nil {
			if x != y {
				t.Error("one trace is longer")
			}
			return
		}
		f, err := x.Frame()
		g, _ := y.Frame()
		if err != nil || x.Time != y.Time || !slices.Equal(f, g) {
			t.Fatalf("%v\n%v\n%v", x, y, err)
		}
	}
}
