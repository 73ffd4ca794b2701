package inforce

import (
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/conf"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestModeMakesTheRules: without watches below full, with them again in full.
func TestModeMakesTheRules(t *testing.T) {
	c, d := conf.Parse("test.hcl", []byte("port \"network\" { device = \"net_null0\" }\nport \"host\" { device = \"net_null1\" }\nlink \"edge\" {\n network = \"network\"\n host = \"host\"\n}\nint { udp_port = 5000 }\nwatch \"all\" {}\ncollector \"primary\" { address = \"192.0.2.10:8555\" }\n"))
	if c == nil {
		t.Fatal(d.Err())
	}
	for m := range failopen.NumModes {
		s := New(c, "")
		s.Begin(m)
		r := s.Rules(c)
		if watched := len(r.Watches) > 0; watched != (m == failopen.Full) || r.Suspended == watched {
			t.Errorf("%v: %d watches, suspended %v", m, len(r.Watches), r.Suspended)
		}
	}
}

// TestReloadKeepsAddresses: a name that was resolved at the start is not looked up again: the name server
// may be away, or return addresses in turns.
func TestReloadKeepsAddresses(t *testing.T) {
	const text = `
node { id = 1 }
dpdk {}
port "a" { device = "net_null0" }
port "b" { device = "net_null1" }
link "edge" {
  network = "a"
  host    = "b"
}
int { udp_port = 5000 }
collector "named" { address = "collector.invalid:6000" }
watch "all" {}
`
	s := &Sink{path: filepath.Join(t.TempDir(), "c.hcl")}
	if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	old, diags := conf.LoadWithoutHosts(s.path)
	if old == nil {
		t.Fatal(diags.Err())
	}
	resolved := netip.MustParseAddrPort("192.0.2.7:6000")
	old.Collectors[0].Address = resolved
	for name, q := range map[string]*control.Request{"its own file": {}, "a request": {Name: "c.hcl", Files: []control.File{{Name: "c.hcl", Text: text}}}} {
		c, diags := s.parse(q, old)
		if c == nil {
			t.Errorf("%s: %v", name, diags.Err())
		} else if c.Collectors[0].Address != resolved {
			t.Errorf("%s: %v, want %v", name, c.Collectors[0].Address, resolved)
		}
	}
}

// TestSettle: a stop waits for what is being put into force, and for no reload that reads files.
func TestSettle(t *testing.T) {
	s := New(&conf.Config{}, "")
	s.inReload.Lock()
	if !s.Settle(time.Minute) {
		t.Error("waits for a reload that reads files")
	}
	defer s.Hold()()
	if s.Settle(time.Millisecond) {
		t.Error("does not wait for what is being put into force")
	}
}
