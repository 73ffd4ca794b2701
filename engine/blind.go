// blind: which flows the worker did not watch for a time, because their rules were suspended.

package engine

// blind remembers until when the worker did not see packets of its flows, by the generation
// of its rules.
type blind struct {
	now, ever bool
	until     uint16 // the first generation that saw packets again
}

// adopt takes rules of a generation over, which are suspended or not; true: they end a time
// without sight.
func (x *blind) adopt(suspended bool, generation uint16) (ends bool) {
	if ends = x.now && !suspended; ends {
		x.ever, x.until = true, generation
	}
	x.now = suspended
	return ends
}

// missed tells whether a flow that was last matched in that generation may have missed
// packets since.
func (x *blind) missed(generation uint16) bool {
	return x.ever && int16(generation-x.until) < 0
}
