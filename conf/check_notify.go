// Checks blocks notify: what a URL must have, and how many there may be.

package conf

import (
	"net/netip"
	"net/url"
	"strconv"

	"intsink/conf/schema"
)

// MaxNotify is how many blocks notify there may be.
const MaxNotify = 8

// checkNotify checks the URLs.
func (d checker) checkNotify(c *Config) {
	if len(c.Notify) > MaxNotify {
		d.ErrorAt([]any{&c.Notify[MaxNotify]}, "%d notify blocks; at most %d", len(c.Notify), MaxNotify)
	}
	for i := range c.Notify {
		n := &c.Notify[i]
		if wrong := wrongURL(n.URL); wrong != "" && d.Good(&n.URL) {
			d.ErrorAt([]any{&n.URL}, `notify %q: url %s; write such as "https://hooks.example.net/intsink"`, schema.Short(n.Name), wrong)
		} else if u, err := url.Parse(n.URL); err == nil && u.Scheme == "http" && wrong == "" && !loopbackHost(u.Hostname()) {
			d.WarnAt([]any{&n.URL}, "notify %q: url is http: who listens on the way reads what is wrong, and can write there; write https", schema.Short(n.Name))
		}
	}
}

func wrongURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "is none"
	case u.Scheme != "http" && u.Scheme != "https":
		return "must begin with https:// or http://"
	case u.Hostname() == "":
		return "has no host"
	case u.User != nil:
		return "has a user or password in it, which logs on the way would show"
	case u.Fragment != "":
		return "has a part behind #, which nobody gets"
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return "has a port that is none"
		}
	}
	return ""
}

// loopbackHost tells whether what is sent to host stays on this machine.
func loopbackHost(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}
