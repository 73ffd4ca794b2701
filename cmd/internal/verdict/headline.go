// The first line of an incident: what is wrong now, then what was, each with its place.

package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"intsink/cmd/internal/problem"
)

// Finding is something that is wrong, or was in the time.
type Finding struct {
	Verdict string
	At      string
	Over    bool
	Times   float64 // as long as usual; 0: not known
}

// Sort puts what is wrong now first, then what is worse.
func Sort(all []Finding) {
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Or(a.rank()-b.rank(), cmp.Compare(b.Times, a.Times)) })
}

// graver are the verdicts of findings, the worst first.
var graver = []string{string(problem.NodeGone), string(problem.FlowsSilent), string(problem.LossBetween), string(problem.Loop), NetworkSlow, string(problem.PathChanged), string(problem.InterfaceBusy)}

// rank is lower for what is wrong now, then for what is worse.
func (f *Finding) rank() int {
	n := slices.Index(graver, f.Verdict)
	if f.Over {
		n += len(graver)
	}
	return n
}

// words say a verdict of a place: of now, and of before.
var words = map[string][2]string{
	string(problem.FlowsSilent): {"what passes %s does not arrive", "what passed %s did not arrive"},
	string(problem.NodeGone):    {"%s is gone: no packet comes through it", "%s was gone"},
	string(problem.LossBetween): {"packets are lost %s", "packets were lost %s"},
	string(problem.Loop):        {"packets loop %s", "packets looped %s"},
	NetworkSlow:                 {"network slow %s", "network was slow %s"},
	string(problem.PathChanged): {"flows leave %s for another way", ""},

	string(problem.InterfaceBusy): {"%s sends nearly all it can", ""},
}

// mostPlaces is how many places a headline names.
const mostPlaces = 3

// Headline is what all findings say, in their order: those of one kind with one verb.
func Headline(all []Finding) string {
	var once []Finding
	for _, f := range all {
		if !slices.ContainsFunc(once, func(o Finding) bool { return o.At == f.At && o.Verdict == f.Verdict }) {
			once = append(once, f)
		}
	}
	shown := once[:min(len(once), mostPlaces)]
	var parts []string
	for len(shown) > 0 {
		first, n := shown[0], 0
		var places []string
		for n < len(shown) && shown[n].Verdict == first.Verdict && shown[n].Over == first.Over {
			places = append(places, first.place(shown[n].At))
			n++
		}
		of, text := words[first.Verdict], strings.Join(places, " and ")
		tense := of[0]
		if first.Over {
			tense = of[1]
		}
		if first.Verdict == string(problem.NodeGone) && n > 1 {
			tense = strings.NewReplacer(" is ", " are ", " was ", " were ", " it", " them").Replace(tense)
		}
		parts, shown = append(parts, fmt.Sprintf(tense, text)), shown[n:]
	}
	if more := len(once) - mostPlaces; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// place is a place as the words of the finding want it.
func (f *Finding) place(at string) string {
	stands := strings.HasPrefix(at, "between ") || strings.HasPrefix(at, "from ")
	if stands || f.Verdict == string(problem.NodeGone) || f.Verdict == string(problem.FlowsSilent) || f.Verdict == string(problem.PathChanged) || f.Verdict == string(problem.InterfaceBusy) {
		return at
	}
	return "at " + at
}

// Place is that of a problem as an incident calls it: a queue, a node, or a way between two.
func Place(p *problem.Problem) string {
	if len(p.Place) == 0 {
		return "nearly all nodes"
	}
	switch last := p.Place[len(p.Place)-1]; {
	case last.What == "queue":
		return fmt.Sprintf("queue %s of node %s", last.ID, p.Place[0].ID)
	case p.Place[0].What == "node":
		return "node " + p.Place[0].ID
	}
	return p.Where()
}
