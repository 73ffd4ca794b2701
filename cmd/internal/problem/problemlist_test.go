package problem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// at is so many seconds after the beginning.
func at(second int) time.Time { return time.Unix(1000+int64(second), 0) }

// fault is the sign of a state at a node.
func fault(node string) Sign {
	return Sign{Kind: WorkerBehind, Subject: "node", Place: At("node", node), What: "it is slow", Over: "it is as it was", Settle: 3 * time.Second}
}

// lost is the sign of reports to a collector that are lost for a reason.
func lost(reason string, n uint64) Sign {
	return Sign{Kind: CollectorAway, Place: At("collector", "c", "reason", reason), Count: &Count{Value: n, FromZero: true, Through: new(uint64)}}
}

// quiet is a List that tells nobody.
func quiet() *List {
	return New(func() *slog.Logger { return slog.New(slog.DiscardHandler) }, nil)
}

// TestStatesHaveTheirHysteresis: one look is no problem, two are; what is well for a moment is one problem with what
// comes again; a group ends only its own.
func TestStatesHaveTheirHysteresis(t *testing.T) {
	var told []string
	l := New(func() *slog.Logger { return slog.New(slog.DiscardHandler) }, func(event string, p *Problem) { told = append(told, event+" "+string(p.Kind)+" at "+p.Where()) })
	for second, wrong := range []bool{true, false, true, true, true, false, true, false, false, false, false, false} {
		var signs []Sign
		if wrong {
			signs = []Sign{fault("7")}
		}
		l.Look("network", signs, at(second))
		l.Look("other", nil, at(second))
	}
	if want := []string{"begin worker_behind at node 7", "end worker_behind at node 7"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	p := l.answer(&Filter{limit: 9}).Items[0]
	if !p.Since.Equal(at(3)) || !p.Until.Equal(at(7)) {
		t.Errorf("from %v to %v, not from 3 to 7 s", p.Since, p.Until)
	}
}

// TestBounds: however much is wrong, so much is kept, and the rest is counted.
func TestBounds(t *testing.T) {
	l := quiet()
	for round := range 4 {
		for second := range 3 {
			var signs []Sign
			for i := range maxOpen + 10 {
				signs = append(signs, fault(fmt.Sprint(round, i)))
			}
			l.Look("network", signs, at(10*round+second))
		}
	}
	l.Look("network", nil, at(50))
	l.Look("network", nil, at(60))
	a := l.answer(&Filter{limit: mostItems})
	if a.Totals.Ended != maxEnded || a.Totals.Open != 0 || a.Totals.Left < 10 || len(l.trouble) != 0 {
		t.Errorf("%+v, %d signs kept", a.Totals, len(l.trouble))
	}
	l.Look("network", nil, at(60).Add(keepFor+time.Second))
	if n := l.answer(&Filter{limit: mostItems}).Totals.Ended; n != 0 {
		t.Errorf("%d after a day", n)
	}
	e := Evidence{Why: strings.Repeat("x", 9999), Flows: make([]string, 99)}.bounded()
	if len(e.Why) > maxText+3 || len(e.Flows) != MostFlows {
		t.Errorf("%d bytes, %d flows", len(e.Why), len(e.Flows))
	}
}

// TestOverARestart: what had ended is known; what was open goes on as the same problem where it is seen again, with what was
// lost before, and ended with the stop where it is not.
func TestOverARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), fileName)
	before, after := quiet(), quiet()
	lose := func(l *List, second int, n uint64) { l.Look("sink", []Sign{lost("error", n)}, at(second)) }
	lose(before, 0, 5)
	lose(before, 1, 9)
	before.Look("network", []Sign{fault("7")}, at(1))
	before.Look("network", []Sign{fault("7")}, at(2))
	if err := before.Save(path, at(3)); err != nil {
		t.Fatal(err)
	}
	after.began = at(10)
	if err := after.Load(path, at(10)); err != nil {
		t.Fatal(err)
	}
	lose(after, 11, 0)
	lose(after, 12, 3)
	a := after.answer(&Filter{limit: 9})
	if len(a.Items) != 2 || a.Items[0].ID != 1 || *a.Items[0].Value != 7 || !a.Items[0].Since.Equal(at(1)) || a.Items[0].Ended != "" {
		t.Errorf("the loss: %+v", a.Items[0])
	}
	if p := a.Items[1]; p.ID != 2 || p.Ended != endedByStop || !p.Until.Equal(at(3)) {
		t.Errorf("the state: %+v", p)
	}
	lose(after, 13, 4)
	if p := after.answer(&Filter{limit: 1}).Items[0]; *p.Value != 8 {
		t.Errorf("%v lost, not 4 and 4", *p.Value)
	}
}

