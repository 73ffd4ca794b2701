// The first line of an incident: what is wrong now, then what was, each with its place.

package flowapi

import (
	"fmt"
	"slices"
	"strings"

	"intsink/cmd/internal/problem"
)

// finding is something that is wrong, or was in the time.
type finding struct {
	verdict string
	at      string
	over    bool
	times   float64 // as long as usual; 0: not known
}

// graver are the verdicts of findings, the worst first.
var graver = []string{string(problem.NodeGone), string(problem.FlowsSilent), string(problem.LossBetween), string(problem.Loop), NetworkSlow, string(problem.PathChanged)}

// rank is lower for what is wrong now, then for what is worse.
func (f *finding) rank() int {
	n := slices.Index(graver, f.verdict)
	if f.over {
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
}

// mostPlaces is how many places a headline names.
const mostPlaces = 3

// headline is what all findings say, in their order: those of one kind with one verb.
func headline(all []finding) string {
	var once []finding
	for _, f := range all {
		if !slices.ContainsFunc(once, func(o finding) bool { return o.at == f.at && o.verdict == f.verdict }) {
			once = append(once, f)
		}
	}
	shown := once[:min(len(once), mostPlaces)]
	var parts []string
	for len(shown) > 0 {
		first, n := shown[0], 0
		var places []string
		for n < len(shown) && shown[n].verdict == first.verdict && shown[n].over == first.over {
			places = append(places, first.place(shown[n].at))
			n++
		}
		of, text := words[first.verdict], strings.Join(places, " and ")
		tense := of[0]
		if first.over {
			tense = of[1]
		}
		if first.verdict == string(problem.NodeGone) && n > 1 {
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
func (f *finding) place(at string) string {
	stands := strings.HasPrefix(at, "between ") || strings.HasPrefix(at, "from ")
	if stands || f.verdict == string(problem.NodeGone) || f.verdict == string(problem.FlowsSilent) || f.verdict == string(problem.PathChanged) {
		return at
	}
	return "at " + at
}
