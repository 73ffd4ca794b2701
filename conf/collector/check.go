// Checks collect's configuration: endpoints, Kafka topics, the URL of ClickHouse. check_files.go has what
// needs a look at the disk.

package collector

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"intsink/conf"
	"intsink/conf/schema"
)

// check sees what takes more than one attribute to see.
type check struct {
	*schema.File
	disk bool // the text is that of a file: those that it names must be there
}

func (f check) all(c *Config) {
	f.sink(&c.Sink)
	alone := c.pageAlone()
	if len(c.Listens) == 0 && !alone {
		f.ErrorAt([]any{&c.HTTP}, `nothing is received: write listen "reports" { address = "0.0.0.0:8555" }`)
	}
	if len(c.outputs()) == 0 && !alone {
		f.ErrorAt([]any{&c.HTTP}, `nothing takes the records: write a block kafka, clickhouse, ipfix or file, such as file "out" { path = "-" }`)
	}
	for i := range c.Listens {
		f.listen(&c.Listens[i], c.Listens[:i])
	}
	f.spool(c)
	for i := range c.Kafkas {
		f.kafka(&c.Kafkas[i])
	}
	for i := range c.Files {
		f.file(&c.Files[i], c.Files[:i])
	}
	for i := range c.ClickHouses {
		f.clickhouse(&c.ClickHouses[i])
	}
	for i := range c.IPFIXes {
		f.ipfix(&c.IPFIXes[i], c.IPFIXes[:i])
	}
	conf.CheckNodes(f.File, c.NodeModels)
	f.peers(c)
	f.http(c)
	f.network(c)
}

// output is a block that takes records, for messages.
type output struct {
	key       any    // its first attribute
	what      string // its kind and name
	elsewhere bool   // a server takes them, which may be away
}

// outputs lists all blocks that take records, of every kind.
func (c *Config) outputs() (all []output) {
	add := func(key any, kind, name string, elsewhere bool) {
		all = append(all, output{key, kind + " " + schema.Quote(name), elsewhere})
	}
	for i := range c.Kafkas {
		add(&c.Kafkas[i].Brokers, "kafka", c.Kafkas[i].Name, true)
	}
	for i := range c.ClickHouses {
		add(&c.ClickHouses[i].URL, "clickhouse", c.ClickHouses[i].Name, true)
	}
	for i := range c.IPFIXes {
		add(&c.IPFIXes[i].Address, "ipfix", c.IPFIXes[i].Name, true)
	}
	for i := range c.Files {
		add(&c.Files[i].Path, "file", c.Files[i].Name, false)
	}
	return all
}

// pageAlone tells whether c has the page over all sinks and takes no reports: that needs no store, but may read one.
func (c *Config) pageAlone() bool {
	reads := len(c.ClickHouses) == 0 || len(c.ClickHouses) == 1 && c.Network != nil && c.ClickHouses[0].Name == c.Network.History
	return c.Network != nil && len(c.Listens) == 0 && reads && len(c.outputs()) == len(c.ClickHouses)
}

// http checks the address of metrics and of the page, and who may read there.
func (f check) http(c *Config) {
	h := &c.HTTP
	conf.CheckTokens(f.File, h.Tokens)
	if h.TLS != nil {
		f.secret("http: tls", "key", &h.TLS.Key)
	}
	guarded := len(h.Tokens) > 0 || h.TLS != nil && h.TLS.ClientCA != ""
	if h.Listen == "" {
		if guarded || h.TLS != nil {
			f.WarnAt([]any{&h.Listen}, `http: listen = "": tokens and tls are for nothing`)
		}
		return
	}
	if _, ok := f.endpoint(&h.Listen, "http: listen", h.Listen, true); !ok || loopback(h.Listen) {
		return
	}
	switch {
	case len(h.Tokens) > 0 && h.TLS == nil:
		f.WarnAt([]any{&h.Listen}, "http: listen = %s takes tokens from other machines without TLS: who listens on the way has them; add tls { certificate key }", schema.Quote(h.Listen))
	case !guarded && c.Network != nil:
		f.WarnAt([]any{&h.Listen}, "http: listen = %s: other machines can read the flows, paths and problems of all sinks; add token \"NAME\" { sha256 } and tls, or keep it to this machine with 127.0.0.1", schema.Quote(h.Listen))
	case !guarded && len(c.Peers) == 0:
		f.WarnAt([]any{&h.Listen}, "http: listen = %s: other machines can read the metrics; 127.0.0.1 keeps them to this one", schema.Quote(h.Listen))
	}
}

// maxSinks is how many sinks one page is over, by name or address.
const maxSinks = 1024