// TestFilesThatCannotBeUsed: none keeps the sink from starting; each is set aside, but what ended later than now.
func TestFilesThatCannotBeUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), fileName)
	l := quiet()
	l.Look("network", []Sign{fault("7")}, at(1))
	l.Look("network", []Sign{fault("7")}, at(2))
	if err := l.Save(path, at(3)); err != nil {
		t.Fatal(err)
	}
	good, _ := os.ReadFile(path)
	for name, text := range map[string]string{
		"empty": "", "torn": string(good[:len(good)-5]), "of another version": strings.Replace(string(good), "problems 1", "problems 9", 1),
		"another file": strings.Replace(string(good), "problems 1", "usual 1", 1), "of another machine": strings.Replace(string(good), "machine ", "machine 0", 1),
	} {
		os.WriteFile(path, []byte(text), 0o600)
		fresh := quiet()
		err := fresh.Load(path, at(10))
		if _, there := os.Stat(path); err == nil || there == nil || len(fresh.ended) > 0 {
			t.Errorf("%s: %v, still there: %v, %d problems", name, err, there == nil, len(fresh.ended))
		}
		if kept, _ := os.ReadFile(path + ".bad"); string(kept) != text {
			t.Errorf("%s: not set aside", name)
		}
	}
	os.WriteFile(path, good, 0o600)
	if err := quiet().Load(path, at(-10)); err == nil || !strings.Contains(err.Error(), "clock") {
		t.Errorf("from the future: %v", err)
	}
}

// TestAnswer: filters of GET /api/v1/problems, and what is wrong with a request.
func TestAnswer(t *testing.T) {
	l := quiet()
	for _, node := range []string{"7", "8"} {
		l.Look(node, []Sign{fault(node)}, at(1))
		l.Look(node, []Sign{fault(node)}, at(2))
	}
	l.Look("7", nil, at(3))
	l.Look("7", nil, at(6))
	for query, want := range map[string]string{
		"": "8 7", "open=true": "8", "open=false": "7", "kind=worker_behind,degraded": "8 7", "kind=degraded": "", "limit=1": "8", "since=1970-01-01T00:16:43Z": "8 7", "since=1970-01-01T00:16:44Z": "8",
		"open=maybe": "must be true or false", "kind=x": "there is reports_lost", "limit=0": "1 to 1280", "since=now": "a time such as", "x=1": "kind, limit, open, since", "limit=1&limit=2": "2 times",
	} {
		w := httptest.NewRecorder()
		l.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/problems?"+query, nil))
		var a Answer
		var got []string
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		for _, p := range a.Items {
			got = append(got, p.Place[0].ID)
		}
		if w.Code == 200 && strings.Join(got, " ") != want || w.Code != 200 && (w.Code != 400 || want == "" || !strings.Contains(w.Body.String(), want)) {
			t.Errorf("%q: %d %v, want %q: %s", query, w.Code, got, want, w.Body)
		}
	}
	if a := l.answer(&Filter{limit: 9}); a.Looked.Signs["8"] != 1 || !a.Looked.At.Equal(at(6)) {
		t.Errorf("%+v", a.Looked)
	}
}

// TestWhatComesAndGoesIsOneProblem: a state that is well for less than five minutes is the same problem again, and says how
// often it was; later it is another one.
func TestWhatComesAndGoesIsOneProblem(t *testing.T) {
	l, now := quiet(), 0
	pass := func(seconds int, signs ...Sign) {
		for range seconds {
			now++
			l.Look("network", signs, at(now))
		}
	}
	for range 3 {
		pass(10, fault("7"))
		pass(60)
	}
	if a := l.answer(&Filter{limit: 9}); len(a.Items) != 1 || a.Items[0].Times != 3 || !a.Items[0].Since.Equal(at(2)) || a.Items[0].Until == nil {
		t.Errorf("%+v", a.Items)
	} else if p := a.Items[0]; p.Lasted(at(now)) != 27*time.Second || p.Again == nil || !p.Again.Equal(at(142)) { // nine seconds each time
		t.Errorf("wrong for %v, the last time since %v", p.Lasted(at(now)), p.Again)
	}
	pass(300)
	pass(10, fault("7"))
	if a := l.answer(&Filter{limit: 9}); len(a.Items) != 2 || a.Items[0].Times != 0 || a.Items[0].ID != 2 {
		t.Errorf("%+v", a.Items)
	}
}

// TestFlowsStay: a problem keeps its flows where nobody tells of them any more.
func TestFlowsStay(t *testing.T) {
	l, s := quiet(), fault("7")
	for second, flows := range [][]string{{"a"}, {"a", "b"}, nil, {}} {
		s.Evidence.Flows = flows
		l.Look("network", []Sign{s}, at(second))
	}
	if p := l.Answer().Items[0]; !slices.Equal(p.Evidence.Flows, []string{"a", "b"}) {
		t.Errorf("%q", p.Evidence.Flows)
	}
}

