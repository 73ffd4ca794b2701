// Loads collect's file, and makes paths in it relative to its folder.

package collector

import (
	"path/filepath"
	"strings"

	"intsink/conf/schema"
)

// Load reads the configuration file at path. The Config is nil where the Diagnostics hold
// an error.
func Load(path string) (*Config, *schema.Diagnostics) {
	f, d := schema.Open(path)
	if f == nil {
		return nil, d
	}
	return read(f, filepath.Dir(path), true)
}

// Parse is Load for a file in memory, as if it were at path.
func Parse(path string, src []byte) (*Config, *schema.Diagnostics) {
	return read(schema.New(path, src), filepath.Dir(path), false)
}

func read(f *schema.File, dir string, disk bool) (*Config, *schema.Diagnostics) {
	c := defaultConfig()
	if !f.Parse(c.visit) {
		return nil, f.Done()
	}
	c.resolve(dir)
	c.Names.Read(f, dir)
	check{f, disk}.all(c)
	if f.Failing() {
		return nil, f.Done()
	}
	return c, f.Done()
}

// Dump is HCL that reads as c.
func (c *Config) Dump() []byte { return schema.Dump(c.visit) }

// resolve makes the paths of the file relative to the working folder.
func (c *Config) resolve(dir string) {
	in := func(path *string) {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	tls := func(t *TLS) {
		if t != nil {
			in(&t.CA)
			in(&t.Certificate)
			in(&t.Key)
		}
	}
	in(&c.Sink)
	if n := c.Network; n != nil {
		in(&n.TokenFile)
		tls(n.TLS)
	}
	if t := c.HTTP.TLS; t != nil {
		in(&t.Certificate)
		in(&t.Key)
		in(&t.ClientCA)
	}
	if c.Spool != nil {
		in(&c.Spool.Directory)
	}
	for i := range c.Kafkas {
		tls(c.Kafkas[i].TLS)
		if s := c.Kafkas[i].SASL; s != nil {
			in(&s.PasswordFile)
		}
		if r := c.Kafkas[i].Registry; r != nil {
			in(&r.PasswordFile)
			tls(r.TLS)
		}
	}
	for i := range c.Files {
		if path, unix := strings.CutPrefix(c.Files[i].Path, "unix:"); unix {
			in(&path)
			c.Files[i].Path = "unix:" + path
		} else if path != "-" {
			in(&c.Files[i].Path)
		}
	}
	for i := range c.ClickHouses {
		tls(c.ClickHouses[i].TLS)
		in(&c.ClickHouses[i].PasswordFile)
	}
}
