package offline_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestReportsLeaveAtTheirDeadline: gaps in a capture delay neither coalesced
// reports nor the ends of flows, and the file is in the order of time.
func TestReportsLeaveAtTheirDeadline(t *testing.T) {
	dir := t.TempDir()
	const us, s = 1000, 1_000_000_000
	path := sinktest.Classic(t, filepath.Join(dir, "in"), 65535, []int64{0, 10 * us, 5000 * us, 7 * s, 300 * s},
		sinktest.IntFrame(t, 1), sinktest.IntFrame(t, 2), sinktest.IntFrame(t, 3), sinktest.IntFrame(t, 4), sinktest.IntFrame(t, 5))
	r := sinktest.ReplayFile(t, path, `report {
  coalesce { max_delay = "1ms" }
}
flows { idle_timeout = "30s" }
collector "second" { address = "192.0.2.11:8555" }
`)
	times := timesOf(r.Reports)
	if len(times) < 9 {
		t.Fatalf("reports at %v, %q", times, r.Stderr)
	}
	if !slices.IsSorted(times) {
		t.Errorf("reports at %v: not in order", times)
	}
	for i, want := range []int64{1000 * us, 1000 * us, 6000 * us, 6000 * us, 7*s + 1000*us, 7*s + 1000*us} {
		if times[i] != want {
			t.Errorf("report packet %d at %d, want %d", i, times[i], want)
		}
	}
	ends := 0
	for _, at := range times[6 : len(times)-2] {
		ends++
		if at < 30*s || at > 42*s { // the last flow before the gap is silent from 37 s
			t.Errorf("a flow's end reported at %d", at)
		}
	}
	if ends == 0 || r.Summary.Reports["flow_end"] != 4 || times[len(times)-1] != 300*s {
		t.Errorf("%d reports of ends, last report at %d, %+v", ends, times[len(times)-1], r.Summary)
	}
}

// TestTimeNeverRunsBackwards: a packet that is behind time mutes no event of those behind it.
func TestTimeNeverRunsBackwards(t *testing.T) {
	const n = 200
	frames := make([][]byte, n)
	for i := range frames {
		frames[i] = sinktest.IntFrame(t, i)
	}
	for name, at := range map[string]func(i int) int64{
		"the first ahead":    func(i int) int64 { return map[bool]int64{true: 1e9, false: int64(i)}[i == 0] },
		"every other behind": func(i int) int64 { return int64(1e6 + i*10000 - i%2*15000) },
		"ever earlier":       func(i int) int64 { return int64((n - i) * 1e9) },
	} {
		t.Run(name, func(t *testing.T) {
			times := make([]int64, n)
			for i := range times {
				times[i] = at(i)
			}
			r := sinktest.ReplayFile(t, sinktest.Classic(t, filepath.Join(t.TempDir(), "in"), 65535, times, frames...), "")
			if r.Summary.Reports["new_flow"] != n || !strings.Contains(r.Stderr, "have an earlier time than one before them") {
				t.Errorf("%s: %+v, %q", name, r.Summary, r.Stderr)
			}
			if got := timesOf(r.Out); !slices.IsSorted(got) {
				t.Errorf("%s: OUT runs backwards: %v", name, got)
			}
		})
	}
}

// TestTimesThatAreNotShared: one time that the packets behind do not share is a bad one; time goes on where the clock is
// set back, and where it is set right again. A gap is a gap.
func TestTimesThatAreNotShared(t *testing.T) {
	const n, s, hour, day = 60, int64(1e9), 3600 * int64(1e9), 24 * 3600 * int64(1e9)
	frames := make([][]byte, n)
	for i := range frames {
		frames[i] = sinktest.IntFrame(t, i)
	}
	plain := func(i int) int64 { return int64(i) * s / 10 }
	for name, c := range map[string]struct {
		at, want func(i int) int64
		said     string
	}{
		"one in the future": {
			func(i int) int64 { return plain(i) + day*toInt(i == 30) },
			func(i int) int64 { return plain(i) - s/10*toInt(i == 30) }, "1 of 60 packets have a time that those behind them do not share"},
		"the first and the last": {
			func(i int) int64 { return plain(i) + day*toInt(i == 0 || i == n-1) },
			func(i int) int64 { return plain(i) + s/10*toInt(i == 0) - s/10*toInt(i == n-1) }, "2 of 60 packets have a time that"},
		"the first without a clock": {
			func(i int) int64 { return plain(i) - 1_000_000*s*toInt(i == 0) },
			func(i int) int64 { return plain(i) + s/10*toInt(i == 0) }, "1 of 60 packets have a time that"},
		"set back": {
			func(i int) int64 { return plain(i) - hour*toInt(i >= 30) },
			func(i int) int64 { return plain(i) - s/10*toInt(i >= 30) }, "its clock was set back 1 time, by 59m59.9s at most"},
		"set back and right again": {
			func(i int) int64 { return plain(i) - hour*toInt(i >= 20 && i < 40) },
			func(i int) int64 { return plain(i) - s/10*toInt(i >= 20 && i < 40) }, "its clock was set back 1 time, by"},
		"two clocks": {
			func(i int) int64 { return plain(i) - 10*s*int64(i%2) },
			func(i int) int64 { return plain(i - i%2) }, "have an earlier time than one before them"},
		"a gap": {
			func(i int) int64 { return plain(i) + hour*toInt(i >= 30) },
			func(i int) int64 { return plain(i) + hour*toInt(i >= 30) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			times, want := make([]int64, n), make([]int64, n)
			for i := range times {
				times[i], want[i] = c.at(i), c.want(i)
			}
			path := sinktest.Classic(t, filepath.Join(t.TempDir(), "in"), 65535, times, frames...)
			r := sinktest.ReplayFile(t, path, "")
			if got := timesOf(r.Out); !slices.Equal(got, want) || !strings.Contains(r.Stderr, c.said) || (c.said == "") != (r.Stderr == "") {
				t.Errorf("%v\n%v\n%q, want %q", got, want, r.Stderr, c.said)
			}
			if _, stderr := planned(t, path, ""); !strings.Contains(stderr, c.said) {
				t.Errorf("plan says %q", stderr)
			}
		})
	}
}

