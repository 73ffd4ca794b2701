package flows

import (
	"fmt"
	"testing"
)

// TestFlowEndsAtItsNanosecond: a flow ends when it was silent for its idle timeout, a closing one
// after two seconds where that is less, and neither a nanosecond before; it ends once.
func TestFlowEndsAtItsNanosecond(t *testing.T) {
	for _, c := range []struct {
		name    string
		idle    int64
		closing bool
		after   int64
	}{
		{"open", 30 * second, false, 30 * second},
		{"closing", 30 * second, true, 2 * second},
		{"open, short timeout", second, false, second},
		{"closing, short timeout", second, true, second},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := New(Config{Capacity: 16, Seed: 1, IdleTimeout: c.idle})
			defer table.Close()
			k := keyOf(1)
			found, _ := lookup(table, 7*second, k)
			if c.closing {
				found[0].Close()
			}
			ended := 0
			for _, late := range []int64{0, 1, c.after - 1} {
				if table.agePlace(0, 7*second+late, func(*Flow) { ended++ }); ended != 0 || table.Find(&k) == nil {
					t.Fatalf("ended after %d ns, want %d", late, c.after)
				}
			}
			for range 2 {
				if table.agePlace(0, 7*second+c.after, func(*Flow) { ended++ }); ended != 1 || table.Find(&k) != nil || table.Len() != 0 {
					t.Fatalf("ended %d times after %d ns, want once", ended, c.after)
				}
			}
		})
	}
}

// TestOldTimesMoveUp: a time of 32 bits that is too old to be told apart becomes the oldest that can be, and never
// 0 where that means none; the oldest itself and all later ones stay.
func TestOldTimesMoveUp(t *testing.T) {
	const oldest = 1 << 31
	for _, c := range []struct {
		name    string
		now     int64 // Tick is now>>20, the unit of NextRefresh a quarter of that
		f, want Flow
	}{
		{"recent", 1000 << 20, Flow{PathSeen: 999, LastReport: 1, NextRefresh: 5000}, Flow{PathSeen: 999, LastReport: 1, NextRefresh: 5000}},
		{"none", (oldest + 7) << 20, Flow{PathSeen: oldest}, Flow{PathSeen: oldest}},
		{"the oldest", (oldest + 7) << 20, Flow{PathSeen: 7, LastReport: 7, NextRefresh: 3<<30 + 28}, Flow{PathSeen: 7, LastReport: 7, NextRefresh: 3<<30 + 28}},
		{"one older", (oldest + 7) << 20, Flow{PathSeen: 6, LastReport: 6, NextRefresh: 3<<30 + 27}, Flow{PathSeen: 7, LastReport: 7, NextRefresh: 3<<30 + 28}},
		{"52 days ago", 7 << 20, Flow{PathSeen: 8, LastReport: 8}, Flow{PathSeen: oldest + 7, LastReport: oldest + 7}},
		{"to 0", oldest << 20, Flow{PathSeen: 1<<32 - 1, LastReport: 1<<32 - 1}, Flow{PathSeen: 0, LastReport: 1}},
		{"refresh to 0", 1 << 48, Flow{PathSeen: 1 << 28, NextRefresh: 1<<32 - 1}, Flow{PathSeen: 1 << 28, NextRefresh: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := c.f
			f.saturate(c.now)
			if f != c.want {
				t.Errorf("path %d, report %d, refresh %d; want %d, %d, %d", f.PathSeen, f.LastReport, f.NextRefresh, c.want.PathSeen, c.want.LastReport, c.want.NextRefresh)
			}
		})
	}
}

// TestEachPlaceIsVisitedOnceInTwelveHours, all at the start of a round, and from the start where the clock goes back.
func TestEachPlaceIsVisitedOnceInTwelveHours(t *testing.T) {
	table := New(Config{Capacity: 16, Seed: 1, IdleTimeout: second})
	defer table.Close()
	for _, c := range []struct {
		name string
		now  int64
		want int
	}{
		{"first", 100 * hour, 16},
		{"again", 100 * hour, 0},
		{"a nanosecond early", 112*hour - 1, 0},
		{"twelve hours later", 112 * hour, 16},
		{"the clock goes back", 112*hour - 1, 16},
		{"twelve hours from there", 124*hour - 1, 16},
	} {
		visits := 0
		for range 3 * table.Capacity() {
			if table.visiting(c.now) {
				visits++
			}
		}
		if visits != c.want {
			t.Errorf("%s: %d places visited, want %d", c.name, visits, c.want)
		}
	}
}

const hour = 3600 * second

// TestOldTimesDoNotComeAgain: times of 32 bits are told from those of today for as long as
// a flow or an entry lives.
func TestOldTimesDoNotComeAgain(t *testing.T) {
	for _, days := range []int64{1, 6, 7, 13, 14, 26, 27, 52, 53, 105, 400} {
		t.Run(fmt.Sprint(days, " days"), func(t *testing.T) {
			table := New(Config{Capacity: 1024, Seed: 1, IdleTimeout: 24 * hour})
			defer table.Close()
			small := NewSmall[int](16, 1, nil)
			defer small.Close()
			start := int64(1_800_000_000) * second
			now, end := start, start+days*24*hour
			found, _ := lookup(table, now, keyOf(1))
			f := found[0]
			f.PathSeen, f.LastReport, f.NextRefresh = Tick(now), Tick(now), uint32(now>>RefreshShift)
			small.Get(now, [2]uint64{7})
			for ; now < end; now += hour {
				lookup(table, now, keyOf(1))
				table.Age(now, func(*Flow) { t.Fatal("the flow ended") })
				for range small.Capacity() {
					small.Saturate(now)
				}
			}
			for name, at := range map[string]int64{"PathSeen": Since(now, f.PathSeen), "LastReport": Since(now, f.LastReport)} {
				if at > start && at > now-25*24*hour {
					t.Errorf("%s is %d hours ago", name, (now-at)/hour)
				}
			}
			if late := now - f.RefreshDue(now); late < min(days*24, 3*24)*hour-second {
				t.Errorf("the refresh is %d hours late", late/hour)
			}
			small.Walk(0, 16, func(_ [2]uint64, seen uint32, _ *int) {
				if at := Since(now, seen); at > start && at > now-25*24*hour {
					t.Errorf("the entry was seen %d hours ago", (now-at)/hour)
				}
			})
		})
	}
}

// TestFlowLivesForItsIdleTimeout: also the longest that can be configured, from wherever the
// clock is.
func TestFlowLivesForItsIdleTimeout(t *testing.T) {
	for _, start := range []int64{second, 1<<32*1000 - second, 1<<49 - second, 1<<50 - 12*hour, 1<<52 - second, 1<<52 - 23*hour, 1<<60 + 7} {
		table := New(Config{Capacity: 16, Seed: 1, IdleTimeout: 24 * hour})
		lookup(table, start, keyOf(1))
		ended := int64(0)
		for now := start; now < start+25*hour && ended == 0; now += second {
			table.Age(now, func(*Flow) { ended = now })
		}
		if idle := ended - start; idle < 24*hour || idle > 24*hour+6*second {
			t.Errorf("seen at %d, ended %d s later", start, idle/second)
		}
		table.Close()
	}
}
