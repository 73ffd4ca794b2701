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

	"intsink/cmd/intsink/internal/status"
)

// at is so many seconds after the beginning.
func at(second int) time.Time { return time.Unix(1000+int64(second), 0) }

// fault is the sign of a state at a node.
func fault(node string) Sign {
	return Sign{Kind: WorkerBehind, Subject: "node", Place: one("node", node), What: "it is slow", Over: "it is as it was", Settle: 3 * time.Second}
}

// TestStatesHaveTheirHysteresis: one look is no problem, two are; what is well for a moment is one problem with what
// comes again; a group ends only its own.
func TestStatesHaveTheirHysteresis(t *testing.T) {
	l := newLogged()
	for second, wrong := range []bool{true, false, true, true, true, false, true, false, false, false, false, false} {
		var signs []Sign
		if wrong {
			signs = []Sign{fault("7")}
		}
		l.list.Look("network", signs, at(second))
		l.list.Look("other", nil, at(second))
	}
	l.wantTold(t, "begin worker_behind at node 7", "end worker_behind at node 7")
	p := l.list.answer(&filter{limit: 9}).Items[0]
	if !p.Since.Equal(at(3)) || !p.Until.Equal(at(7)) {
		t.Errorf("from %v to %v, not from 3 to 7 s", p.Since, p.Until)
	}
}

// TestWhatIsOnlySaidElsewhere: trials, reloads, modes and degraded parts are logged by who makes them so, and are problems
// since they are so; each is one problem.
func TestWhatIsOnlySaidElsewhere(t *testing.T) {
	l := newLogged()
	s := &status.Status{
		Mode:     &status.Mode{Mode: "strip", Since: at(-50), Why: "asked for", Switch: &status.Switch{State: "inline"}},
		Config:   &status.Config{Generation: 4, Since: at(-40), Trial: &status.Trial{Until: at(100), BackTo: 3}, LastReload: &status.Reload{Time: at(-30), Error: "a mistake"}},
		Degraded: []status.Degraded{{Part: "http", Name: "listen", Since: at(-20), Why: "taken"}},
		Ports:    []status.Port{{Name: "up", LinkDown: "no carrier"}},
	}
	l.look(0, s, nil)
	l.look(1, s, nil)
	l.want(t, "")
	l.wantTold(t, "begin less_done at mode strip", "begin config_on_trial at generation 4", "begin reload_refused at generation 4", "begin degraded at http listen", "begin link_down at port up")
	for i, p := range l.list.answer(&filter{limit: 9}).Items[:4] {
		if want := at(-50 + 10*i); !p.Since.Equal(want) || p.Evidence.Why == "" || p.Todo == "" {
			t.Errorf("%s since %v, not %v: %+v", p.Kind, p.Since, want, p)
		}
	}
	l.look(2, &status.Status{Ports: []status.Port{{Name: "up", LinkUp: true}}}, nil)
	if n := l.list.Now(); len(n) != 1 || n[LinkDown] != 1 {
		t.Errorf("now %v: only a link settles", n)
	}
}

// TestProgramReplaced: an upgrade that nobody has restarted for is told.
func TestProgramReplaced(t *testing.T) {
	l := newLogged()
	l.look(0, &status.Status{Replaced: true}, nil)
	l.look(1, &status.Status{Replaced: true}, nil)
	l.look(2, &status.Status{}, nil)
	l.want(t, `level=WARN msg="program: its file was replaced: another version is installed than runs" todo="systemctl restart intsink, when it suits you"`+
		"\n"+`level=INFO msg="program: the version runs that is installed" for=1s`)
}

