// Block http, whole: the endpoint; its socket; what guards it.

package conf

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"

	"intsink/conf/schema"
)

func (d checker) checkHTTP(h *HTTP) {
	if d.checkListen(&h.Listen, "listen", "127.0.0.1:9465", "everybody who reaches it reads flows, paths and counters", len(h.Tokens) > 0 || h.TLS != nil && h.TLS.ClientCA != "") && h.TLS == nil {
		d.WarnAt([]any{&h.Listen}, "http: listen = %q takes tokens from other machines without TLS: who listens on the way has them; add tls { certificate key }", schema.Short(h.Listen))
	}
	CheckTokens(d.File, h.Tokens)
	if h.Listen == "" && (len(h.Tokens) > 0 || h.TLS != nil) {
		d.WarnAt([]any{&h.Listen}, `http: listen = "": tokens and tls are for nothing`)
	}
	if !h.LocalReads && len(h.Tokens) == 0 && (h.TLS == nil || h.TLS.ClientCA == "") && h.Listen != "" {
		d.ErrorAt([]any{&h.LocalReads}, "http: local_reads = false, and there is neither a token nor tls { client_ca }: nobody could read over TCP; add one")
	}
	if d.checkListen(&h.Pprof, "pprof", "127.0.0.1:6060", "", true) {
		d.WarnAt([]any{&h.Pprof}, `http: pprof = %q takes tokens that write from other machines, and has no TLS: who listens on the way has them; use "127.0.0.1:6060" and a tunnel`, schema.Short(h.Pprof))
	}
	if s := h.Socket; s != "" && s != "auto" && (!filepath.IsAbs(s) || len(s) > maxSocketPath) {
		d.ErrorAt([]any{&h.Socket}, `http: socket = %q: must be an absolute path of at most %d bytes, such as "/run/intsink/api.sock"; "auto": api.sock in systemd's runtime directory; "" turns it off`, schema.Short(s), maxSocketPath)
	}
}

// maxSocketPath is what the kernel takes (unix(7)): sun_path with its last zero.
const maxSocketPath = 107

// SocketPath is where the API's unix socket is, "" for none. "auto" stands for api.sock in
// the directory that systemd made for the unit, which environment names
// (RUNTIME_DIRECTORY, systemd.exec(5)), and for none where systemd did not.
func (h *HTTP) SocketPath(environment func(string) string) string {
	if h.Socket != "auto" {
		return h.Socket
	}
	first, _, _ := strings.Cut(environment("RUNTIME_DIRECTORY"), ":")
	if first == "" {
		return ""
	}
	return filepath.Join(first, "api.sock")
}

// CheckTokens checks the hashes of the tokens of an HTTP endpoint, in this configuration and others.
func CheckTokens(d *schema.File, tokens []Token) {
	names := map[string]string{}
	for i := range tokens {
		t := &tokens[i]
		sum := strings.ToLower(t.SHA256)
		if other, twice := names[sum]; twice && sum != "" {
			d.ErrorAt([]any{&t.SHA256}, "http: token %q: sha256 is that of token %q too: a token may write, or it may not; each needs its own", schema.Short(t.Name), schema.Short(other))
		}
		names[sum] = t.Name
		if b, err := hex.DecodeString(t.SHA256); t.SHA256 != "" && (err != nil || len(b) != sha256.Size) {
			d.ErrorAt([]any{&t.SHA256}, `http: token %q: sha256 must be the 64 hexadecimal digits that printf %%s "$TOKEN" | sha256sum prints`, schema.Short(t.Name))
		}
		if t.SHA256 == emptySHA256 {
			d.ErrorAt([]any{&t.SHA256}, "http: token %q: sha256 is that of nothing: everybody would have the token", schema.Short(t.Name))
		}
	}
}

// emptySHA256 is the SHA-256 of no bytes.
const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// checkListen checks an address to listen on. An address that other machines can reach, and
// that neither tokens nor certificates guard, is warned of: open names what it lets them do.
// It returns whether the address is reachable from other machines and guarded.
func (d checker) checkListen(p *string, name, example, open string, guarded bool) bool {
	if *p == "" {
		return false
	}
	host, port, err := net.SplitHostPort(*p)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		d.ErrorAt([]any{p}, `http: %s = %q: must be "address:port", such as %q; "" turns it off`, name, schema.Short(*p), example)
		return false
	}
	if a, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !a.IsLoopback()) {
		if guarded {
			return true
		}
		d.WarnAt([]any{p}, "http: %s = %q is open to other machines, without a password: %s; use %q and a proxy or a tunnel, unless the network is trusted", name, schema.Short(*p), open, example)
	}
	return false
}

// HTTP is the endpoint for metrics, health, the API and the page.
type HTTP struct {
	Listen string // "" = off
	Socket string // path of the unix socket; "auto": see SocketPath; "" = off
	Pprof  string // address of Go's profiles, apart from the rest; "" = off
	TLS    *TLS   // on Listen; nil: none
	Tokens []Token
	Hosts  []string // names of this machine that clients may ask by over TCP without TLS

	LocalReads bool // requests from this machine over TCP may read without a token
}

// TLS names PEM files. Whoever has the key of a client certificate that an authority in
// ClientCA issued may write.
type TLS struct{ Certificate, Key, ClientCA string }

// Token gives a role to whoever sends its secret over TCP.
type Token struct {
	Name   string
	SHA256 string // of the secret, 64 hexadecimal digits
	Role   TokenRole
}

// TokenRole is http.token.role: what the bearer of a token may do.
type TokenRole string

// The values of http.token.role.
const (
	ReadRole  TokenRole = "read"
	WriteRole TokenRole = "write" // and read
)

// VisitServerTLS is the schema of block tls of an HTTP endpoint, in this configuration and others.
func VisitServerTLS(v schema.Visitor, t **TLS) {
	v.Optional("tls", schema.Pointer(t, func() TLS { return TLS{} }, func(v schema.Visitor, t *TLS) {
		v.Required("certificate", schema.Text(&t.Certificate))
		v.Required("key", schema.Text(&t.Key))
		v.Attr("client_ca", schema.Text(&t.ClientCA))
	}))
}

func defaultHTTP() HTTP { return HTTP{Listen: "127.0.0.1:9465", Socket: "auto", LocalReads: true} }

func visitHTTP(v schema.Visitor, h *HTTP) {
	v.Attr("listen", schema.Text(&h.Listen))
	v.Attr("socket", schema.Text(&h.Socket))
	v.Attr("pprof", schema.Text(&h.Pprof))
	v.Attr("hosts", schema.Texts(&h.Hosts))
	v.Attr("local_reads", schema.Boolean(&h.LocalReads))
	VisitServerTLS(v, &h.TLS)
	v.Blocks("token", schema.Slice(&h.Tokens, func(int) Token { return Token{Role: "read"} }, func(t *Token) *string { return &t.Name }, func(v schema.Visitor, t *Token) {
		v.Required("sha256", schema.Text(&t.SHA256))
		v.Attr("role", schema.Choice(&t.Role, ReadRole, WriteRole))
	}))
}
