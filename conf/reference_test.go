package conf

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"intsink/conf/schema"

	"github.com/google/go-cmp/cmp"
)

// lister is the visitor that collects names: attributes by the path of their
// block, and all blocks.
type lister struct {
	path  string
	attrs map[string][]string // "int" -> "udp_port", "dscp", "dscp.value"
}

func (l *lister) Attr(name string, v schema.Value) {
	l.attrs[l.path] = append(l.attrs[l.path], name)
	if o, ok := v.(interface{ Fields(schema.Visitor) }); ok {
		sub := &lister{attrs: map[string][]string{}}
		o.Fields(sub)
		for _, field := range sub.attrs[""] {
			l.attrs[l.path] = append(l.attrs[l.path], name+"."+field)
		}
	}
}
func (l *lister) Required(name string, v schema.Value) { l.Attr(name, v) }

func (l *lister) Block(name string, _ any, visit func(schema.Visitor)) {
	sub := &lister{path: strings.TrimPrefix(l.path+"."+name, "."), attrs: l.attrs}
	l.attrs[sub.path] = []string{}
	visit(sub)
}

func (l *lister) Optional(name string, p schema.OptionalBlock) {
	p.Create()
	if name == "events_override" || name == "int" {
		l.attrs[l.path+"."+name] = []string{} // of the shape of events, and of int
		return
	}
	l.Block(name, nil, p.Visit)
}

func (l *lister) Blocks(name string, b schema.BlockList) {
	b.Resize(1)
	l.Block(name, nil, func(v schema.Visitor) { b.Visit(0, v) })
}

func attributes() map[string][]string {
	l := &lister{attrs: map[string][]string{}}
	visitConfig(l, defaultConfig())
	return l.attrs
}

func TestSchemaHasTheContract(t *testing.T) {
	got := attributes()
	for path, want := range map[string][]string{
		"":                       nil,
		"node":                   {"id", "hw_id_base"},
		"int":                    {"udp_port", "dscp", "dscp.value", "dscp.mask", "dscp.restore", "tcp_options", "probe_marker", "malformed", "versions"},
		"int.domain.instruction": {"bit", "length", "scope", "role"},
		"watch.match":            {"source", "destination", "protocol", "source_port", "destination_port", "vlan", "dscp"},
		"report.coalesce":        {"max_bytes", "max_reports", "max_delay"},
		"collector.budget":       {"packets", "bits", "burst"},
		"events.hop_latency":     {"absolute", "relative", "k", "n", "interval"},
	} {
		t.Run(path, func(t *testing.T) {
			for _, name := range want {
				if !slices.Contains(got[path], name) {
					t.Errorf("%s has no %s", path, name)
				}
			}
		})
	}
}

// TestReferenceHasEverything: each attribute stands in examples/reference.hcl,
// and has a row in the section of its block in docs/configuration.md.
func TestReferenceHasEverything(t *testing.T) {
	reference := mustRead(t, "examples/reference.hcl")
	doc := mustRead(t, "../docs/configuration.md")
	sections := map[string]string{}
	for _, part := range strings.Split(doc, "\n## ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		sections[strings.Trim(strings.TrimSpace(name), "`")] = body
	}
	for path, attrs := range attributes() {
		block := path[strings.LastIndexByte(path, '.')+1:]
		if !regexp.MustCompile(`(?m)^[ #]*` + block + `\b.*\{`).MatchString(reference) {
			t.Errorf("reference.hcl has no block %s", path)
		}
		section, ok := sections[path]
		if !ok {
			t.Errorf("docs/configuration.md has no section `%s`", path)
		}
		for _, name := range attrs {
			if !strings.Contains(section, "| `"+name+"` |") {
				t.Errorf("docs/configuration.md: section `%s` has no row for %s", path, name)
			}
			last := name[strings.LastIndexByte(name, '.')+1:]
			if !regexp.MustCompile(`\b` + last + `\s*=`).MatchString(reference) {
				t.Errorf("reference.hcl does not show %s.%s", path, name)
			}
		}
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReferenceIsTheDefaults(t *testing.T) {
	c, d := readTestFile(t, "examples/reference.hcl")
	if c == nil {
		t.Fatal(d.Err())
	}
	plain, warned := parse("plain.hcl", []byte(`
port "network" { device = "net_null0,no-rx=1" }
port "host" { device = "net_null1,no-rx=1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }
`), fakeMachine())
	if plain == nil {
		t.Fatal(warned.Err())
	}
	if !reflect.DeepEqual(c, plain) {
		t.Errorf("reference.hcl (-) differs from the defaults (+):\n%s", cmp.Diff(string(c.Dump()), string(plain.Dump())))
	}
	if len(warned.Warnings) != 0 {
		t.Errorf("the defaults warn: %v", diagText(warned.Warnings))
	}
}

// TestDocExample: the HCL in docs/configuration.md is valid.
func TestDocExample(t *testing.T) {
	doc := mustRead(t, "../docs/configuration.md")
	found := regexp.MustCompile("(?s)```hcl\n(.*?)```").FindAllStringSubmatch(doc, -1)
	if len(found) == 0 {
		t.Fatal("no example")
	}
	for _, m := range found {
		if !strings.Contains(m[1], "link ") {
			continue // a part of a file
		}
		if c, d := parse("configuration.md", []byte(m[1]), fakeMachine()); c == nil {
			t.Error(d.Err())
		}
	}
}

// TestReferenceHasTheDefaultsOfEvents: the section of each event in docs/configuration.md has a row for every attribute, with the
// defaults of both profiles.
func TestReferenceHasTheDefaultsOfEvents(t *testing.T) {
	doc := mustRead(t, "../docs/configuration.md")
	dc, wan := defaultEvents("dc"), defaultEvents("wan")
	written := func(e *Events) map[string]string {
		v := &rows{values: map[string]string{}}
		visitEvents(v, e)
		return v.values
	}
	other := written(&wan)
	for path, value := range written(&dc) {
		block, attr, ok := strings.Cut(path, ".")
		if !ok || path == "congestion.clear" { // the profile itself; half of another attribute
			continue
		}
		_, section, _ := strings.Cut(doc, "\n## `events."+block+"`")
		section, _, _ = strings.Cut(section, "\n## ")
		row := regexp.MustCompile("(?m)^\\| `" + attr + "` \\| \\w+ \\| (.*?) \\|").FindStringSubmatch(section)
		if row == nil || !strings.Contains(row[1], value) || !strings.Contains(row[1], other[path]) {
			t.Errorf("docs/configuration.md: events.%s has no row for %s with %s, and %s in wan: %q", block, attr, value, other[path], row)
		}
	}
}

// rows is the visitor that collects the values of attributes.
type rows struct {
	lister
	path   string
	values map[string]string
}

func (r *rows) Attr(name string, v schema.Value) { r.values[r.path+name], _ = v.Write() }

func (r *rows) Block(name string, _ any, visit func(schema.Visitor)) {
	visit(&rows{path: name + ".", values: r.values})
}
