// Checks collect's configuration: endpoints, Kafka topics, TLS files, secrets that others
// may read, paths used twice.

package collector

import (
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"

	"intsink/conf"
	"intsink/conf/schema"
)

// check sees what takes more than one attribute to see.
type check struct{ *schema.File }

func (f check) all(c *Config) {
	if len(c.Listens) == 0 {
		f.ErrorAt([]any{&c.HTTP}, `nothing is received: write listen "reports" { address = "0.0.0.0:8555" }`)
	}
	if len(c.Kafkas)+len(c.Files)+len(c.ClickHouses) == 0 {
		f.ErrorAt([]any{&c.HTTP}, `nothing takes the records: write a block kafka, clickhouse or file, such as file "out" { path = "-" }`)
	}
	addresses := map[string]string{}
	for i := range c.Listens {
		f.listen(&c.Listens[i], addresses)
	}
	if s := c.Spool; s != nil && s.Directory == "" {
		f.ErrorAt([]any{&s.Directory}, "spool: directory is empty; name a folder, such as /var/lib/intsink-collect")
	}
	for i := range c.Kafkas {
		f.kafka(&c.Kafkas[i])
	}
	paths := map[string]string{}
	for i := range c.Files {
		f.file(&c.Files[i], paths)
	}
	for i := range c.ClickHouses {
		f.clickhouse(&c.ClickHouses[i])
	}
	conf.CheckNodes(f.File, c.NodeModels)
	if c.HTTP.Listen != "" {
		if _, ok := f.endpoint(&c.HTTP.Listen, "http: listen", c.HTTP.Listen, true); ok && !loopback(c.HTTP.Listen) {
			f.WarnAt([]any{&c.HTTP.Listen}, "http: listen = %s: other machines can read the metrics; 127.0.0.1 keeps them to this one", schema.Quote(c.HTTP.Listen))
		}
	}
}

func (f check) listen(l *Listen, addresses map[string]string) {
	what := "listen " + schema.Quote(l.Name)
	if _, ok := f.endpoint(&l.Address, what+": address", l.Address, true); !ok {
		return
	}
	if first, twice := addresses[l.Address]; twice {
		f.ErrorAt([]any{&l.Address}, "%s: address %s is that of listen %s; one block with more sockets does that", what, l.Address, schema.Quote(first))
	}
	addresses[l.Address] = l.Name
	if len(l.Allow) == 0 && !loopback(l.Address) {
		f.WarnAt([]any{&l.Address}, "%s: whoever reaches %s can send reports; allow = [\"192.0.2.0/24\"] takes those of your sinks only", what, l.Address)
	}
}

func loopback(endpoint string) bool {
	a, err := netip.ParseAddrPort(endpoint)
	return err == nil && a.Addr().IsLoopback()
}

// endpoint checks ADDRESS:PORT; a name is taken where it need not be an address.
func (f check) endpoint(key any, where, text string, address bool) (port uint16, ok bool) {
	host, digits, err := net.SplitHostPort(text)
	n, numErr := strconv.ParseUint(digits, 10, 16)
	example := "kafka1:9092"
	if address {
		example = "0.0.0.0:8555"
	}
	if err != nil || numErr != nil || n == 0 && !address || host == "" {
		f.ErrorAt([]any{key}, "%s %s: must be an address and a port, such as %s", where, schema.Quote(schema.Short(text)), schema.Quote(example))
		return 0, false
	}
	if _, err := netip.ParseAddr(host); err != nil && address {
		f.ErrorAt([]any{key}, "%s %s: must be an IP address of this machine, 0.0.0.0 or [::], not a name", where, schema.Quote(schema.Short(text)))
		return 0, false
	}
	return uint16(n), true
}

func (f check) kafka(k *Kafka) {
	what := "kafka " + schema.Quote(k.Name)
	if len(k.Brokers) == 0 && f.Good(&k.Brokers) {
		f.ErrorAt([]any{&k.Brokers}, `%s: brokers is empty; name some of the cluster's, such as ["kafka1:9092", "kafka2:9092"]`, what)
	}
	for i, b := range k.Brokers {
		f.endpoint(schema.ElementOf(&k.Brokers, i), what+": broker", b, false)
	}
	if !isTopic(k.Topic) {
		f.ErrorAt([]any{&k.Topic}, "%s: topic %s: must have 1 to 249 letters, digits, dots, _ or -", what, schema.Quote(schema.Short(k.Topic)))
	}
	f.tls(what, k.TLS)
	if k.SASL != nil {
		f.secret(what+": sasl", &k.SASL.PasswordFile)
		if k.TLS == nil {
			f.WarnAt([]any{k.SASL}, "%s: sasl without tls shows the broker's network %s; add tls { }", what, shown(string(k.SASL.Mechanism)))
		}
	}
}

func shown(mechanism string) string {
	if mechanism == "plain" {
		return "the password"
	}
	return "enough to guess the password"
}

// isTopic follows Kafka's rule for names.
func isTopic(s string) bool {
	return len(s) > 0 && len(s) <= 249 && s != "." && s != ".." && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}) < 0
}

func (f check) tls(what string, t *TLS) {
	if t == nil || (t.Certificate == "") == (t.Key == "") {
		return
	}
	f.ErrorAt([]any{&t.Certificate, &t.Key}, "%s: tls: certificate and key belong together: name both or neither", what)
}

// secret warns of a file that others may read.
func (f check) secret(what string, path *string) {
	if s, err := os.Stat(*path); err == nil && s.Mode().Perm()&0o004 != 0 {
		f.WarnAt([]any{path}, "%s: everybody on this machine can read %s: chmod o-r it", what, schema.Quote(*path))
	}
}

func (f check) file(o *File, paths map[string]string) {
	what := "file " + schema.Quote(o.Name)
	if o.Path == "" || o.Path == "unix:" {
		f.ErrorAt([]any{&o.Path}, `%s: path is empty; name a file, "-" for standard output, or "unix:PATH" for a socket`, what)
		return
	}
	if first, twice := paths[o.Path]; twice {
		f.ErrorAt([]any{&o.Path}, "%s: path %s is that of file %s", what, schema.Quote(o.Path), schema.Quote(first))
	}
	paths[o.Path] = o.Name
	if special := o.Path == "-" || strings.HasPrefix(o.Path, "unix:"); special && o.Rotate > 0 {
		f.ErrorAt([]any{&o.Rotate}, "%s: rotate is for files; %s is none", what, schema.Quote(o.Path))
	}
}

func (f check) clickhouse(c *ClickHouse) {
	what := "clickhouse " + schema.Quote(c.Name)
	f.tls(what, c.TLS)
	f.secret(what, &c.PasswordFile)
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		f.ErrorAt([]any{&c.URL}, `%s: url %s: must be that of the HTTP interface with the table as a parameter, such as "http://ch:8123/?table=int.reports"`, what, schema.Quote(schema.Short(c.URL)))
		return
	}
	if u.Query().Get("table") == "" {
		f.ErrorAt([]any{&c.URL}, `%s: url names no table: add ?table=int.reports`, what)
	}
	if u.User != nil {
		f.ErrorAt([]any{&c.URL}, "%s: url has a user or password in it: write them as user and password_file", what)
	}
	if u.Scheme == "http" && c.TLS != nil {
		f.ErrorAt([]any{&c.URL}, "%s: tls is for https, the url is http", what)
	}
	if u.Scheme == "http" && c.PasswordFile != "" && !strings.HasPrefix(u.Host, "127.") && u.Hostname() != "localhost" {
		f.WarnAt([]any{&c.URL}, "%s: the password goes over the network as it is: https hides it", what)
	}
}
