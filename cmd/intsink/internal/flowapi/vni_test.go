package flowapi

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"intsink/engine/aside/inspect"
)

// TestFlowsSayTheirNetwork: a flow inside of a tunnel has the tunnel's VNI, in its id and as a field; others have none.
func TestFlowsSayTheirNetwork(t *testing.T) {
	var f inspect.Flow
	f.Key.SetAddrs(netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.1.0.1"))
	f.Key.SetPorts(4, 17, 1024, 8000)
	for _, want := range []string{`{"id":"udp:10.0.0.1:1024-10.1.0.1:8000",`, `{"id":"udp:10.0.0.1:1024-10.1.0.1:8000@vni5000",`} {
		text, err := json.Marshal(newFlowItem(0, &f, nil, nil))
		tunnelled := strings.Contains(want, "@")
		if err != nil || !strings.HasPrefix(string(text), want) || strings.Contains(string(text), `"vni":5000`) != tunnelled || !strings.Contains(string(text), `"destination_port":8000`) {
			t.Errorf("%s, %v", text, err)
		}
		f.Key.SetVNI(5000)
	}
}