// network checks the addresses of the sinks, and that their token does not go in clear.
func (f check) network(c *Config) {
	n := c.Network
	if n == nil {
		return
	}
	if len(n.Sinks) == 0 && f.Good(&n.Sinks) {
		f.ErrorAt([]any{&n.Sinks}, `network: sinks is empty: name http.listen of each sink, such as ["192.0.2.1:9465"], or a name that resolves to all of them`)
	}
	if len(n.Sinks) > maxSinks {
		f.ErrorAt([]any{&n.Sinks}, "network: sinks: %d are too many: %d at most", len(n.Sinks), maxSinks)
	}
	clear := false
	for i, a := range n.Sinks {
		key := schema.ElementOf(&n.Sinks, i)
		host, port, err := net.SplitHostPort(a)
		if p, numErr := strconv.ParseUint(port, 10, 16); err != nil || numErr != nil || p == 0 || !schema.IsHost(host) {
			f.ErrorAt([]any{key}, `network: sinks: %s: must be an address or a name, and a port, such as "192.0.2.1:9465"; block tls says that it is asked by https`, schema.Quote(schema.Short(a)))
		} else if slices.Contains(n.Sinks[:i], a) {
			f.ErrorAt([]any{key}, "network: sinks: %s stands twice", schema.Quote(a))
		}
		ip, err := netip.ParseAddr(host)
		clear = clear || err != nil || !ip.IsLoopback()
	}
	var stores []string
	for i := range c.ClickHouses {
		stores = append(stores, c.ClickHouses[i].Name)
	}
	if n.History != "" && !slices.Contains(stores, n.History) {
		f.ErrorAt([]any{&n.History}, "network: history %s: there is no block clickhouse of that name%s", schema.Quote(schema.Short(n.History)), schema.DidYouMean(n.History, stores, "%q"))
	}
	f.tls("network", n.TLS)
	f.secret("network", "token_file", &n.TokenFile)
	if n.TokenFile != "" && n.TLS == nil && clear && !n.Insecure {
		f.ErrorAt([]any{&n.TokenFile}, "network: the token would go to the sinks in clear, for all on the way to read: add tls { }, or insecure = true")
	}
	if c.HTTP.Listen == "" {
		f.WarnAt([]any{&n.Sinks}, `network: http { listen = "" }: nobody can look at the page`)
	}
}

// maxPeers is how many other collectors one asks at most.
const maxPeers = 63

// peers checks the URLs of other collectors, and that they can ask this one.
func (f check) peers(c *Config) {
	if len(c.Peers) > maxPeers {
		f.ErrorAt([]any{&c.Peers}, "peers: %d are too many: %d at most", len(c.Peers), maxPeers)
	}
	for i, p := range c.Peers {
		key := schema.ElementOf(&c.Peers, i)
		if u, err := url.Parse(p); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
			f.ErrorAt([]any{key}, `peers: %s: must be the URL of another collector's http.listen, such as "http://192.0.2.12:9466"`, schema.Quote(schema.Short(withoutPassword(p))))
		} else if slices.Contains(c.Peers[:i], p) {
			f.ErrorAt([]any{key}, "peers: %s stands twice", schema.Quote(p))
		}
	}
	if len(c.Peers) > 0 && (c.HTTP.Listen == "" || loopback(c.HTTP.Listen)) {
		f.WarnAt([]any{&c.Peers}, "peers: the others cannot ask this collector: http { listen } has to be an address that they reach")
	}
}

func (f check) listen(l *Listen, before []Listen) {
	what := "listen " + schema.Quote(l.Name)
	f.terminators(what, l.IPFIX)
	if !f.Good(&l.Address) {
		return
	}
	port, ok := f.endpoint(&l.Address, what+": address", l.Address, true)
	if !ok {
		return
	}
	if l.IPFIX != nil && port == 8555 {
		f.WarnAt([]any{&l.Address}, "%s: sinks send reports to 8555 by default, and this address takes none: it has ipfix { }", what)
	}
	if port == 0 {
		f.WarnAt([]any{&l.Address}, "%s: with port 0 the kernel chooses another port at each start, which no sink knows; sinks send to 8555 by default", what)
	}
	for i := range before {
		if other := &before[i]; overlap(l.Address, other.Address) {
			f.ErrorAt([]any{&l.Address}, "%s: address %s is that of listen %s; one block with more sockets does that", what, l.Address, schema.Quote(other.Name))
			return
		}
	}
	if len(l.Allow) == 0 && !loopback(l.Address) {
		f.WarnAt([]any{&l.Address}, "%s: whoever reaches %s can send reports; allow = [\"192.0.2.0/24\"] takes those of your sinks only", what, l.Address)
	}
}

