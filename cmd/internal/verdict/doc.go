// Package verdict is what an incident says at first: one of a few verdicts, and a line with what is wrong and where. A sink makes it of what
// it knows itself, and the page over all sinks of what a store has.
package verdict

// Verdicts. Others are kinds of problems: node_gone, loss_between, loop, path_changed, interface_busy.
const (
	NetworkSlow   = "network_slow"
	NetworkSlower = "network_slower" // than usual, but below the floor of what is slow
	NetworkNormal = "network_normal"
	CannotSay     = "cannot_say"
)