func toInt(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// TestNobodyCanTell: nothing is acquitted where time stands, or where no hop told enough.
func TestNobodyCanTell(t *testing.T) {
	frames := make([][]byte, 500)
	for i := range frames {
		frames[i] = sinktest.IntFrame(t, i%5)
	}
	for name, c := range map[string]struct {
		step int64
		n    int
		want string
	}{
		"time stands":     {0, 200, "all packets have the same time"},
		"too few packets": {1e9, 50, "no hop told 64 latencies"},
		"enough":          {1e9, 500, ""},
	} {
		times := make([]int64, c.n)
		for i := range times {
			times[i] = int64(i) * c.step
		}
		r := sinktest.ReplayFile(t, sinktest.Classic(t, filepath.Join(t.TempDir(), "in"), 65535, times, frames[:c.n]...), "")
		if r.Code != 0 || !strings.Contains(r.Summary.Unknown, c.want) || (c.want == "") != (r.Summary.Unknown == "") {
			t.Errorf("%s: %q, want %q; %q", name, r.Summary.Unknown, c.want, r.Stderr)
		}
	}
}

func TestPacketsWithoutATime(t *testing.T) {
	dir := t.TempDir()
	f := sinktest.IntFrame(t, 1)
	const at = sinktest.CaptureStart / 1000
	for _, c := range []struct {
		name   string
		blocks []byte
		want   []int64
	}{
		{"all", slices.Concat(simple(f), simple(f)), []int64{-sinktest.CaptureStart, -sinktest.CaptureStart}},
		{"between others", slices.Concat(enhanced(0, at, f), simple(f), enhanced(0, at+5, f)), []int64{0, 0, 5000}},
		{"a time beyond all clocks", slices.Concat(enhanced(0, at, f), enhanced(0, 1<<63, f)), []int64{0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := sinktest.Write(t, filepath.Join(dir, "in"), string(slices.Concat(section(), iface(layers.LinkTypeEthernet), c.blocks)))
			if r := sinktest.ReplayFile(t, path, ""); !slices.Equal(timesOf(r.Out), c.want) || r.Stderr != "" {
				t.Errorf("%s: times %v, want %v; %q", c.name, timesOf(r.Out), c.want, r.Stderr)
			}
		})
	}
}

func TestInterfacesOfDifferentLinkTypes(t *testing.T) {
	f := sinktest.IntFrame(t, 1)
	const at = sinktest.CaptureStart / 1000
	ethernet, raw := iface(layers.LinkTypeEthernet), iface(layers.LinkTypeRaw)
	for name, blocks := range map[string][]byte{
		"before the first packet":      slices.Concat(ethernet, raw, enhanced(0, at, f), enhanced(1, at, f[14:])),
		"after the first packet":       slices.Concat(ethernet, enhanced(0, at, f), raw, enhanced(1, at, f[14:])),
		"the first is not ours":        slices.Concat(raw, enhanced(0, at, f[14:])),
		"different, the other's first": slices.Concat(ethernet, raw, enhanced(1, at, f[14:])),
	} {
		t.Run(name, func(t *testing.T) {
			path := sinktest.Write(t, filepath.Join(t.TempDir(), "in"), string(slices.Concat(section(), blocks)))
			r := sinktest.ReplayFile(t, path, "")
			if r.Code != 1 || !strings.Contains(r.Stderr, "link type") || strings.Count(r.Stderr, "\n") != 1 {
				t.Errorf("%s: exit code %d, %q", name, r.Code, r.Stderr)
			}
		})
	}
	t.Run("the other without a packet", func(t *testing.T) {
		asPlanned(t, sinktest.Write(t, filepath.Join(t.TempDir(), "in"), string(slices.Concat(section(), ethernet, raw, enhanced(0, at, f)))), 1)
	})
}