// terminators checks that the elements of a data record differ.
func (f check) terminators(what string, t *Terminators) {
	if t == nil || !f.Good(&t.Headers) || !f.Good(&t.Stack) || !f.Good(&t.Packet) {
		return
	}
	if t.Headers == t.Stack || t.Headers == t.Packet || t.Stack == t.Packet {
		f.ErrorAt([]any{t}, "%s: ipfix: headers, stack and packet are three elements: their ids must differ; the switch's template has them (a line in the log of collect names those that it does not know)", what)
	}
}

// overlap reports whether datagrams to one address could be for the other: the same port, and the same
// address or all of one.
func overlap(a, b string) bool {
	x, errX := netip.ParseAddrPort(a)
	y, errY := netip.ParseAddrPort(b)
	if errX != nil || errY != nil || x.Port() != y.Port() || x.Port() == 0 {
		return false
	}
	if x.Addr().IsUnspecified() || y.Addr().IsUnspecified() { // [::] takes IPv4 as well
		return x.Addr().Is4() == y.Addr().Is4() || x.Addr() == netip.IPv6Unspecified() || y.Addr() == netip.IPv6Unspecified()
	}
	return x.Addr().Unmap() == y.Addr().Unmap()
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
	if err != nil || numErr != nil || n == 0 && !address || !schema.IsHost(host) {
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
		if strings.Contains(b, ",") {
			f.ErrorAt([]any{schema.ElementOf(&k.Brokers, i)}, `%s: broker %s: write each as a string of its own: ["%s"]`, what, schema.Quote(schema.Short(b)), schema.Short(strings.Join(strings.FieldsFunc(b, func(r rune) bool { return r == ',' || r == ' ' }), `", "`)))
			continue
		}
		f.endpoint(schema.ElementOf(&k.Brokers, i), what+": broker", b, false)
	}
	if !isTopic(k.Topic) {
		f.ErrorAt([]any{&k.Topic}, "%s: topic %s: must have 1 to 249 letters, digits, dots, _ or -", what, schema.Quote(schema.Short(k.Topic)))
	}
	f.tls(what, k.TLS)
	f.registry(what, k)
	if k.SASL != nil {
		f.secret(what+": sasl", "password_file", &k.SASL.PasswordFile)
		if (k.SASL.User == "") != (k.SASL.Mechanism == OAuthBearer) && f.Good(&k.SASL.Mechanism) {
			f.ErrorAt([]any{&k.SASL.User, &k.SASL.Mechanism}, "%s: sasl: user belongs to plain and scram; oauthbearer has none, its token says who it is", what)
		}
		if k.TLS == nil {
			f.WarnAt([]any{k.SASL}, "%s: sasl without tls shows the broker's network %s; add tls { }", what, shown(string(k.SASL.Mechanism)))
		}
	}
}

// registry checks where the schema of messages is to be registered.
func (f check) registry(what string, k *Kafka) {
	r := k.Registry
	if r == nil {
		return
	}
	what += ": registry"
	f.tls(what, r.TLS)
	f.secret(what, "password_file", &r.PasswordFile)
	if k.Format != ProtobufMessages && (f.Good(&k.Format) || !f.Has(&k.Format)) {
		f.ErrorAt([]any{r}, `%s: is for messages of format = "protobuf"`, what)
	}
	if (r.User == "") != (r.PasswordFile == "") {
		f.ErrorAt([]any{&r.User, &r.PasswordFile}, "%s: user and password_file belong together", what)
	}
	if !f.Good(&r.URL) {
		return
	}
	u, err := url.Parse(r.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "":
		f.ErrorAt([]any{&r.URL}, `%s: url %s: must be that of a schema registry, such as "http://registry:8081"`, what, schema.Quote(schema.Short(withoutPassword(r.URL))))
	case u.User != nil:
		f.ErrorAt([]any{&r.URL}, "%s: url has a user or password in it: write them as user and password_file", what)
	case u.Scheme == "http" && r.TLS != nil:
		f.ErrorAt([]any{&r.URL}, "%s: tls is for https, the url is http", what)
	case u.Scheme == "http" && r.User != "":
		f.WarnAt([]any{&r.URL}, "%s: the password goes over the network as it is: https hides it", what)
	}
}

func shown(mechanism string) string {
	switch SASLMechanism(mechanism) {
	case Plain:
		return "the password"
	case OAuthBearer:
		return "the token"
	}
	return "enough to guess the password"
}

// isTopic follows Kafka's rule for names.
func isTopic(s string) bool {
	return len(s) > 0 && len(s) <= 249 && s != "." && s != ".." && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}) < 0
}

