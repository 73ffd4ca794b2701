package truth

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"intsink/flows"
)

// The traces of every run of the tests, and the one of `make soak`.
var (
	short = forRace(Config{
		Seed: 20, Duration: 10 * time.Minute, Scenes: 1500, Shared: 6,
		Floods: 2, Flood: 3000, Burst: time.Second,
	}, Config{Scenes: 400, Shared: 1, Flood: 1500})
	strict = forRace(Config{Seed: 22, Duration: 2 * time.Minute, Scenes: 400, Shared: 3, DropUnsound: true}, Config{Scenes: 100, Shared: 1})
	// planned is a trace that only the model plays.
	planned = forRace(Config{Seed: 99, Duration: 10 * time.Minute, Scenes: 1500, Shared: 10}, Config{Scenes: 200, Shared: 1})

	soak = Config{
		Seed: 21, Duration: time.Hour, Scenes: 300_000, Shared: 200,
		Floods: 14, Flood: 50_000, Burst: 500 * time.Millisecond,
	}
)

// forRace returns c or, with the race detector, which is ten times slower, c with the scenes of
// fewer and at most its flood.
func forRace(c, fewer Config) Config {
	if underRace {
		c.Scenes, c.Shared = fewer.Scenes, fewer.Shared
		c.Flood = min(c.Flood, fewer.Flood)
	}
	return c
}

// TestTruth plays traces to a worker, which must report every event and no other. TRUTH_SEED=N
// plays others.
func TestTruth(t *testing.T) {
	for _, x := range []struct {
		name    string
		c       Config
		without []string // events that no watch asks for, so that the engine takes faster paths
	}{
		{"every event", short, nil},
		{"malformed packets dropped", strict, nil},
		{"nothing that flows share", strict, []string{LinkLatency, Congestion, TxUtilization}},
		{"no links", strict, []string{LinkLatency, EndToEnd}},
		{"queues alone", strict, []string{LinkLatency, TxUtilization}},
	} {
		t.Run(x.name, func(t *testing.T) {
			if n, err := strconv.ParseUint(os.Getenv("TRUTH_SEED"), 10, 64); err == nil {
				x.c.Seed = n
			}
			score(t, x.c, 1000, 1<<14, nil, x.without...)
		})
	}
}

// TestSoak is `make soak`: a million flows and one virtual hour, in memory that does not grow. It
// runs only with SOAK=1.
func TestSoak(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		return
	}
	const capacity = 1 << 17
	var warm, peak memory
	score(t, soak, 20_000, capacity, func(part float64) {
		now := residentMemory()
		if t.Logf("%3.0f %% of the hour: %v", part*100, now); part < 0.5 {
			warm = warm.max(now)
		} else {
			peak = peak.max(now)
		}
	})
	// Side state takes memory page by page as flows need it, up to what is mapped.
	mapped := capacity*(flows.Bytes+flows.SideBytes+flows.SequenceBytes) + 32<<20 // queues, mbufs, the program
	if peak.tables > mapped || peak.tables > warm.tables*115/100 || peak.all > warm.all*5/4 {
		t.Errorf("memory grew from %v to %v; %d MiB of tables are mapped", warm, peak, mapped>>20)
	}
}

// score plays a trace. often, if it is not nil, is called from time to time with the part that was
// played.
func score(t *testing.T, c Config, rate int64, capacity int, often func(part float64), without ...string) {
	policies := Policies(rate)
	for i := range policies {
		policies[i].Events = slices.DeleteFunc(slices.Clone(policies[i].Events), func(e string) bool { return slices.Contains(without, e) })
	}
	if missing := unknownTo(); len(missing) > 0 {
		t.Fatalf("the engine has no %v", missing)
	}
	b := newBed(t, policies[:], capacity, c.DropUnsound)
	m := NewModel(policies[:], Classes)
	m.DropUnsound = c.DropUnsound
	start := time.Now()
	b.often = func() {
		if often != nil {
			often(float64(b.now-Epoch) / float64(c.Duration))
		}
	}
	r, err := Run(New(c), m, b)
	if err != nil {
		t.Fatal(err)
	}
	b.close()
	var table strings.Builder
	r.Print(&table)
	t.Logf("seed %d, %.1f s\n%s", c.Seed, time.Since(start).Seconds(), &table)
	if r.Recall() == 1 && r.False() == 0 {
		return
	}
	for _, f := range r.Faults {
		t.Logf("\n%s", f)
	}
	t.Errorf("recall %.6f, want 1; %d false, want 0", r.Recall(), r.False())
}

// memory is the resident memory of the process in bytes, and the part of it outside the Go heap:
// the worker's tables. The heap holds the model and the trace; tests of the engine show that the
// worker takes none of it.
type memory struct{ all, tables int }

// String returns both numbers in MiB.
func (m memory) String() string {
	return fmt.Sprintf("%d MiB resident, %d MiB of it outside the Go heap", m.all>>20, m.tables>>20)
}

func (m memory) max(o memory) memory { return memory{max(m.all, o.all), max(m.tables, o.tables)} }

func residentMemory() memory {
	debug.FreeOSMemory()
	b, _ := os.ReadFile("/proc/self/statm")
	pages, _ := strconv.Atoi(strings.Fields(string(b) + " 0 0")[1])
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	all := pages * os.Getpagesize()
	return memory{all, all - int(m.Sys-m.HeapReleased)}
}

// TestModelKnowsThePlan: the model finds every planted event and, in quiet scenes, no other. It
// does not use the engine, so that events can be tested before the engine has them.
func TestModelKnowsThePlan(t *testing.T) {
	c := planned
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
