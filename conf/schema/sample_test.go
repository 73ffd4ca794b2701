package schema

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

// sample is a configuration with a field of every kind.
type sample struct {
	Server struct {
		Names   []string
		Ports   []Range[uint16]
		Workers int
		Queue   int
		Share   float64
		Strict  bool
		Mode    string
		Parts   []string
		Wait    time.Duration
		Address netip.Addr
		Allowed []netip.Prefix
		MAC     [6]byte
		Key     *uint64
		Limit   *uint16
		Window  *window
	}
	Topics []topic
	TLS    *tls
}

type window struct{ First, Last int }

type topic struct {
	Name  string
	Depth int
}

type tls struct{ File string }

func (c *sample) visit(v Visitor) {
	s := &c.Server
	v.Block("server", s, func(v Visitor) {
		v.Attr("names", Texts(&s.Names))
		v.Attr("ports", Ranges(&s.Ports, "ports or ranges of them, from 1 to 65535", 1, 65535, nil))
		v.Attr("workers", Integer(&s.Workers, 1, 64))
		v.Attr("queue", PowerOfTwo(&s.Queue, 64, 4096))
		v.Attr("share", Fraction(&s.Share, 0, 1))
		v.Attr("strict", Boolean(&s.Strict))
		v.Attr("mode", Choice(&s.Mode, "fast", "safe"))
		v.Attr("parts", Choices(&s.Parts, "part", "head", "body"))
		v.Attr("wait", Duration(&s.Wait, 0, time.Hour))
		v.Attr("address", Address(&s.Address))
		v.Attr("allowed", Prefixes(&s.Allowed))
		v.Attr("mac", MAC(&s.MAC))
		v.Attr("key", Hex64(&s.Key))
		v.Attr("limit", Optional(&s.Limit, 1, 100))
		v.Attr("window", Object(&s.Window, window{Last: 9}, func(v Visitor, w *window) {
			v.Required("first", Integer(&w.First, 0, 9))
			v.Attr("last", Integer(&w.Last, 0, 9))
		}))
	})
	v.Blocks("topic", Slice(&c.Topics, Zero[topic], func(t *topic) *string { return &t.Name }, func(v Visitor, t *topic) {
		v.Required("depth", Integer(&t.Depth, 0, 10))
	}))
	v.Optional("tls", Pointer(&c.TLS, func() tls { return tls{File: "key.pem"} }, func(v Visitor, x *tls) {
		v.Attr("file", Text(&x.File))
	}))
}

func (c *sample) dump() []byte { return Dump(c.visit) }

func newSample() *sample {
	c := &sample{}
	c.Server.Workers, c.Server.Queue, c.Server.Mode = 1, 64, "safe"
	return c
}

func parse(src string) (*sample, *Diagnostics) { return read(New("test.hcl", []byte(src))) }

func load(path string) (*sample, *Diagnostics) {
	f, d := Open(path)
	if f == nil {
		return nil, d
	}
	return read(f)
}

func read(f *File) (*sample, *Diagnostics) {
	c := newSample()
	if !f.Parse(c.visit) || f.Failing() {
		return nil, f.Done()
	}
	return c, f.Done()
}

func diagText(all []Diagnostic) string { return join(all) }

// everything sets each attribute to something else than its default.
const everything = `server {
  names   = ["a", "b"]
  ports   = [80, "8000-8099"]
  workers = 4
  queue   = 128
  share   = 0.25
  strict  = true
  mode    = "fast"
  parts   = ["head", "body"]
  wait    = "1500ms"
  address = "192.0.2.1"
  allowed = ["10.0.0.0/8", "2001:db8::/32"]
  mac     = "02:00:5e:00:53:01"
  key     = "0x0102030405060708"
  limit   = 7
  window  = { first = 1, last = 3 }
}

topic "one" {
  depth = 1
}

topic "two" {
  depth = 2
}

tls {
  file = "own.pem"
}
`

func TestEverythingIsReadAndWritten(t *testing.T) {
	c, d := parse(everything)
	if c == nil {
		t.Fatal(d.Err())
	}
	if got := string(c.dump()); got != everything {
		t.Errorf("%s", got)
	}
	limit, key := uint16(7), uint64(0x0102030405060708)
	want := newSample()
	want.Server.Names, want.Server.Ports = []string{"a", "b"}, []Range[uint16]{{First: 80, Last: 80}, {First: 8000, Last: 8099}}
	want.Server.Workers, want.Server.Queue, want.Server.Share = 4, 128, 0.25
	want.Server.Strict, want.Server.Mode, want.Server.Parts = true, "fast", []string{"head", "body"}
	want.Server.Wait, want.Server.Address = 1500*time.Millisecond, netip.MustParseAddr("192.0.2.1")
	want.Server.Allowed = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	want.Server.MAC, want.Server.Key, want.Server.Limit = [6]byte{2, 0, 0x5e, 0, 0x53, 1}, &key, &limit
	want.Server.Window, want.TLS = &window{1, 3}, &tls{"own.pem"}
	want.Topics = []topic{{"one", 1}, {"two", 2}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v", c)
	}
}

