// Opens a Sink for requests that change it: by its unix socket, or by TCP with a token.

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

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/conf"
)

// installedSocket is where a sink that systemd runs has its unix socket, unless its
// configuration says otherwise: the unit has RuntimeDirectory=intsink.
const installedSocket = "/run/intsink/api.sock"

// RegisterControl adds --socket, --config and --url to a command that changes something.
func (o *Options) RegisterControl(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.Socket, "socket", "", "unix socket of the running sink (default "+installedSocket+")")
	cmd.Flags().StringVar(&o.Config, "config", "", "configuration of the running sink, a file or a folder, which says where its socket is")
	cmd.Flags().StringVar(&o.URL, "url", "", "HTTP endpoint of the running sink, in place of its socket")
	cmd.Flags().StringVar(&o.TokenFile, "token-file", "", "with --url: file with the token that may write (http { token })")
	cmd.Flags().StringVar(&o.CA, "ca", "", "with --url https://...: PEM file of the authority that signed the sink's certificate (default the system's)")
	cmd.MarkFlagsMutuallyExclusive("socket", "url")
}

// OpenControl finds where the sink takes what changes something: its unix socket, unless
// --url names an endpoint.
func (o *Options) OpenControl() (*Sink, error) {
	if o.URL != "" {
		return (&Options{URL: o.URL, TokenFile: o.TokenFile, CA: o.CA}).Open()
	}
	if o.TokenFile != "" || o.CA != "" {
		return nil, errors.New("--token-file and --ca go with --url: on its socket the sink knows who asks")
	}
	path := o.Socket
	if o.Config != "" && path == "" {
		c, diags := conf.LoadElsewhere(o.Config) // its warnings are for who runs it
		if c == nil {
			diags.WriteTo(os.Stderr)
			return nil, cli.Failed(fmt.Errorf("%s is not valid: %s; the sink goes on with what it has", o.Config, cli.Count(diags.Count(conf.Error), "error")))
		}
		if c.HTTP.Socket == "" {
			return nil, cli.Failed(fmt.Errorf(`%s: http.socket is "": say where the running sink's socket is with --socket`, o.Config))
		}
		path = c.HTTP.SocketPath(os.Getenv)
	}
	if path == "" {
		automatic := conf.HTTP{Socket: "auto"}
		path = automatic.SocketPath(os.Getenv)
	}
	if path == "" {
		path = installedSocket
	}
	return unixSink(path), nil
}

// unixSink is the sink that listens on the unix socket at path.
func unixSink(path string) *Sink {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	return &Sink{base: "http://intsink", where: path, client: &http.Client{Transport: &http.Transport{DialContext: dial}}}
}

// overTCP is the sink at base, asked with the token and the authority that the flags name.
func (o *Options) overTCP(base string) (*Sink, error) {
	s := &Sink{base: base, where: base, client: http.DefaultClient}
	if o.TokenFile != "" {
		b, err := os.ReadFile(o.TokenFile)
		if err != nil {
			return nil, cli.Failed(fmt.Errorf("--token-file: %w", err))
		}
		s.token = strings.TrimSpace(string(b))
	}
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, cli.Failed(fmt.Errorf("--ca: %w", err))
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, cli.Failed(fmt.Errorf("--ca: %s: no certificate in it", o.CA))
		}
		s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	}
	return s, nil
}
