package conf

import (
	"errors"
	"net/netip"
	"testing"
)

// TestReloadKeepsResolvedNames: a name server that is away, or gives another address,
// changes no collector that is in force; a new name is asked for.
func TestReloadKeepsResolvedNames(t *testing.T) {
	const named = "collector \"a\" { address = \"collector.example:8555\" }\n"
	old, d := parse("test.hcl", []byte(base+named), fakeMachine())
	if old == nil {
		t.Fatal(d.Err())
	}
	m := fakeMachine()
	asked := 0
	m.lookup = old.known(func(host string) ([]netip.Addr, error) {
		asked++
		return nil, errors.New("the name server is away")
	})
	again, d := parse("test.hcl", []byte(base+named), m)
	if again == nil || asked != 0 {
		t.Fatalf("asked %d times: %v", asked, d.Err())
	}
	if got, want := again.Collectors[0].Address, old.Collectors[0].Address; got != want {
		t.Errorf("address %v, want %v", got, want)
	}
	if c, _ := parse("test.hcl", []byte(base+named+"collector \"b\" { address = \"new.example:8555\" }\n"), m); c != nil || asked != 1 {
		t.Errorf("a new name: asked %d times", asked)
	}
}