func (f check) clickhouse(c *ClickHouse) {
	what := "clickhouse " + schema.Quote(c.Name)
	f.tls(what, c.TLS)
	f.secret(what, "password_file", &c.PasswordFile)
	if c.PasswordFile != "" && c.User == "" {
		f.WarnAt([]any{&c.PasswordFile}, "%s: password_file without user: the server takes it for the password of its user default; name the user", what)
	}
	if !f.Good(&c.URL) {
		return
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		f.ErrorAt([]any{&c.URL}, `%s: url %s: must be that of the HTTP interface with the table as a parameter, such as "http://ch:8123/?table=int.reports"`, what, schema.Quote(schema.Short(withoutPassword(c.URL))))
		return
	}
	f.parameters(what, c, u)
	f.native(&c.URL, what, u.Port())
	f.replicas(what, c, u)
	if u.User != nil {
		f.ErrorAt([]any{&c.URL}, "%s: url has a user or password in it: write them as user and password_file", what)
	}
	if u.Scheme == "http" && c.TLS != nil {
		f.ErrorAt([]any{&c.URL}, "%s: tls is for https, the url is http", what)
	}
	if u.Scheme == "http" && c.PasswordFile != "" && (len(c.Replicas) > 0 || !strings.HasPrefix(u.Host, "127.") && u.Hostname() != "localhost") {
		f.WarnAt([]any{&c.URL}, "%s: the password goes over the network as it is: https hides it", what)
	}
}

// ipfix checks that an output has a port, and a collector to itself: two would count sequence numbers and name templates at odds.
func (f check) ipfix(x *IPFIX, before []IPFIX) {
	what := "ipfix " + schema.Quote(x.Name)
	if f.tls(what, x.TLS); x.TLS != nil && x.Protocol != TCP && (f.Good(&x.Protocol) || !f.Has(&x.Protocol)) {
		f.ErrorAt([]any{x.TLS}, `%s: tls is for protocol = "tcp"`, what)
	}
	if !f.Good(&x.Address) {
		return
	}
	host, digits, err := net.SplitHostPort(x.Address)
	if n, numErr := strconv.ParseUint(digits, 10, 16); err != nil || numErr != nil || n == 0 || !schema.IsHost(host) {
		f.ErrorAt([]any{&x.Address}, `%s: address %s: must be an address and a port, such as "192.0.2.20:4739"`, what, schema.Quote(schema.Short(x.Address)))
		return
	}
	for i := range before {
		if other := &before[i]; other.Address == x.Address && other.Protocol == x.Protocol {
			f.ErrorAt([]any{&x.Address}, "%s: address %s is that of ipfix %s: each flow would come twice", what, x.Address, schema.Quote(other.Name))
		}
	}
}

// native refuses the ports of the protocol that collect does not speak.
func (f check) native(key any, what, port string) {
	if port == "9000" || port == "9440" {
		f.ErrorAt([]any{key}, "%s: port %s is that of ClickHouse's native protocol; the HTTP interface has 8123, with TLS 8443", what, port)
	}
}

// replicas checks the servers beside that of the URL: each stands once.
func (f check) replicas(what string, c *ClickHouse, u *url.URL) {
	servers := map[string]bool{u.Host: true}
	for i, s := range c.Replicas {
		key := schema.ElementOf(&c.Replicas, i)
		if strings.Contains(s, "/") {
			f.ErrorAt([]any{key}, `%s: replica %s: write HOST:PORT alone; the rest is that of url`, what, schema.Quote(schema.Short(withoutPassword(s))))
			continue
		}
		port, ok := f.endpoint(key, what+": replica", s, false)
		if !ok {
			continue
		}
		f.native(key, what, strconv.Itoa(int(port)))
		if servers[s] {
			f.ErrorAt([]any{key}, "%s: replica %s stands twice, or is the server of url", what, schema.Quote(s))
		}
		servers[s] = true
	}
}

// parameters checks those of the URL: the table, and none that collect sets itself or that has a secret, which
// would stand in logs of proxies and of the server.
func (f check) parameters(what string, c *ClickHouse, u *url.URL) {
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		f.ErrorAt([]any{&c.URL}, "%s: url: parameters cannot be read; write &name=value, and %%XX for special characters", what)
		return
	}
	if q.Get("table") == "" {
		f.ErrorAt([]any{&c.URL}, `%s: url names no table: add ?table=int.reports`, what)
	}
	for _, name := range []string{"user", "password", "quota_key", "access_token"} {
		if q.Has(name) {
			f.ErrorAt([]any{&c.URL}, "%s: url has the parameter %s: servers and proxies log it; write user and password_file", what, name)
		}
	}
	for _, name := range []string{"query", "insert_deduplication_token"} {
		if q.Has(name) {
			f.ErrorAt([]any{&c.URL}, "%s: url has the parameter %s, which collect sets itself; leave it out", what, name)
		}
	}
}

// withoutPassword cuts a URL that cannot be read where a secret may begin.
func withoutPassword(u string) string {
	if i := strings.IndexAny(u, "@?"); i >= 0 {
		return u[:strings.LastIndexAny(u[:i], "/")+1] + "..."
	}
	return u
}
