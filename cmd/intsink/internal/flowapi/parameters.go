// parameters: reads and checks those of a request's URL: numbers, prefixes, sort, limit,
// cursor.

package flowapi

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"intsink/cmd/internal/cli"
	"intsink/engine/aside/inspect"
)

// parameters reads the query of a request and keeps the first error. What is not
// asked for is an error at the end: end knows every parameter by then.
type parameters struct {
	id     string // of the path
	values url.Values
	known  []string
	err    error
}

func newParameters(r *http.Request) *parameters {
	p := &parameters{id: r.PathValue("id")}
	var err error
	if p.values, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		p.fail("%v", err)
	}
	return p
}

func (p *parameters) fail(format string, args ...any) {
	if p.err == nil {
		p.err = badRequest(format, args...)
	}
}

// text is a parameter's value, "" where it is not there.
func (p *parameters) text(name string) string {
	p.known = append(p.known, name)
	all := p.values[name]
	if len(all) > 1 {
		p.fail("%s is there %d times", name, len(all))
	}
	if len(all) == 0 {
		return ""
	}
	if all[0] == "" {
		p.fail("%s is empty", name)
	}
	return all[0]
}

// end is the first error, and one for a parameter that is not known.
func (p *parameters) end() error {
	for name := range p.values {
		if !slices.Contains(p.known, name) {
			known := "there are none"
			if len(p.known) > 0 {
				slices.Sort(p.known)
				known = "known are " + strings.Join(p.known, ", ")
			}
			return badRequest("parameter %q is not known here; %s", cli.Short(name), known)
		}
	}
	return p.err
}

// number is a whole number of so many bits, or nil.
func number[T uint8 | uint16 | uint32 | uint64](p *parameters, name string, bits int) *T {
	s := p.text(name)
	if s == "" {
		return nil
	}
	n, err := strconv.ParseUint(s, 0, bits)
	if err != nil {
		p.fail("%s = %q: must be a whole number up to %d", name, cli.Short(s), uint64(1)<<bits-1)
		return nil
	}
	v := T(n)
	return &v
}

// least is a lower bound; 0 where there is none.
func (p *parameters) least(name string) uint32 {
	if v := number[uint32](p, name, 32); v != nil {
		return *v
	}
	return 0
}

// yes is a parameter that is true or false; nil where it is not there.
func (p *parameters) yes(name string) *bool {
	s := p.text(name)
	if s == "" {
		return nil
	}
	if s != "true" && s != "false" {
		p.fail("%s = %q: must be true or false", name, cli.Short(s))
		return nil
	}
	v := s == "true"
	return &v
}

// prefix is an address or a prefix.
func (p *parameters) prefix(name string) inspect.Prefix {
	s := p.text(name)
	if s == "" {
		return inspect.Prefix{}
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		return inspect.PrefixOf(netip.PrefixFrom(a, a.BitLen()))
	}
	x, err := netip.ParsePrefix(s)
	if err != nil {
		p.fail("%s = %q: must be an address or a prefix such as 10.0.0.0/8 or 2001:db8::/32", name, cli.Short(s))
		return inspect.Prefix{}
	}
	return inspect.PrefixOf(x)
}

// protocol is a name or number.
func (p *parameters) protocol(name string) *uint8 {
	s := p.text(name)
	if s == "" {
		return nil
	}
	proto, err := inspect.ParseProtocol(s)
	if err != nil {
		p.fail("%v", err)
	}
	return &proto
}

// crossing is NODE-NODE: two nodes that follow each other on a way.
type crossing struct{ from, to uint32 }

func (p *parameters) crossing(name string) *crossing {
	s := p.text(name)
	if s == "" {
		return nil
	}
	a, b, _ := strings.Cut(s, "-")
	from, err1 := strconv.ParseUint(a, 0, 32)
	to, err2 := strconv.ParseUint(b, 0, 32)
	if err1 != nil || err2 != nil {
		p.fail("%s = %q: must be the ids of two nodes that follow each other, such as 101-102", name, cli.Short(s))
		return nil
	}
	return &crossing{uint32(from), uint32(to)}
}

// paging says which part of a list is asked for.
type paging struct {
	sort  string
	limit int
	after *cursor
}

// Sizes of a page.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// cursor is where the next page begins: behind the item of this value and id, in
// the order of sort.
type cursor struct {
	Sort  string `json:"s"`
	Value uint64 `json:"v"`
	ID    string `json:"i"`
}

func (c *cursor) String() string {
	b, _ := json.Marshal(c) // strings and a number always can
	return base64.RawURLEncoding.EncodeToString(b)
}

// oneOf reads a word of a list, the first by default.
func (p *parameters) oneOf(name string, words ...string) string {
	word := cmp.Or(p.text(name), words[0])
	if !slices.Contains(words, word) {
		p.fail("%s = %q: must be one of %s", name, cli.Short(word), strings.Join(words, ", "))
	}
	return word
}

// paging reads limit, sort (one of sorts, the first by default) and cursor.
func (p *parameters) paging(sorts ...string) paging {
	g := paging{sort: p.oneOf("sort", sorts...), limit: defaultLimit}
	if n := number[uint32](p, "limit", 32); n != nil {
		if g.limit = int(*n); g.limit < 1 || g.limit > maxLimit {
			p.fail("limit = %d: must be 1 to %d", g.limit, maxLimit)
		}
	}
	s := p.text("cursor")
	if s == "" {
		return g
	}
	g.after = &cursor{}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || json.Unmarshal(b, g.after) != nil {
		p.fail("cursor: not one of this list: take it as it is from next, or leave it out for the first page")
	} else if g.after.Sort != g.sort {
		p.fail("cursor: it is of sort = %s: ask with the same sort as for the page before", cli.Short(g.after.Sort))
	}
	return g
}
