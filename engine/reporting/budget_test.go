package reporting

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/report"
)

const testHeaders = 42 // Ethernet, IPv4, UDP

// budgeted returns a bed whose collector has a budget.
func budgeted(t *testing.T, budget Budget) *bed {
	budget.Headers = testHeaders
	return newBed(t, func(_ *Rules, c *Collector) { c.Budget = budget })
}

// outcome is what became of one report.
type outcome struct {
	at       int64
	priority event.Priority
	sent     bool
	packets  int // report packets that were opened for it
	bits     int // by how much it made its packet longer
}

// offer asks the budget for one report as Report does, and returns the outcome.
func (b *bed) offer(p event.Priority, size int) outcome {
	sets := [event.NumPriorities]event.Set{
		event.Drop.Set(), event.Congestion.Set(), event.PathChange.Set(), event.HopLatency.Set(),
		event.NewFlow.Set(), event.Refresh.Set(), event.Sample.Set(),
	}
	o := &b.outboxes[0]
	before, packets, length := o.counters.Reports, o.counters.Packets, o.open.Len()
	b.individual = report.Individual{RepType: report.INT, InType: report.IPv4, Inner: make([]byte, size), Own: &b.metadata}
	b.send(&Subject{Set: sets[p], Priority: p, Collectors: 1}, b.now)
	out := outcome{at: b.now, priority: p, sent: o.counters.Reports > before}
	switch {
	case !out.sent:
	case length == 0 || o.counters.Packets > packets && o.open.IsOpen():
		out.packets, out.bits = 1, 8*(testHeaders+o.open.Len())
	default:
		out.bits = 8 * (o.open.Len() - length)
	}
	return out
}

// load is an even stream of reports of one priority, in groups.
type load struct {
	priority  event.Priority
	perSecond int
	group     int
}

// play offers loads for so many seconds.
func (b *bed) play(seconds int, loads ...load) []outcome {
	const step = 100e3
	random := rand.New(rand.NewPCG(1, 2))
	var all []outcome
	due := make([]int64, len(loads))
	for i := range due {
		due[i] = b.now + random.Int64N(1e6)
	}
	for end := b.now + int64(seconds)*1e9; b.now < end; b.step(step) {
		for i, l := range loads {
			for ; due[i] <= b.now; due[i] += int64(l.group) * 1e9 / int64(l.perSecond) {
				for range l.group {
					all = append(all, b.offer(l.priority, 100+random.IntN(29)))
				}
			}
		}
		b.sealed()
	}
	return all
}

// share returns the part of the reports offered at priority p that was sent.
func share(all []outcome, p event.Priority) float64 {
	offered, sent := 0, 0
	for _, x := range all {
		if x.priority == p {
			offered++
			if x.sent {
				sent++
			}
		}
	}
	return float64(sent) / float64(offered)
}

// within checks that in no second more than rate and burst was sent.
func within(t *testing.T, all []outcome, what string, limit int, amount func(outcome) int) {
	t.Helper()
	first, sum, most := 0, 0, 0
	for _, x := range all {
		sum += amount(x)
		for ; all[first].at <= x.at-1e9; first++ {
			sum -= amount(all[first])
		}
		most = max(most, sum)
	}
	if most > limit || most == 0 {
		t.Errorf("%d %s in a second, at most %d are allowed", most, what, limit)
	}
}

// strict checks that nothing was sent within a second after something of a higher
// priority was shed.
func strict(t *testing.T, all []outcome) {
	t.Helper()
	var lastShed [event.NumPriorities]int64
	for _, x := range all {
		if !x.sent {
			lastShed[x.priority] = x.at
			continue
		}
		for p := range x.priority {
			if at := lastShed[p]; at != 0 && x.at-at < 1e9 {
				t.Fatalf("at %d us: priority %d sent, %d us after %d was shed", x.at/1e3, x.priority, (x.at-at)/1e3, p)
			}
		}
	}
}

