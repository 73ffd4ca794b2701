package conf

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamesAreLookedUpLater: what runs asks no name server when it reads the file; an address that is found later, or
// another one, moves the collector, and one that is still among those found stays.
func TestNamesAreLookedUpLater(t *testing.T) {
	m := fakeMachine()
	m.known, m.lookup = (&Config{}).known, nil
	c, d := parse("test.hcl", []byte(base+"collector \"a\" { address = \"collector.example:8555\" }\n"), m)
	if c == nil || c.Collectors[1].Address.IsValid() || c.Collectors[1].Endpoint() != "collector.example:8555" {
		t.Fatalf("%v: %+v", d.Err(), c)
	}
	find := func(c *Config, want string, moves int, addresses ...string) *Config {
		t.Helper()
		var all []netip.Addr
		for _, a := range addresses {
			all = append(all, netip.MustParseAddr(a))
		}
		next, moved := c.WithAddresses(map[string][]netip.Addr{"collector.example": all})
		if got := next.Collectors[1].Endpoint(); got != want || len(moved) != moves {
			t.Errorf("%s, moved %v, want %s", got, moved, want)
		}
		return next
	}
	find(c, "collector.example:8555", 0)
	find(c, "collector.example:8555", 0, "0.0.0.0")
	c = find(c, "192.0.2.1:8555", 1, "192.0.2.1", "192.0.2.2")
	c = find(c, "192.0.2.1:8555", 0, "192.0.2.2", "192.0.2.1")
	c = find(c, "192.0.2.2:8555", 1, "192.0.2.2")
	find(c, "192.0.2.2:8555", 0)
}

// TestReloadKeepsResolvedNames: a name server that is away, or gives another address,
// changes no collector that is in force; a new name is asked for, and is not there.
func TestReloadKeepsResolvedNames(t *testing.T) {
	const named = "collector \"a\" { address = \"collector.example:8555\" }\n"
	old, d := parse("test.hcl", []byte(base+named), fakeMachine())
	if old == nil {
		t.Fatal(d.Err())
	}
	m := fakeMachine()
	asked := 0
	m.known, m.lookup = old.known, func(string) ([]netip.Addr, error) {
		asked++
		return nil, errors.New("the name server is away")
	}
	again, d := parse("test.hcl", []byte(base+named), m)
	if again == nil || asked != 0 {
		t.Fatalf("asked %d times: %v", asked, d.Err())
	}
	if got, want := again.Collectors[0].Address, old.Collectors[0].Address; got != want {
		t.Errorf("address %v, want %v", got, want)
	}
	if c, _ := parse("test.hcl", []byte(base+named+"collector \"b\" { address = \"new.example:8555\" }\n"), m); c == nil || c.Collectors[2].Address.IsValid() || asked != 1 {
		t.Errorf("a new name: asked %d times", asked)
	}
}

// TestReloadKeepsBothFamilies: two collectors of one name, one by IPv4 and one by IPv6, keep an address each; a source
// of the other family asks again.
func TestReloadKeepsBothFamilies(t *testing.T) {
	const four, six = "collector \"four\" {\n  address = \"collector.example:8555\"\n  source = \"10.0.0.1\"\n}\n", "collector \"six\" {\n  address = \"collector.example:8555\"\n  source = \"2001:db8::1\"\n}\n"
	for _, before := range []string{four + six, four, six} {
		old, d := parse("test.hcl", []byte(base+before), fakeMachine())
		if old == nil {
			t.Fatal(d.Err())
		}
		m := fakeMachine()
		m.known = old.known
		again, d := parse("test.hcl", []byte(base+four+six), m)
		if again == nil {
			t.Fatal(d.Err())
		}
		if a, b := again.Collectors[1].Address.String(), again.Collectors[2].Address.String(); a != "198.51.100.7:8555" || b != "[2001:db8::7]:8555" {
			t.Errorf("addresses %s and %s", a, b)
		}
	}
}

