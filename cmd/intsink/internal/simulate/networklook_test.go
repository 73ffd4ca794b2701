package simulate

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
)

// TestNetworkLookIFA: of a capture with IFA, what its hops tell of is found, too.
func TestNetworkLookIFA(t *testing.T) {
	text, err := os.ReadFile("../../../../deploy/playground/playground.hcl")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlayed(t, strings.Replace(string(text), "  udp_port = 5000\n", "  ifa {\n    protocol = 253\n    copies   = \"drop\"\n  }\n", 1))
	p.network.IFA = true
	look := p.Watch(p.config)
	p.play(90 * time.Second)
	for _, word := range []string{"slow", "fill", "move"} {
		p.do(word)
		p.play(20 * time.Second)
		p.do("calm")
		p.play(100 * time.Second)
	}
	p.Close()
	look.End()
	found := map[string]bool{}
	for _, x := range look.Problems().Items {
		found[string(x.Kind)+" "+x.Where()] = true
		if x.Kind == problem.QueueCongested && (len(x.Evidence.Culprits) == 0 || !strings.Contains(x.Evidence.Culprits[0].Flow, ":40055-")) {
			t.Errorf("the queue is filled by %+v", x.Evidence.Culprits)
		}
	}
	for _, want := range []string{"slow_hop node 202", "queue_congested node 302, egress 12, queue 2", "node_gone node 203"} {
		if !found[want] {
			t.Errorf("%s is not found", want)
		}
		delete(found, want)
	}
	if len(found) > 0 {
		t.Errorf("and %v", found)
	}
}

// TestNetworkLook: of a capture with faults one after the other, each is one problem, of its kind, at its place and time, with
// the flow that did it; one that lasts to the end has no end.
func TestNetworkLook(t *testing.T) {
	text, err := os.ReadFile("../../../../deploy/playground/playground.hcl")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlayed(t, string(text))
	look := p.Watch(p.config)
	p.play(90 * time.Second)
	begins := map[string]time.Time{}
	for _, word := range []string{"slow", "fill", "move", "lose"} {
		begins[word] = p.now
		p.do(word)
		p.play(20 * time.Second)
		if p.do("calm"); word != "lose" {
			p.play(100 * time.Second)
		}
	}
	p.Close()
	look.End()
	found := map[problem.Kind]*problem.Problem{}
	for _, x := range look.Problems().Items {
		if found[x.Kind] != nil {
			t.Errorf("%s twice: %+v", x.Kind, x)
		}
		found[x.Kind] = x
	}
	for word, want := range map[string]struct {
		kind  problem.Kind
		where string
		lasts bool
	}{
		"slow": {problem.SlowHop, "node 202", false},
		"fill": {problem.QueueCongested, "node 302, egress 12, queue 2", false},
		"move": {problem.NodeGone, "node 203", false},
		"lose": {problem.LossBetween, "", true},
	} {
		x := found[want.kind]
		if x == nil {
			t.Errorf("%s: %s is not found", word, want.kind)
			continue
		}
		delete(found, want.kind)
		if late := x.Since.Sub(begins[word]); !strings.HasPrefix(x.Where(), want.where) || late < -2*time.Second || late > 2*time.Second || (x.Until == nil) != want.lasts {
			t.Errorf("%s: %s at %s, %v later, until %v", word, x.Kind, x.Where(), late, x.Until)
		}
		if x.Kind == problem.LossBetween && (*x.Value < 500 || x.Unit != "packets" || !strings.Contains(x.Evidence.Why, "% of the packets") || x.Where() != "between node 201 and node 301") {
			t.Errorf("%s %s, %q", x.Where(), x.Amount(), x.Evidence.Why)
		}
		if x.Kind == problem.QueueCongested && (len(x.Evidence.Culprits) == 0 || !strings.Contains(x.Evidence.Culprits[0].Flow, ":40055-")) {
			t.Errorf("the queue is filled by %+v", x.Evidence.Culprits)
		}
	}
	if len(found) > 0 {
		t.Errorf("and %v", fmt.Sprint(found))
	}
}
