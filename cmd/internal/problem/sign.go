// Sign: one thing that can be wrong, as a look finds it.

package problem

import (
	"slices"
	"time"
)

// Sign is a counter that should not grow, or a state that should not be, as it is found now.
type Sign struct {
	Kind     Kind
	Key      string // of a sign whose place or kind changes while it is one problem; "": kind and place
	Place    []Part
	Subject  string // that the log's lines begin with
	What     string // is wrong; with what Subject does
	Over     string // what the log says when it is over
	Todo     string
	Evidence Evidence
	Known    bool // its place had been known for long, so nobody makes it up now

	Count *Count // nil: a state, which is wrong. One that is well is not listed

	// Of a state:
	Value, Usual *float64
	Unit         string
	Since        time.Time     // zero: since it was seen in two looks in a row
	Seen         time.Time     // when what shows it was seen last; zero: at this look
	Times        int           // how often it was so since, where that can be told apart
	Settle       time.Duration // how long it has to be well before the problem ends
	Told         bool          // whoever found it logs it
}

// Count is a counter that should not grow.
type Count struct {
	Value uint64
	Name  string // of the log's attribute with the growth; "": lost
	Unit  string

	// FromZero: it began at 0 when what it is of was made, which may be later than the last look.
	FromZero bool

	// Through counts what came through where this was lost. While it rests, nothing shows that the
	// loss is over: nobody may have tried. nil: calm is enough.
	Through *uint64
}

// key is the same for all signs of one problem.
func (s *Sign) key() string {
	if s.Key != "" {
		return s.Key
	}
	return string(s.Kind) + " at " + where(s.Place)
}

// problem is one that begins now.
func (s *Sign) problem(now time.Time) Problem {
	return Problem{
		Kind: s.Kind, Severity: s.Kind.Severity(), Place: append([]Part{}, s.Place...), What: s.What, Since: now.UTC(), Todo: s.Todo, Evidence: s.Evidence.bounded(),
		Value: s.Value, Usual: s.Usual, Unit: s.Unit,
	}
}

// Settle is how long most states have to be well before their problem ends: what flaps is one problem.
const Settle = 5 * time.Second

// At is a place: what, and which of these, for each step.
func At(steps ...string) []Part { return And(nil, steps...) }

// And is the place that these steps lead to from another.
func And(place []Part, steps ...string) []Part {
	place = slices.Clip(place)
	for ; len(steps) > 1; steps = steps[2:] {
		place = append(place, Part{What: steps[0], ID: steps[1]})
	}
	return place
}

// Bounds of what one problem holds: evidence comes from the network.
const (
	MostFlows = 8
	maxShares = 5
	maxText   = 240 // bytes
)

// bounded is e with no more in it than a problem may hold.
func (e Evidence) bounded() Evidence {
	e.Flows = e.Flows[:min(len(e.Flows), MostFlows)]
	e.Culprits, e.Victims = e.Culprits[:min(len(e.Culprits), maxShares)], e.Victims[:min(len(e.Victims), maxShares)]
	e.Hosts, e.Services, e.Now = e.Hosts[:min(len(e.Hosts), maxShares)], e.Services[:min(len(e.Services), maxShares)], e.Now[:min(len(e.Now), maxShares)]
	for _, text := range []*string{&e.Why, &e.From, &e.To} {
		if len(*text) > maxText {
			*text = (*text)[:maxText] + "..."
		}
	}
	return e
}

// attrs are the place and the reason as attributes of the log.
func attrs(place []Part) (all []any) {
	for _, p := range place {
		all = append(all, p.What, p.ID)
		if p.Name != "" {
			all = append(all, p.What+"_name", p.Name)
		}
	}
	return all
}