// TestSHA256 is that of the file, or of the files of a folder one behind the other, valid or
// not.
func TestSHA256(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b.hcl": "y", "a.hcl": "x {{"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{dir: "x {{y", filepath.Join(dir, "a.hcl"): "x {{"} {
		if got, want := SHA256(path), fmt.Sprintf("%x", sha256.Sum256([]byte(text))); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got := SHA256(filepath.Join(dir, "c.hcl")); got != "" {
		t.Errorf("of nothing: %s", got)
	}
}

// loadNamed is LoadWithoutHosts of a link with INT on a port, and more.
func loadNamed(t *testing.T, more string) (*Config, *Diagnostics) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "intsink.hcl")
	text := "port \"n\" { device = \"net_null0\" }\nport \"h\" { device = \"net_null1\" }\nlink \"e\" {\n  network = \"n\"\n  host = \"h\"\n}\n" +
		"int { udp_port = 7000 }\nwatch \"all\" {}\ncollector \"a\" { address = \"nobody.invalid:8555\" }\n" + more
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return LoadWithoutHosts(path)
}

// TestLoadWithoutHosts: no name server is asked, and nothing is said of addresses that are not known.
func TestLoadWithoutHosts(t *testing.T) {
	c, d := loadNamed(t, "collector \"b\" { address = \"none.invalid:8555\" }\n"+
		"collector \"c\" {\n  address = \"nobody.invalid:8556\"\n  port = \"h\"\n  source = \"192.0.2.1\"\n}\n")
	if c == nil || len(d.Warnings) > 0 {
		t.Fatal(d.Err(), d.Warnings)
	}
	for _, x := range c.Collectors {
		if x.Address.IsValid() || x.Host == "" || *c.INT.UDPPort != 7000 {
			t.Errorf("%s: %s of %q", x.Name, x.Address, x.Host)
		}
	}
}

// TestProfileWithoutHosts: the room of a report is reckoned with the shorter headers where no address is known: the longest
// fragment of the profile fits.
func TestProfileWithoutHosts(t *testing.T) {
	if c, d := loadNamed(t, "report {\n  profile = \"transparent-security\"\n  fragment = 136\n}\n"); c == nil {
		t.Error(d.Err())
	}
}

// TestProfileOfOtherCollectors: who wants no metadata has another collector than the project's own, and is
// not warned of what that one cannot read.
func TestProfileOfOtherCollectors(t *testing.T) {
	for metadata, want := range map[string]int{"": 2, "\n  metadata = []": 0, "\n  metadata = [\"interfaces\"]": 1} {
		src := base + "watch \"all\" {}\nreport {\n  profile = \"transparent-security\"" + metadata + "\n}\n"
		if c, d := parse("test.hcl", []byte(src), fakeMachine()); c == nil || len(d.Warnings) != want {
			t.Errorf("%q: %v, warnings %v, want %d", metadata, d.Err(), diagText(d.Warnings), want)
		}
	}
}

// TestRemoteReadsNoFiles: who sends a configuration over TCP chooses no file that is read; those in force are.
func TestRemoteReadsNoFiles(t *testing.T) {
	b, err := os.ReadFile("examples/minimal.hcl")
	if err != nil {
		t.Fatal(err)
	}
	base := string(b)
	secret := filepath.Join(t.TempDir(), "shadow")
	if err := os.WriteFile(secret, []byte("root:$6$secret:1:0:9:7:::\n10.0.0.9 own-host\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	old, d := Parse("old.hcl", []byte(base+fmt.Sprintf("\nnames { hosts = %q }\n", secret)))
	if old == nil || len(old.Names.HostNames) == 0 {
		t.Fatalf("%+v", d)
	}
	for _, block := range []string{"file = %q", "hosts = %q", "file = %q\n hosts = \"/etc/hosts\""} {
		for _, path := range []string{secret, secret + ".missing"} {
			text := base + "\nnames {\n " + fmt.Sprintf(block, path) + "\n}\n"
			if strings.HasPrefix(block, "hosts") && path == secret {
				continue // the one in force
			}
			c, d := ParseRemote("new.hcl", []Source{{Name: "new.hcl", Text: []byte(text)}}, old, func(string) (string, bool) { return "", false })
			var said strings.Builder
			d.WriteTo(&said)
			if c == nil || len(c.Names.HostNames) != 0 || strings.Contains(said.String(), "names:") || strings.Contains(said.String(), "secret") {
				t.Errorf("%s: %v\n%s", text, c == nil, said.String())
			}
			if c != nil && len(Diff(old, c)) == 0 {
				t.Error("that other files are named is no change")
			}
		}
	}
	same := base + fmt.Sprintf("\nnames { hosts = %q }\n", secret)
	if c, _ := ParseRemote("new.hcl", []Source{{Name: "new.hcl", Text: []byte(same)}}, old, nil); c == nil || len(c.Names.HostNames) == 0 {
		t.Error("the file in force is not read")
	}
}
