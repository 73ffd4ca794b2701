// Block notify, whole: HTTP servers that are told what begins and ends to be wrong.

package conf

import (
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"intsink/conf/schema"
)

// MaxNotify is how many blocks notify there may be.
const MaxNotify = 8

// checkNotify checks the URLs.
func (d checker) checkNotify(all []Notify) {
	if len(all) > MaxNotify {
		d.ErrorAt([]any{&all[MaxNotify]}, "%d notify blocks; at most %d", len(all), MaxNotify)
	}
	for i := range all {
		n := &all[i]
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

// Notify is an HTTP server that is told what begins and ends to be wrong.
type Notify struct {
	Name    string
	URL     string        // may be a secret
	Timeout time.Duration // of one request
}

func defaultNotify(int) Notify { return Notify{Timeout: 5 * time.Second} }

func visitNotify(v schema.Visitor, n *Notify) {
	v.Required("url", schema.Text(&n.URL))
	v.Attr("timeout", schema.Duration(&n.Timeout, 100*time.Millisecond, 30*time.Second))
}