// TestOneProblemForOneFault: a gateway that is away loses reports, too, and INT that cannot be looked behind is not damaged.
func TestOneProblemForOneFault(t *testing.T) {
	l, no := newLogged(), false
	for second := range uint64(5) {
		l.look(int(second), &status.Status{
			Collectors: []status.Collector{{Name: "c", GatewayKnown: &no, Dropped: map[string]uint64{"unresolved": second}}},
			Links:      []status.Link{{Name: "edge", Malformed: map[string]uint64{"too_deep": second, "fragment": second, "stack": second}}},
			WaySkew:    second,
		}, nil)
	}
	l.wantTold(t, "begin collector_away at collector c", "begin int_damaged at link edge, reason stack", "begin clock_wrong at ")
}

// TestBounds: however much is wrong, so much is kept, and the rest is counted.
func TestBounds(t *testing.T) {
	l := newLogged()
	for round := range 4 {
		for second := range 3 {
			var signs []Sign
			for i := range maxOpen + 10 {
				signs = append(signs, fault(fmt.Sprint(round, i)))
			}
			l.list.Look("network", signs, at(10*round+second))
		}
	}
	l.list.Look("network", nil, at(50))
	l.list.Look("network", nil, at(60))
	a := l.list.answer(&filter{limit: mostItems})
	if a.Totals.Ended != maxEnded || a.Totals.Open != 0 || a.Totals.Left < 10 || len(l.list.trouble) != 0 {
		t.Errorf("%+v, %d signs kept", a.Totals, len(l.list.trouble))
	}
	l.list.Look("network", nil, at(60).Add(keepFor+time.Second))
	if n := l.list.answer(&filter{limit: mostItems}).Totals.Ended; n != 0 {
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
	before, after := newLogged(), newLogged()
	lose := func(l *logged, second int, n uint64) {
		l.look(second, &status.Status{Collectors: []status.Collector{{Name: "c", Dropped: map[string]uint64{"error": n}}}}, nil)
	}
	lose(before, 0, 5)
	lose(before, 1, 9)
	before.list.Look("network", []Sign{fault("7")}, at(1))
	before.list.Look("network", []Sign{fault("7")}, at(2))
	if err := before.list.Save(path, at(3)); err != nil {
		t.Fatal(err)
	}
	after.list.began = at(10)
	if err := after.list.Load(path, at(10)); err != nil {
		t.Fatal(err)
	}
	lose(after, 11, 0)
	lose(after, 12, 3)
	a := after.list.answer(&filter{limit: 9})
	if len(a.Items) != 2 || a.Items[0].ID != 1 || *a.Items[0].Value != 7 || !a.Items[0].Since.Equal(at(1)) || a.Items[0].Ended != "" {
		t.Errorf("the loss: %+v", a.Items[0])
	}
	if p := a.Items[1]; p.ID != 2 || p.Ended != endedByStop || !p.Until.Equal(at(3)) {
		t.Errorf("the state: %+v", p)
	}
	lose(after, 13, 4)
	if p := after.list.answer(&filter{limit: 1}).Items[0]; *p.Value != 8 {
		t.Errorf("%v lost, not 4 and 4", *p.Value)
	}
}

// TestFilesThatCannotBeUsed: none keeps the sink from starting; each is set aside, but what ended later than now.
func TestFilesThatCannotBeUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), fileName)
	l := newLogged()
	l.list.Look("network", []Sign{fault("7")}, at(1))
	l.list.Look("network", []Sign{fault("7")}, at(2))
	if err := l.list.Save(path, at(3)); err != nil {
		t.Fatal(err)
	}
	good, _ := os.ReadFile(path)
	for name, text := range map[string]string{
		"empty": "", "torn": string(good[:len(good)-5]), "of another version": strings.Replace(string(good), "problems 1", "problems 9", 1),
		"another file": strings.Replace(string(good), "problems 1", "usual 1", 1), "of another machine": strings.Replace(string(good), "machine ", "machine 0", 1),
	} {
		os.WriteFile(path, []byte(text), 0o600)
		fresh := newLogged()
		err := fresh.list.Load(path, at(10))
		if _, there := os.Stat(path); err == nil || there == nil || len(fresh.list.ended) > 0 {
			t.Errorf("%s: %v, still there: %v, %d problems", name, err, there == nil, len(fresh.list.ended))
		}
		if kept, _ := os.ReadFile(path + ".bad"); string(kept) != text {
			t.Errorf("%s: not set aside", name)
		}
	}
	os.WriteFile(path, good, 0o600)
	if err := newLogged().list.Load(path, at(-10)); err == nil || !strings.Contains(err.Error(), "clock") {
		t.Errorf("from the future: %v", err)
	}
}

