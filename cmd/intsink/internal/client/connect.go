// Connects a Sink: to a unix socket, or to TCP with a token, a client certificate and TLS; says why
// a sink cannot be reached.

package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/trusted"
)

// unixSink is the sink that listens on the unix socket at path. What changes something is sent only to whom that place was given:
// root's configurations have secrets in them.
func unixSink(path string, control bool) *Sink {
	s := &Sink{base: "http://intsink", where: path, socket: path, control: control, pid: new(atomic.Int64)}
	s.client = direct(&http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, "unix", path)
		if err != nil {
			return nil, err
		}
		pid, uid, err := trusted.Peer(c)
		if err == nil && control {
			err = trusted.MayAnswer(path, uid)
		}
		if err != nil {
			c.Close()
			return nil, err
		}
		s.pid.Store(int64(pid))
		return c, nil
	}})
	return s
}

// overTCP is the sink at url, asked with the token, the certificate and the authority that the
// flags name.
func (o *Options) overTCP(url string) (*Sink, error) {
	base, err := baseOf(url)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(base, "https:") && (o.CA != "" || o.Cert != "") {
		return nil, fmt.Errorf("--url %q: --ca and --cert go with https", url)
	}
	s := &Sink{base: base, where: base, client: direct(&http.Transport{})}
	if o.TokenFile != "" && strings.HasPrefix(base, "http:") && !loopback(base) && !o.Insecure {
		return nil, fmt.Errorf("--url %q: the token would go there in clear, for all on the way to read: ask https, or add --insecure", url)
	}
	if o.TokenFile != "" {
		b, err := os.ReadFile(o.TokenFile)
		if err != nil {
			return nil, cli.Failed(fmt.Errorf("--token-file: %w", err))
		}
		s.token = strings.TrimSpace(string(b))
		warnOfReaders("--token-file", o.TokenFile)
	}
	c := &tls.Config{}
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, cli.Failed(fmt.Errorf("--ca: %w", err))
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, cli.Failed(fmt.Errorf("--ca: %s: no certificate in it", o.CA))
		}
	}
	if o.Cert != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, cli.Failed(fmt.Errorf("--cert: %w", err))
		}
		c.Certificates = []tls.Certificate{pair}
		warnOfReaders("--key", o.Key)
	}
	if o.CA != "" || o.Cert != "" {
		s.client = direct(&http.Transport{TLSClientConfig: c})
	}
	return s, nil
}

// warnOfReaders tells of a file with a secret that others may read. It is used nevertheless: whoever wanted it has it.
func warnOfReaders(flag, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o004 != 0 {
		fmt.Fprintf(os.Stderr, "warning: %s: everybody on this machine can read %s: chmod o-r it, and make another secret\n", flag, path)
	}
}

// direct is a client that asks whom it is told to, and nobody else: neither a proxy of the environment nor where an
// answer leads gets tokens and configurations.
func direct(t *http.Transport) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// unreachable says what to do where no answer comes.
func (s *Sink) unreachable(err error) error {
	var (
		unknown  x509.UnknownAuthorityError
		name     x509.HostnameError
		refused  *tls.CertificateVerificationError
		alert    tls.AlertError
		plain    = strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
		expected = "start it, or say where its http.listen is with --url or --config"
	)
	switch {
	case errors.As(err, &unknown):
		expected = "name the authority that signed its certificate with --ca"
	case errors.As(err, &name):
		expected = "name the sink in --url as its certificate does"
	case errors.As(err, &refused):
		expected = "its http.tls.certificate has to be another"
	case errors.As(err, &alert) && alert >= badCertificate && alert <= unknownCA:
		expected = "its http.tls.client_ca has to have signed the certificate of --cert"
	case plain:
		expected = "it has no http.tls: ask http://"
	case s.where != s.base && errors.Is(err, os.ErrPermission):
		expected = "root may ask there, and the user that the sink runs as: use sudo, or ask with --url"
	case s.where == installedSocket:
		expected = `start it, or say where its http.socket is with --socket or --config (a sink that systemd did not start has a socket only where http { socket = "/path" } of its configuration says so)`
	case s.where != s.base:
		expected = "start it, or say where its http.socket is with --socket or --config"
	}
	where := s.where
	if s.nor != "" {
		where, expected = fmt.Sprintf("%s, nor at %s", s.nor, where), "start it, or say where it listens with --config, --url or --socket"
	}
	return fmt.Errorf("the sink cannot be reached at %s: %w; %s", where, err, expected)
}

// Alerts of TLS about the client's certificate (RFC 8446, section 6.2).
const (
	badCertificate tls.AlertError = 42
	unknownCA      tls.AlertError = 48
)
