// Load, Parse, LoadAgain: from a file to a Config: reads, fills in, resolves, checks; names
// of package schema's Diagnostics, Error, Warning.

package conf

import (
	"net/netip"

	"intsink/conf/schema"
)

// Load reads the configuration at path: a file, or the files *.hcl of a folder, in order of
// name, as if they were one. The Config is nil when, and only
// when, the Diagnostics hold an error. The Diagnostics are never nil: they may
// hold warnings beside a Config.
func Load(path string) (*Config, *Diagnostics) {
	return load(path, thisMachine())
}

func load(path string, m machine) (*Config, *Diagnostics) {
	f, d := schema.OpenAny(path)
	if f == nil {
		return nil, d
	}
	return read(f, m)
}

// Parse is Load for a configuration in memory; filename appears in the
// diagnostics. It looks at the CPUs of this machine, and resolves collectors
// that are given by host name.
func Parse(filename string, src []byte) (*Config, *Diagnostics) {
	return parse(filename, src, thisMachine())
}

// LoadElsewhere is Load for commands that may run on another machine than the file is for, such
// as replay: lcores that this machine lacks are only a warning.
func LoadElsewhere(path string) (*Config, *Diagnostics) {
	m := thisMachine()
	m.elsewhere = true
	return load(path, m)
}

// LoadWithoutHosts is LoadElsewhere for who needs no collectors: their host names are not looked up, so that no name server
// has to answer. They have no address then.
func LoadWithoutHosts(path string) (*Config, *Diagnostics) {
	m := thisMachine()
	m.elsewhere = true
	m.lookup = nil
	return load(path, m)
}

// LoadToRun is Load for who looks names of collectors up while they run: they have no address then, and no name
// server holds the start up.
func LoadToRun(path string) (*Config, *Diagnostics) { return LoadAgain(path, &Config{}) }

// LoadAgain is LoadToRun of a file that is in force as old: names of collectors that old has resolved
// keep their addresses.
func LoadAgain(path string, old *Config) (*Config, *Diagnostics) {
	m := thisMachine()
	m.known, m.lookup = old.known, nil
	return load(path, m)
}

// Source is one file of a configuration.
type Source = schema.Source

// ReadSources is the file at path, or the files *.hcl of the folder that it is, unread: for
// ParseAgain on another machine.
func ReadSources(path string) ([]Source, error) { return schema.ReadSources(path) }

// SHA256 returns the hash of the text that Load would read at path, "" if it cannot be read.
func SHA256(path string) string {
	f, d := schema.OpenAny(path)
	if f != nil {
		d = f.Done()
	}
	return d.SHA256
}

// ParseAgain is LoadAgain for files in memory; name is what diagnostics about all of them
// call them, and env looks variables of the environment up as os.LookupEnv does.
func ParseAgain(name string, files []Source, old *Config, env func(name string) (value string, ok bool)) (*Config, *Diagnostics) {
	m := thisMachine()
	m.known, m.lookup = old.known, nil
	f := schema.NewFiles(name, files)
	f.Env = env
	return read(f, m)
}

// ParseRemote is ParseAgain for files of who may not choose which files this process reads: it reads those alone that old names, too.
func ParseRemote(name string, files []Source, old *Config, env func(name string) (value string, ok bool)) (*Config, *Diagnostics) {
	m := thisMachine()
	m.known, m.lookup, m.files = old.known, nil, &old.Names
	f := schema.NewFiles(name, files)
	f.Env = env
	return read(f, m)
}

// known returns the addresses that c has resolved a host name to: of IPv4 and of IPv6, where its collectors send
// from both.
func (c *Config) known(host string) (all []netip.Addr) {
	for i := range c.Collectors {
		if c.Collectors[i].Host == host && c.Collectors[i].Address.IsValid() {
			all = append(all, c.Collectors[i].Address.Addr())
		}
	}
	return all
}

func parse(filename string, src []byte, m machine) (*Config, *Diagnostics) {
	return read(schema.New(filename, src), m)
}

func read(f *schema.File, m machine) (*Config, *Diagnostics) {
	d, c := checker{f}, defaultConfig()
	d.QuotedHex = map[string]int{"probe_marker": 16, "marker": 16, "device": 1}
	if !d.Parse(func(v schema.Visitor) { visitConfig(v, c) }) {
		return nil, d.Done()
	}
	if m.files == nil || c.Names.File == m.files.File && c.Names.Hosts == m.files.Hosts {
		c.Names.Read(d.File, "")
	}
	d.defaultLcores(&c.DPDK, m)
	resolveCollectors(c, m)
	d.profileFragment(c)
	d.check(c, m)
	if d.Failing() {
		return nil, d.Done()
	}
	fillIn(c)
	return c, d.Done()
}

// Diagnostics holds the errors and warnings of a file with their places.
type Diagnostics = schema.Diagnostics

// Diagnostic is one of them.
type Diagnostic = schema.Diagnostic

// The severities of diagnostics.
const (
	Error   = schema.Error   // the configuration cannot be used
	Warning = schema.Warning // it can, but probably does not do what its author thinks
)