// TestAnswer: filters of GET /api/v1/problems, and what is wrong with a request.
func TestAnswer(t *testing.T) {
	l := newLogged()
	for _, node := range []string{"7", "8"} {
		l.list.Look(node, []Sign{fault(node)}, at(1))
		l.list.Look(node, []Sign{fault(node)}, at(2))
	}
	l.list.Look("7", nil, at(3))
	l.list.Look("7", nil, at(6))
	for query, want := range map[string]string{
		"": "8 7", "open=true": "8", "open=false": "7", "kind=worker_behind,degraded": "8 7", "kind=degraded": "", "limit=1": "8", "since=1970-01-01T00:16:43Z": "8 7", "since=1970-01-01T00:16:44Z": "8",
		"open=maybe": "must be true or false", "kind=x": "there is reports_lost", "limit=0": "1 to 1280", "since=now": "a time such as", "x=1": "kind, limit, open, since", "limit=1&limit=2": "2 times",
	} {
		w := httptest.NewRecorder()
		l.list.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/problems?"+query, nil))
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
	if a := l.list.answer(&filter{limit: 9}); a.Looked.Signs["8"] != 1 || !a.Looked.At.Equal(at(6)) {
		t.Errorf("%+v", a.Looked)
	}
}

func (l *logged) wantTold(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(l.told, want) {
		t.Errorf("told %q, want %q", l.told, want)
	}
}

// TestWhatComesAndGoesIsOneProblem: a state that is well for less than five minutes is the same problem again, and says how
// often it was; later it is another one.
func TestWhatComesAndGoesIsOneProblem(t *testing.T) {
	l, now := newLogged(), 0
	pass := func(seconds int, signs ...Sign) {
		for range seconds {
			now++
			l.list.Look("network", signs, at(now))
		}
	}
	for range 3 {
		pass(10, fault("7"))
		pass(60)
	}
	if a := l.list.answer(&filter{limit: 9}); len(a.Items) != 1 || a.Items[0].Times != 3 || !a.Items[0].Since.Equal(at(2)) || a.Items[0].Until == nil {
		t.Errorf("%+v", a.Items)
	}
	pass(300)
	pass(10, fault("7"))
	if a := l.list.answer(&filter{limit: 9}); len(a.Items) != 2 || a.Items[0].Times != 0 || a.Items[0].ID != 2 {
		t.Errorf("%+v", a.Items)
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
			signs = append(signs, Sign{Kind: k, Key: "node 203", Place: one("node", "203"), Since: now})
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
			signs = append(signs, Sign{Kind: PathChanged, Place: one("node", fmt.Sprint(second, "-", i)), Since: at(second), Settle: 5 * time.Second})
			signs = append(signs, Sign{Kind: Loop, Place: one("node", fmt.Sprint(second, "-", i)), Since: at(second), Settle: 5 * time.Second})
		}
		return signs
	}
	real := Sign{Kind: NodeGone, Place: one("node", "203"), Since: at(50), Known: true}
	open := func(k Kind) *Problem {
		for _, p := range l.Answer().Items {
			if p.Kind == k && p.Until == nil {
				return p
			}
		}
		return nil
	}
	lost := uint64(0)
	for second := range 120 {
		signs := forged(second)
		if second >= 50 && second < 70 {
			signs = append(signs, real)
		}
		if second >= 50 {
			lost++
		}
		l.Look("sink", OfStatus(&status.Status{Collectors: []status.Collector{{Name: "c", Dropped: map[string]uint64{"refused": lost}}}}, nil), at(second))
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
