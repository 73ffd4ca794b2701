// OfTheMachine: what of a configuration is the machine's, and no matter of who has a token.

package control

import (
	"fmt"
	"slices"

	"intsink/conf"
)

// machineBlocks are the blocks of a configuration that name files, sockets, addresses to listen on, commands,
// devices and memory, or say who may do what and what is logged. policyBlocks are all others.
var (
	machineBlocks = []string{"dpdk", "port", "recorder", "bypass", "http", "notify", "log", "names"}
	policyBlocks  = []string{"node", "link", "tap", "int", "node_model", "flows", "watch", "events", "report", "collector", "overload"}
)

// OfTheMachine returns an error if changes have one that is made on the machine alone, with the sink's own file or
// on its unix socket.
func OfTheMachine(changes []conf.Change) error {
	for _, c := range changes {
		if !slices.Contains(policyBlocks, c.Block()) {
			return fmt.Errorf("%s changes with the sink's own file, or over its unix socket: who has a token changes neither %q nor the other blocks of the machine %q", c.Path, c.Block(), machineBlocks)
		}
	}
	return nil
}