// TestKindTurns: what is wrong becomes another kind of the same problem, which is told, and stays one.
func TestKindTurns(t *testing.T) {
	var told []string
	l := New(func() *slog.Logger { return slog.New(slog.DiscardHandler) }, func(event string, p *Problem) { told = append(told, event+" "+string(p.Kind)+" "+string(p.Severity)) })
	now := time.Unix(1000, 0)
	look := func(kinds ...Kind) {
		now = now.Add(time.Second)
		var signs []Sign
		for _, k := range kinds {
			signs = append(signs, Sign{Kind: k, Key: "node 203", Place: At("node", "203"), Since: now})
		}
		l.Look("network", signs, now)
	}
	look(PathChanged)
	look(PathChanged)
	look(NodeGone)
	look(NodeGone)
	look()
	if want := []string{"begin path_changed warning", "turn node_gone error", "end node_gone error"}; !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
	if len(l.ended) != 1 {
		t.Errorf("%d problems", len(l.ended))
	}
}

// TestUntilItWasSeen: what is a problem for a while after it was seen last ended then, not when the while was over.
func TestUntilItWasSeen(t *testing.T) {
	l, at := New(slog.Default, nil), time.Date(2026, 11, 26, 9, 31, 44, 0, time.UTC)
	l.log = func() *slog.Logger { return slog.New(slog.DiscardHandler) }
	for s := range 40 {
		var signs []Sign
		if s < 30 {
			signs = []Sign{{Kind: LossBetween, Since: at, Seen: at.Add(2 * time.Second)}}
		}
		l.Look("network", signs, at.Add(time.Duration(s)*time.Second))
	}
	if p := l.Answer().Items; len(p) != 1 || p[0].Until == nil || !p[0].Until.Equal(at.Add(2*time.Second)) {
		t.Errorf("%+v", p)
	}
}

// TestWords: places, amounts and flows as people read them.
func TestWords(t *testing.T) {
	between := []Part{{What: "from", ID: "201", Name: "spine"}, {What: "to", ID: "301"}}
	for want, got := range map[string]string{
		"between node spine (201) and node 301": (&Problem{Place: between}).Where(),
		"node 301":                              (&Problem{Place: []Part{{What: "from", ID: "301"}, {What: "to", ID: "301"}}}).Where(),
		"300us lately, 100 x its usual 3us":     (&Problem{Kind: SlowHop, Value: new(3e5), Usual: new(3e3), Unit: "ns"}).Amount(),
		"6110 packets lost":                     (&Problem{Kind: LossBetween, Value: new(6110.0), Unit: "packets"}).Amount(),
		"flows that cross it: a b":              (&Problem{Kind: SlowHop, Evidence: Evidence{Flows: []string{"a", "b"}}}).FlowsLine(),
		"flows that left it: a and 13 more":     (&Problem{Kind: NodeGone, Value: new(14.0), Unit: "flows", Evidence: Evidence{Flows: []string{"a"}}}).FlowsLine(),
		"":                                      (&Problem{Kind: SlowHop}).FlowsLine(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWhatPacketsTellTakesNoRoom: a hundred times as many made-up places as there is room for keep nothing out that the sink
// counts itself, no error at a place that was known, and are one problem more; of what ended each kind keeps its share; the log
// has so many lines a minute.
func TestWhatPacketsTellTakesNoRoom(t *testing.T) {
	var log bytes.Buffer
	l := New(func() *slog.Logger { return slog.New(slog.NewTextHandler(&log, nil)) }, nil)
	forged := func(second int) (signs []Sign) {
		for i := range 100 * maxOpen / 120 {
			signs = append(signs, Sign{Kind: PathChanged, Place: At("node", fmt.Sprint(second, "-", i)), Since: at(second), Settle: 5 * time.Second})
			signs = append(signs, Sign{Kind: Loop, Place: At("node", fmt.Sprint(second, "-", i)), Since: at(second), Settle: 5 * time.Second})
		}
		return signs
	}
	real := Sign{Kind: NodeGone, Place: At("node", "203"), Since: at(50), Known: true}
	open := func(k Kind) *Problem {
		for _, p := range l.Answer().Items {
			if p.Kind == k && p.Until == nil {
				return p
			}
		}
		return nil
	}
	refused := uint64(0)
	for second := range 120 {
		signs := forged(second)
		if second >= 50 && second < 70 {
			signs = append(signs, real)
		}
		if second >= 50 {
			refused++
		}
		l.Look("sink", []Sign{lost("refused", refused)}, at(second))
		l.Look(OfNetwork, signs, at(second))
		if second > 51 && second < 70 && open(NodeGone) == nil || second > 51 && open(CollectorAway) == nil {
			t.Fatalf("%d s: the node is told: %v, the collector: %v", second, open(NodeGone), open(CollectorAway))
		}
	}
	if p := open(MoreProblems); p == nil || *p.Value < 100 {
		t.Errorf("what has no room: %+v", p)
	}
	if !slices.ContainsFunc(l.ended, func(p *Problem) bool { return p.Kind == NodeGone }) || len(l.ended) > maxEnded {
		t.Errorf("the node that was gone is forgotten, %d ended", len(l.ended))
	}
	if n := strings.Count(log.String(), "\n"); n > 4*(knownLines+strangeLines) || !strings.Contains(log.String(), "more began within a minute") || !strings.Contains(log.String(), "node=203") {
		t.Errorf("%d lines", n)
	}
}
