// Chooses between the C loops and their Go twins, by processor and build tag; runs the twins as one
// burst.

package fast

// runGo is run with the twins.
func (p *Path) runGo(s step) {
	switch s {
	case receive:
		receiveGo(p.State)
	case match:
		matchGo(p.State)
	case lookup:
		lookupGo(p.State)
	case pass:
		passGo(p.State)
	}
}

// step is one of the loops over a burst.
type step uint8

const (
	receive step = iota
	match
	lookup
	pass
)