func TestDefaultsStay(t *testing.T) {
	c, d := parse("tls {}\n")
	if c == nil || c.Server.Workers != 1 || c.Server.Mode != "safe" || c.TLS.File != "key.pem" || c.Server.Window != nil {
		t.Errorf("%v, %+v", d.Err(), c)
	}
	if c, _ := parse(""); c == nil || c.TLS != nil {
		t.Errorf("an optional block that is not there: %+v", c)
	}
}

// TestFaults: each says where it stands, what is wrong and what is accepted.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"unknown attribute", "server { worker = 1 }", "1:10: error: server: unknown attribute worker; did you mean workers?"},
		{"unknown block", "sever {}", "1:1: error: unknown block sever; did you mean server?"},
		{"block as attribute", "server = {}", "1:1: error: unknown attribute server; server is a block: write server { ... } without the equals sign"},
		{"attribute as block", "server {\n  workers {}\n}", "2:3: error: server: unknown block workers; workers is an attribute: write workers = ..."},
		{"too large", "server { workers = 65 }", "1:20: error: server: workers = 65: must be a whole number from 1 to 64"},
		{"no integer", "server { workers = 1.5 }", "must be a whole number from 1 to 64"},
		{"quoted", `server { workers = "4" }`, "must be a whole number from 1 to 64, without quotes"},
		{"suffix", `server { workers = "1k" }`, "without quotes and suffix: 1000"},
		{"power of two", "server { queue = 100 }", "must be a power of two from 64 to 4096; nearest: 128"},
		{"fraction", "server { share = 1.5 }", "must be a number from 0 to 1"},
		{"boolean", `server { strict = "yes" }`, "must be true or false"},
		{"choice", `server { mode = "fsat" }`, `must be "fast" or "safe"; did you mean "fast"?`},
		{"choices", `server { parts = ["tail"] }`, `unknown part; known: "head" or "body"`},
		{"twice", `server { parts = ["head", "head"] }`, `1:27: error: server: parts = "head": stands there twice; once is enough`},
		{"duration without a unit", `server { wait = "5" }`, "a unit is missing"},
		{"range backwards", `server { ports = ["9-8"] }`, `the range ends before it begins; did you mean "8-9"?`},
		{"range of zero", `server { ports = 0 }`, "accepted are ports or ranges of them, from 1 to 65535"},
		{"address", `server { address = "x" }`, `must be an IP address such as "192.0.2.1"`},
		{"prefix with host bits", `server { allowed = "10.0.0.1/8" }`, `did you mean "10.0.0.0/8"?`},
		{"group MAC", `server { mac = "01:00:5e:00:53:01" }`, "is a group address"},
		{"hexadecimal", `server { key = "0x1" }`, "16 hexadecimal digits"},
		{"hexadecimal number", "server { workers = 0x10 }", "numbers are decimal: write 16 for 0x10"},
		{"variable", "server { mode = var.x }", "as a literal"},
		{"word", "server { mode = fast }", `a word needs quotes: "fast"`},
		{"missing in an object", "server { window = {} }", "server: window: first is missing"},
		{"no object", "server { window = 3 }", "must be an object such as { first = 0, last = 9 }"},
		{"missing in a block", `topic "one" {}`, `topic "one": depth is missing`},
		{"same name", "topic \"a\" { depth = 1 }\ntopic \"a\" { depth = 1 }", "the first stands in line 1: names must differ"},
		{"no name", "topic { depth = 1 }", `the block topic needs one name: topic "name" { ... }`},
		{"second block", "tls {}\ntls {}", "a second block tls; the first stands in line 1: merge them"},
		{"syntax", "server {", "Unclosed configuration block"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, d := parse(c.src)
			if text := diagText(d.Errors); got != nil || !strings.Contains(text, c.want) {
				t.Errorf("%s\nwant %q", text, c.want)
			}
		})
	}
}

// TestAllFaultsAtOnce, in the order of the file.
func TestAllFaultsAtOnce(t *testing.T) {
	_, d := parse("server {\n  workers = 0\n  mode = 1\n}\ntopic \"t\" {}\n")
	if d.Count(Error) != 3 || d.Errors[0].Line != 2 || d.Errors[1].Line != 3 || d.Errors[2].Line != 5 {
		t.Errorf("%s", diagText(d.Errors))
	}
}

// TestChecks: what a check says of a field points at it, and is left out where the value
// could not be read.
func TestChecks(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"set", "server { workers = 3 }", "test.hcl:1:20: error: workers must be even\n    1 | server { workers = 3 }\n      |                    ^\n"},
		{"default", "server {}", "test.hcl:1:1: error: workers must be even\n    1 | server {}\n      | ^^^^^^\n"},
		{"not there", "", "test.hcl: error: workers must be even\n"},
		{"unreadable", "server { workers = 0 }", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, f := newSample(), New("test.hcl", []byte(c.src))
			f.Parse(x.visit)
			f.out = &Diagnostics{} // of reading
			f.ErrorAt([]any{&x.Server.Workers, &x.Server}, "workers must be even")
			if got := diagText(f.Done().Errors); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
