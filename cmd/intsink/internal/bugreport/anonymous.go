// anonymous: flows in a bug report have numbers in place of addresses and ports: the same one in every part.

package bugreport

import (
	"fmt"
	"regexp"
)

// flowID is how the sink names a flow, in its status, its log and its problems.
var flowID = regexp.MustCompile(`\b[a-z0-9]+:` + end + `-` + end + `(@vni[0-9]+)?`)

// end is an address, and a port where the protocol has ports.
const end = `(?:\[[0-9a-fA-F:.%]+\]|[0-9]{1,3}(?:\.[0-9]{1,3}){3})(?::[0-9]{1,5})?`

// anonymous gives flows numbers in the order in which it sees them.
type anonymous map[string]string

func (a anonymous) text(b []byte) []byte {
	return flowID.ReplaceAllFunc(b, func(id []byte) []byte {
		if a[string(id)] == "" {
			a[string(id)] = fmt.Sprintf("flow-%d", len(a)+1)
		}
		return []byte(a[string(id)])
	})
}
