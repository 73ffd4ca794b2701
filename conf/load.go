package conf

import (
	"fmt"
	"net/netip"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Load reads the configuration file at path. The Config is nil when, and only
// when, the Diagnostics hold an error. The Diagnostics are never nil: they may
// hold warnings beside a Config.
func Load(path string) (*Config, *Diagnostics) {
	return load(path, thisMachine())
}

func load(path string, m machine) (*Config, *Diagnostics) {
	src, err := readSource(path)
	if err != nil {
		d := &Diagnostics{}
		d.add(Diagnostic{Severity: Error, File: path, Message: fmt.Sprintf("cannot read the configuration: %v", err)})
		return nil, d
	}
	return parse(path, src, m)
}

// Parse is Load for a configuration in memory; filename appears in the
// diagnostics. It looks at the CPUs of this machine, and resolves collectors
// that are given by host name.
func Parse(filename string, src []byte) (*Config, *Diagnostics) {
	return parse(filename, src, thisMachine())
}

// LoadElsewhere is Load on a machine that need not be the one that the file is
// for, as replay does: lcores that this machine does not have are a warning.
func LoadElsewhere(path string) (*Config, *Diagnostics) {
	m := thisMachine()
	m.elsewhere = true
	return load(path, m)
}

// LoadAgain is Load of a file that is in force as old: names of collectors that old has
// resolved keep their addresses, so that a name server that is away, or gives its
// addresses in turns, is in nobody's way.
func LoadAgain(path string, old *Config) (*Config, *Diagnostics) {
	m := thisMachine()
	m.lookup = old.known(m.lookup)
	return load(path, m)
}

// known is lookup for names that c has not resolved yet.
func (c *Config) known(lookup lookupFunc) lookupFunc {
	return func(host string) ([]netip.Addr, error) {
		for i := range c.Collectors {
			if c.Collectors[i].Host == host {
				return []netip.Addr{c.Collectors[i].Address.Addr()}, nil
			}
		}
		return lookup(host)
	}
}

// machine is what a configuration is checked against, besides itself.
type machine struct {
	cpus      []int  // that this process may run on, ascending
	memory    uint64 // bytes; 0: unknown
	lookup    lookupFunc
	elsewhere bool // the file may be for another machine
}

func parse(filename string, src []byte, m machine) (*Config, *Diagnostics) {
	d := newDecoder(filename, src)
	if !d.bounded() {
		return nil, d.done()
	}
	file, diags := hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
	if diags.HasErrors() {
		// The tree is incomplete: whatever else we said would mislead.
		d.syntax(diags)
		return nil, d.done()
	}
	c := defaultConfig()
	body := file.Body.(*hclsyntax.Body)
	root := d.bodyReader(body, "", "", body.EndRange)
	visitConfig(root, c)
	root.finish()

	d.defaultLcores(c, m)
	d.resolveCollectors(m.lookup)
	d.profileFragment(c)
	d.check(c, m)
	if len(d.out.Errors) > 0 {
		return nil, d.done()
	}
	fillIn(c)
	return c, d.done()
}

// fillIn makes explicit what an omitted list, source port or gateway stands for.
func fillIn(c *Config) {
	for i := range c.Collectors {
		col := &c.Collectors[i]
		if c.Report.Profile == transparentSecurity && col.SourcePortMode == "any" {
			col.SourcePort, col.SourcePortMode = 0, "fixed"
		}
		if col.Port != "" && !col.Gateway.IsValid() && col.GatewayMAC == [6]byte{} {
			col.Gateway = col.Address.Addr().WithZone("")
		}
	}
	for i := range c.Watches {
		w := &c.Watches[i]
		if w.Events == nil {
			e := &c.Events
			if w.Override != nil {
				e = w.Override
			}
			w.Events = defaultEventNames(e)
		}
		if w.Collectors == nil {
			for _, col := range c.Collectors {
				w.Collectors = append(w.Collectors, col.Name)
			}
		}
	}
}