// mixes are loads beyond every budget below, bursty and even.
var mixes = [][]load{
	{{0, 50, 1}, {2, 300, 1}, {4, 5000, 1}, {5, 500, 1}, {6, 2000, 1}},
	{{0, 200, 100}, {3, 1000, 250}, {4, 5000, 64}, {6, 1000, 1}},
	{{1, 3000, 1}, {6, 3000, 1}},
}

func TestBudgetBoundsAndIsStrict(t *testing.T) {
	for _, budget := range []Budget{
		{Packets: 100, Burst: 100e6},
		{Packets: 10, Burst: 100e6},
		{Bits: 1e6, Burst: 100e6},
		{Bits: 200e3, Packets: 50, Burst: 1e9},
		{Bits: 20e3, Burst: 1e6}, // less than one report at once
	} {
		for i, loads := range mixes {
			b := budgeted(t, budget)
			all := b.play(2, loads...)
			strict(t, all)
			if budget.Packets != 0 {
				burst := max(int(budget.Packets)*int(budget.Burst)/1e9, 1)
				within(t, all, "packets", int(budget.Packets)+burst, func(x outcome) int { return x.packets })
			}
			if budget.Bits != 0 {
				burst := max(int(budget.Bits)*int(budget.Burst)/1e9, 8*(testHeaders+8+12+128))
				within(t, all, "bits", int(budget.Bits)+burst, func(x outcome) int { return x.bits })
			}
			if t.Failed() {
				t.Fatalf("budget %+v, mix %d", budget, i)
			}
			b.balance()
		}
	}
}

// TestBudgetServesHighFirst: all reports of a priority that fits the budget by itself are sent,
// and lower priorities get the whole rest.
func TestBudgetServesHighFirst(t *testing.T) {
	const bits = 8 * (12 + 112) // of a report, on average, without its share of headers
	for _, high := range []event.Priority{event.PriorityLoss, event.PriorityLatency, event.PriorityRefresh} {
		for _, c := range []struct {
			budget Budget
			loads  []load
		}{
			{Budget{Bits: 1500 * bits, Burst: 100e6}, []load{{high, 600, 1}, {event.PrioritySample, 8000, 1}}},
			{Budget{Bits: 1500 * bits, Burst: 200e6}, []load{{high, 600, 5}, {event.PrioritySample, 8000, 32}}},
			{Budget{Packets: 200, Burst: 100e6}, []load{{high, 160, 1}, {event.PrioritySample, 5000, 1}}},
			{Budget{Packets: 1300, Burst: 100e6}, []load{{high, 10000, 1}, {event.PrioritySample, 10000, 1}}}, // ten of high to a packet
			{Budget{Packets: 200, Burst: 500e6}, []load{{high, 160, 4}, {event.PrioritySample, 5000, 64}}},
		} {
			b := budgeted(t, c.budget)
			all := b.play(2, c.loads...)
			spent, packets := 0, 0
			for _, x := range all {
				spent += x.bits
				packets += x.packets
			}
			if got := share(all, high); got != 1 {
				t.Errorf("budget %+v: %.3f of priority %d passed, which is within it", c.budget, got, high)
			}
			if float64(spent) < 0.93*2*float64(c.budget.Bits) || float64(packets) < 0.93*2*float64(c.budget.Packets) {
				t.Errorf("budget %+v, priority %d: %d bits, %d packets in 2 s: lower ones did not get the rest", c.budget, high, spent, packets)
			}
			b.balance()
		}
	}
}

