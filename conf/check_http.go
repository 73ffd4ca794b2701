package conf

import (
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"

	"intsink/conf/schema"
)

func (d checker) checkHTTP(c *Config) {
	d.checkListen(&c.HTTP.Listen, "listen", "127.0.0.1:9465", "everybody who reaches it reads flows, paths and counters")
	d.checkListen(&c.HTTP.Pprof, "pprof", "127.0.0.1:6060", "profiles show the memory of the process, and cost time")
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

// checkListen checks an address to listen on; open says what is open to others where
// it is no loopback address.
func (d checker) checkListen(p *string, name, example, open string) {
	if *p == "" {
		return
	}
	host, port, err := net.SplitHostPort(*p)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		d.ErrorAt([]any{p}, `http: %s = %q: must be "address:port", such as %q; "" turns it off`, name, schema.Short(*p), example)
		return
	}
	if a, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !a.IsLoopback()) {
		d.WarnAt([]any{p}, "http: %s = %q is open to other machines, without a password: %s; use %q and a proxy or a tunnel, unless the network is trusted", name, schema.Short(*p), open, example)
	}
}
