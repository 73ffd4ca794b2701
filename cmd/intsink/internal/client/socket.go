package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"

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
	cmd.Flags().StringVar(&o.Config, "config", "", "configuration file of the running sink, which says where its socket is")
	cmd.Flags().StringVar(&o.URL, "url", "", "HTTP endpoint of the running sink, in place of its socket")
	cmd.MarkFlagsMutuallyExclusive("socket", "config", "url")
}

// OpenControl finds where the sink takes what changes something: its unix socket, unless
// --url names an endpoint.
func (o *Options) OpenControl() (*Sink, error) {
	if o.URL != "" {
		return o.Open()
	}
	path := o.Socket
	if o.Config != "" {
		c, diags := conf.LoadElsewhere(o.Config) // its warnings are for who runs it
		if c == nil {
			diags.WriteTo(os.Stderr)
			return nil, cli.Failed(fmt.Errorf("%s is not valid: %s; the sink goes on with what it has", o.Config, cli.Count(diags.Count(conf.Error), "error")))
		}
		if c.HTTP.Socket == "" {
			return nil, cli.Failed(fmt.Errorf(`%s: http.socket is "": nothing is taken on a socket; set it and restart, or send the sink SIGHUP`, o.Config))
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
	return &Sink{"http://intsink", path, &http.Client{Transport: &http.Transport{DialContext: dial}}}
}
