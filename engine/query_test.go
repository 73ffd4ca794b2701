package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"intsink/engine/aside/inspect"
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/flows"
)

// answer lets the worker tick until it has answered, without a poll.
func (b *bed) answer(q *inspect.Query) *inspect.PendingQuery {
	b.t.Helper()
	question := &inspect.PendingQuery{Query: q}
	b.Questions.Ask(question)
	for range 1 << 20 {
		if question.Done() {
			return question
		}
		b.step(tickNs)
	}
	b.t.Fatal("no answer")
	return nil
}

func keyOf(n int) (k flows.Key) {
	k.SetIPv4(10<<24|uint32(n), 10<<24|1<<16|1)
	k.SetPorts(4, 17, 1024, 8000)
	return k
}

func TestQuestionsAreAnswered(t *testing.T) {
	b := newBed(t, func(r *Rules) {
		r.Watches[0].Policy.Thresholds.EndToEnd = event.Deadband{Absolute: 50_000, Relative: 0.5, K: 2, N: 4}
	})
	for n := range 20 {
		for range n + 1 {
			b.network.RX = append(b.network.RX, withINT(t, plain(n), nil))
		}
		b.Poll()
		b.now += 1000
	}
	for b.Poll() > 0 {
	}
	q := inspect.New(inspect.BestFlows|inspect.Ways|inspect.PathTotals|inspect.OneFlow, 5)
	q.Filter.Watch, q.Key = "all", keyOf(7)
	got := b.answer(q)
	if len(got.Watches) != len(b.rules.Watches) || got.Scanned != 20 || got.Matched != 20 || got.Packets != 210 {
		t.Errorf("scanned %d, matched %d, packets %d; want 20, 20, 210", got.Scanned, got.Matched, got.Packets)
	}
	best := got.Best()
	for i, f := range best {
		if f.Key != keyOf(19-i) || f.Flow.Packets != uint64(20-i) || f.Flow.EndRef != 30_000 || !f.Flow.Matched {
			t.Errorf("flow %d: %+v", i, f)
		}
	}
	if len(best) != 5 {
		t.Errorf("%d flows, want 5", len(best))
	}
	if got.Flow == nil || got.Flow.Packets != 8 || got.Flow.NumHops != 3 || got.Flow.NumPaths != 1 {
		t.Fatalf("flow 7: %+v", got.Flow)
	}
	if len(got.Ways) != 1 || got.Ways[0].Key[0] != got.Flow.Paths[0].Hash {
		t.Fatalf("paths %+v", got.Ways)
	}
	way := got.Ways[0].Value.Known()
	want := []inspect.PathHop{{Node: 101, Ingress: 1, Egress: 2}, {Node: 102, Ingress: 1, Egress: 2}, {Node: 103, Ingress: 1, Egress: 2}}
	if len(way) != 3 || way[0] != want[0] || way[1] != want[1] || way[2] != want[2] {
		t.Errorf("way %v, want %v", way, want)
	}
	for p := range got.Totals.All {
		if p.Hash != got.Ways[0].Key[0] || p.Flows != 20 || p.Packets != 210 || p.MaxLatency != 30_000 {
			t.Errorf("path total %+v", p)
		}
	}
	b.balance()
}

// TestAnswersAfterAReload: flows are matched against the new rules with their next packet.
func TestAnswersAfterAReload(t *testing.T) {
	b := newBed(t, nil)
	b.network.RX = [][]byte{withINT(t, plain(1), nil), withINT(t, plain(2), nil)}
	b.Poll()
	rules := *b.rules
	rules.Watches = append([]watch.Watch{{Name: "other", Match: watch.Match{Protocol: []uint8{6}}, Policy: allEvents()}}, rules.Watches...)
	b.Reload(&rules)
	b.step(tickNs)
	q1 := inspect.New(inspect.BestFlows, 5)
	q1.Filter.Watch = "all"
	q := b.answer(q1)
	if &q.Watches[0] != &rules.Watches[0] || q.Scanned != 2 || q.Matched != 0 {
		t.Errorf("scanned %d, matched %d: the flows have not been matched against the new rules", q.Scanned, q.Matched)
	}
	b.network.RX = [][]byte{withINT(t, plain(1), nil)}
	b.Poll()
	q2 := inspect.New(inspect.BestFlows, 5)
	q2.Filter.Watch = "all"
	if got := b.answer(q2); got.Matched != 1 || got.Best()[0].Flow.Watch != 1 {
		t.Errorf("matched %d after its next packet", got.Matched)
	}
	b.balance()
}

// TestAnswersKnowLoads: an answer tells whether the rules have the unit of some node's utilization, again after a reload.
func TestAnswersKnowLoads(t *testing.T) {
	b := newBed(t, func(r *Rules) { r.NodeModels = []event.NodeModel{{TxFull: 100}} })
	if q := b.answer(inspect.New(inspect.Ways, 1)); !q.KnowsLoads {
		t.Error("the unit is not known with a model")
	}
	next := *b.rules
	next.NodeModels = nil
	b.Reload(&next)
	b.step(200e6)
	if q := b.answer(inspect.New(inspect.Ways, 1)); q.KnowsLoads {
		t.Error("the unit is known without one")
	}
}

// TestQuestionsWhilePolling: a worker that polls without pause is asked from
// another goroutine (for the race detector).
func TestQuestionsWhilePolling(t *testing.T) {
	b := newBed(t, nil)
	var frames [][]byte
	for n := range 500 {
		frames = append(frames, withINT(t, plain(n), func(_ *intgen.Source, hops []intgen.Hop) { hops[0].Egress = uint16(n % 7) }))
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.Run(Idle{Sleep: func() {
			b.network.RX, b.host.TX, b.now = frames, nil, b.now+tickNs/4
			b.sealed()
		}})
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 20 {
		got, err := inspect.AskAll(ctx, []*inspect.Aside{b.Questions}, func(int) *inspect.Query {
			return inspect.New(inspect.BestFlows|inspect.PathTotals|inspect.Ways|inspect.Queues|inspect.Links|inspect.Interfaces, 100)
		})
		if err != nil {
			t.Fatal(err)
		}
		if best := got[0].Best(); got[0].Scanned > 0 && (len(best) == 0 || best[0].Flow.NumHops != 3) {
			t.Errorf("%d flows, %d found", got[0].Scanned, len(best))
		}
	}
	b.Stop()
	<-ended
	b.balance()
}

// TestNobodyAnswers: the worker is gone; whoever asks learns which one.
func TestNobodyAnswers(t *testing.T) {
	b := newBed(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := inspect.AskAll(ctx, []*inspect.Aside{b.Questions}, func(int) *inspect.Query { return inspect.New(inspect.Ways, 0) })
	var gone *inspect.NoAnswer
	if !errors.As(err, &gone) || gone.Worker != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	b.step(tickNs) // it takes the question that nobody waits for
	b.step(tickNs)
	if b.Questions.Serving() {
		t.Error("it goes on answering")
	}
	b.balance()
}
