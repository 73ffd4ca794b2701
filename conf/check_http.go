// Checks block http: listen addresses that are open to others, TLS, tokens, the unix
// socket's path.

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

func (d checker) checkHTTP(c *Config) {
	h := &c.HTTP
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
	if s := c.HTTP.Socket; s != "" && s != "auto" && (!filepath.IsAbs(s) || len(s) > maxSocketPath) {
		d.ErrorAt([]any{&c.HTTP.Socket}, `http: socket = %q: must be an absolute path of at most %d bytes, such as "/run/intsink/api.sock"; "auto": api.sock in systemd's runtime directory; "" turns it off`, schema.Short(s), maxSocketPath)
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
