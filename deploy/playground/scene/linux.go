// Linux: the packets of the network whose nodes are routers of Linux.

package scene

import (
	"fmt"
	"net/netip"

	"intsink/engine/wire/intgen"
)

// room is for the three nodes of a way, in words, of five each.
const room = 15

// onLinux makes f a flow of hosts behind routers: they know its way by its destination, and its first one is where it is sent to.
func (f *flow) onLinux() {
	f.DstMAC = [6]byte{2, 0, 0, 0, 2, byte(f.from - 100)}
	f.Src = netip.MustParseAddr(fmt.Sprintf("2001:db8:%d::%d", f.from, f.in))
	f.Dst = netip.MustParseAddr(fmt.Sprintf("2001:db8:%d:%d:%d::1", f.to, f.spine, f.out))
}

// toLinux is a packet of f that no router has written into yet, with its number.
func (f *flow) toLinux(size int) ([]byte, error) {
	return intgen.ToLinux(room, f.sent).Insert(f.Frame(size, f.sent), nil)
}

// OnLinux has routers be the network: the packets of n are theirs to forward, and do makes of them what a word says.
func (n *Network) OnLinux(do func(word string) error) {
	n.routers = do
	for i := range n.flows {
		n.flows[i].onLinux()
	}
}