// TestBudgetOfTwoWorkers: two workers share one budget.
func TestBudgetOfTwoWorkers(t *testing.T) {
	const perSecond, seconds = 1000, 3
	bucket := NewBucket()
	var sent atomic.Int64
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			l := limit{bucket: bucket}
			l.configure(Budget{Packets: perSecond, Bits: perSecond * 800, Burst: 100e6})
			for now := int64(1e9); now < (1+seconds)*1e9; now += 100e3 {
				if l.take(event.PriorityLoss, true, 800, now) {
					sent.Add(1)
				}
			}
		})
	}
	workers.Wait()
	if n := sent.Load(); n > perSecond*seconds+perSecond/10 || n < perSecond*seconds*9/10 {
		t.Errorf("%d reports in %d s, budget %d/s", n, seconds, perSecond)
	}
}

// TestShedCostsNothing: a report that is shed for its bits spends no packet.
func TestShedCostsNothing(t *testing.T) {
	l := limit{bucket: NewBucket()}
	l.configure(Budget{Packets: 10, Bits: 1000, Burst: 1e9})
	const now = 100e9
	for range 50 {
		l.take(event.PriorityLoss, true, 1000, now)
	}
	l.configure(Budget{Packets: 10, Burst: 1e9})
	n := 0
	for l.take(event.PriorityLoss, true, 1000, now) {
		n++
	}
	if n != 9 {
		t.Errorf("%d packets left, want 9: one was sent", n)
	}
}

// TestMeterIsExact: a rate whose interval is no whole number of nanoseconds is kept exactly.
func TestMeterIsExact(t *testing.T) {
	for _, rate := range []uint64{1, 3, 1e6 + 7, 40e9 + 1, 1 << 40} {
		m := meter{rate: rate, burst: 100e6}
		sum, total := uint64(0), uint64(0)
		for i := range uint64(1000) {
			ns, credit := m.cost(1000 + i)
			m.credit = credit
			sum += uint64(ns)
			total += 1000 + i
		}
		if exact := (total*1e9 + rate - 1) / rate; sum != exact {
			t.Errorf("rate %d: %d ns, want %d", rate, sum, exact)
		}
	}
}

func TestReloadOfABudget(t *testing.T) {
	b := newBed(t, nil)
	change := func(budget Budget) {
		b.Adopt(b.rules, []Collector{{MaxPayload: 1358, Budget: budget}}, nil, b.now)
		b.step(2e6)
	}
	sent := func(all []outcome) (n int) {
		for _, x := range all {
			n += x.packets
		}
		return n
	}
	high := []load{{event.PriorityLoss, 500, 1}}
	if n := sent(b.play(1, high...)); n < 490 {
		t.Errorf("%d packets without a budget", n)
	}
	change(Budget{Packets: 100, Burst: 100e6, Headers: testHeaders})
	if n := sent(b.play(2, high...)); n < 190 || n > 210 {
		t.Errorf("%d packets in 2 s, budget 100 a second", n)
	}
	change(Budget{Packets: 50, Burst: 100e6, Headers: testHeaders}) // what was spent stays spent
	if n := sent(b.play(2, high...)); n < 95 || n > 105 {
		t.Errorf("%d packets in 2 s, budget 50 a second", n)
	}
	change(Budget{})
	if n := sent(b.play(1, high...)); n < 490 {
		t.Errorf("%d packets when the budget is gone", n)
	}
	b.balance()
}

// TestFromIsTake: from says from when take succeeds, at any rate, the slowest included; without a rate there is no limit.
func TestFromIsTake(t *testing.T) {
	for _, rate := range []uint64{0, 1, 2, 1000} {
		m, spent := meter{rate: rate, burst: 2e9}, atomic.Int64{}
		refused := 0
		for n := range int64(5000) {
			now := int64(10e9) + n/100*1e6
			has := now >= m.from(&spent, 0, 1)
			if _, is := m.take(&spent, 0, 1, now); is != has {
				t.Fatalf("rate %d, packet %d: has %v, take %v", rate, n, has, is)
			}
			if !has {
				refused++
			}
		}
		if want := map[uint64]int{0: 0, 1: 4998, 2: 4996, 1000: 2951}[rate]; refused != want {
			t.Errorf("rate %d: %d refused, want %d", rate, refused, want)
		}
	}
}
