// Options: the flags that name a running sink, and where they say that it is asked.

package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/trusted"
	"intsink/cmd/intsink/internal/names"
	"intsink/conf"
)

// Options are the flags that name the sink, and say how its answer is printed.
type Options struct {
	Config, URL, Socket string
	Address             string // URL without a scheme: of a sink, or of a collector over all sinks
	TokenFile, CA       string // for URL
	Cert, Key           string // for URL: a client certificate
	Insecure            bool   // TokenFile may go to another machine without TLS
	Control             bool   // it is asked where it takes what changes something
	Format              string // "json": the answer as it is
	formats             []string
	Numeric             bool // numbers, not names of nodes and hosts
}

// Where commands look for a running sink if no flag names one.
const (
	// installedSocket is the unix socket of a sink that systemd runs, unless its configuration says
	// otherwise: the unit has RuntimeDirectory=intsink.
	installedSocket = "/run/intsink/api.sock"
	// defaultURL is the default of http.listen.
	defaultURL = "http://127.0.0.1:9465"
)

// Register adds the flags to a command that only reads.
func (o *Options) Register(cmd *cobra.Command) {
	o.register(cmd, "file with a token of the sink (http { token })")
	cmd.Flags().StringVar(&o.Address, "address", "", "HOST:PORT of a running sink, or of intsink-collect with network { sinks }, which answers over all of them (https with --ca or --cert)")
	cmd.MarkFlagsMutuallyExclusive("config", "url", "address")
	cmd.MarkFlagsMutuallyExclusive("socket", "address")
}

// RegisterControl adds the flags to a command that changes something.
func (o *Options) RegisterControl(cmd *cobra.Command) {
	o.Control = true
	o.register(cmd, "file with the token that may write (http { token })")
}

// RegisterHere is RegisterControl for what is done on the sink's machine alone.
func (o *Options) RegisterHere(cmd *cobra.Command) {
	o.Control = true
	o.registerPlace(cmd)
}

func (o *Options) registerPlace(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.Config, "config", "", "configuration of the running sink, a file or a folder, which says where it listens")
	cmd.Flags().StringVar(&o.Socket, "socket", "", "unix socket of the running sink (default "+installedSocket+" where it may be opened)")
}

func (o *Options) register(cmd *cobra.Command, token string) {
	o.registerPlace(cmd)
	cmd.Flags().StringVar(&o.URL, "url", "", "HTTP endpoint of the running sink (default "+defaultURL+" where there is no such socket)")
	cmd.Flags().StringVar(&o.TokenFile, "token-file", "", "with --url: "+token)
	cmd.Flags().StringVar(&o.CA, "ca", "", "with --url https://...: PEM file of the authority that signed the sink's certificate (default the system's)")
	cmd.Flags().StringVar(&o.Cert, "cert", "", "with --url https://...: PEM file of a client certificate, in place of a token (http { tls { client_ca } })")
	cmd.Flags().StringVar(&o.Key, "key", "", "with --cert: PEM file of its key")
	cmd.Flags().BoolVar(&o.Insecure, "insecure", false, "with --token-file: send the token to another machine without TLS")
	cmd.MarkFlagsMutuallyExclusive("socket", "url")
	cmd.MarkFlagsRequiredTogether("cert", "key")
}

// RegisterFormat adds --format: text, which is said to be such, json, and more formats ("html: a page").
func (o *Options) RegisterFormat(cmd *cobra.Command, text string, more ...string) {
	usages := append([]string{"text: " + text, "json: the API's answer"}, more...)
	for _, u := range usages {
		name, _, _ := strings.Cut(u, ":")
		o.formats = append(o.formats, name)
	}
	cmd.Flags().StringVar(&o.Format, "format", "text", strings.Join(usages, "; "))
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(o.formats, cobra.ShellCompDirectiveNoFileComp))
}

// named is the sink that --url or --socket names; nil: neither is given.
func (o *Options) named() (*Sink, error) {
	switch {
	case o.Address != "" && (o.CA != "" || o.Cert != ""):
		return o.overTCP("https://" + o.Address)
	case o.Address != "":
		return o.overTCP("http://" + o.Address)
	case o.URL != "":
		return o.overTCP(o.URL)
	case o.TokenFile != "" || o.CA != "" || o.Cert != "":
		return nil, errors.New("--token-file, --ca and --cert go with --url or --address: on its socket the sink knows who asks")
	case o.Socket != "":
		return unixSink(o.Socket, o.Control), nil
	}
	return nil, nil
}

// Open finds where the sink answers: at --url, on --socket, or where --config says. Else on the socket that an installed sink has,
// and where nobody listens there, at http.listen's default: a sink that is there says where its own socket is, which takes what
// changes something. Its errors are wrong usage, or cli.Failed.
func (o *Options) Open() (*Sink, error) {
	if n := len(o.formats); n > 0 && !slices.Contains(o.formats, o.Format) {
		return nil, fmt.Errorf("--format %q: must be %s or %s", o.Format, strings.Join(o.formats[:n-1], ", "), o.formats[n-1])
	}
	s, err := o.named()
	switch {
	case s != nil || err != nil:
		return s, err
	case o.Config != "":
		return o.configured()
	}
	return o.orAt(unixSink(socketOf(&conf.HTTP{Socket: "auto"}), o.Control), defaultURL), nil
}

// orAt has s, where nobody listens on its socket, be the sink at url.
func (o *Options) orAt(s *Sink, url string) *Sink {
	s.otherwise = func(ctx context.Context) *Sink {
		tcp := &Sink{base: url, where: url, client: direct(&http.Transport{})}
		var said struct{ Socket string }
		if o.Control && tcp.Read(ctx, "/api/v1/status", &said) == nil && unix.Access(said.Socket, unix.W_OK) == nil && ofThisUser(said.Socket) {
			return unixSink(said.Socket, true)
		}
		tcp.nor = s.where
		return tcp
	}
	return s
}

// ofThisUser tells whether root, or this process's user, listens on the socket at path. Whoever has the TCP port may say any path:
// root sends nothing to another user's process for that, but where --socket names it.
func ofThisUser(path string) bool {
	c, err := net.Dial("unix", path)
	if err != nil {
		return false
	}
	defer c.Close()
	_, uid, err := trusted.Peer(c)
	return err == nil && (uid == 0 || uid == os.Geteuid())
}

// Names are those of the sink's configuration; nil where numbers are wanted, and of a sink that knows none.
func (o *Options) Names(ctx context.Context) *names.Book {
	sink, err := o.Open()
	if err != nil || o.Numeric {
		return nil
	}
	var b names.Book
	if sink.Read(ctx, "/api/v1/names", &b) != nil {
		return nil
	}
	return &b
}

// configured is the sink that runs with --config. What changes something it takes on its socket. So
// it does a question, where it does not take those from this machine as they are: by TLS, whose
// certificate is not for the address that it listens on, or with a token, which it wants on all
// addresses but those of the loopback.
func (o *Options) configured() (*Sink, error) {
	c, diags := conf.LoadWithoutHosts(o.Config) // its warnings are for who runs it
	if c == nil {
		cli.Diagnose(os.Stderr, diags)
		if o.Control {
			return nil, cli.Failed(fmt.Errorf("%s is not valid: %s; the sink goes on with what it has; if it is valid with the sink's own environment and names, say where its socket is with --socket", o.Config, cli.Count(diags.Count(conf.Error), "error")))
		}
		return nil, cli.NotValid(o.Config, diags)
	}
	listen, secret := listenURL(c.HTTP.Listen), len(c.HTTP.Tokens) > 0
	switch {
	case !o.Control && c.HTTP.Listen != "" && c.HTTP.TLS == nil && c.HTTP.LocalReads && (!secret || loopback(listen)):
		return o.overTCP(listen)
	case c.HTTP.Socket != "" && c.HTTP.Listen != "" && c.HTTP.TLS == nil && loopback(listen):
		return o.orAt(unixSink(socketOf(&c.HTTP), o.Control), listen), nil // a sink that systemd did not start has none by default, and says so
	case c.HTTP.Socket != "":
		return unixSink(socketOf(&c.HTTP), o.Control), nil
	case o.Control:
		return nil, cli.Failed(fmt.Errorf(`%s: http.socket is "": say where the running sink's socket is with --socket`, o.Config))
	case c.HTTP.Listen != "":
		return nil, cli.Failed(fmt.Errorf(`%s: http.socket is "", and http.listen takes a token or TLS: ask with --url, --token-file and --ca`, o.Config))
	}
	return nil, cli.Failed(fmt.Errorf(`%s: http.listen and http.socket are "", so a sink with this configuration cannot be asked; set one of them and reload`, o.Config))
}

// socketOf is the path of the socket that h names.
func socketOf(h *conf.HTTP) string {
	if path := h.SocketPath(os.Getenv); path != "" {
		return path
	}
	return installedSocket
}

// listenURL is where to reach what listens on address: on this machine where it
// listens everywhere.
func listenURL(address string) string {
	host, port, _ := net.SplitHostPort(address) // conf has checked it
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return "http://" + net.JoinHostPort(host, port)
}

// loopback tells whether requests to base stay on this machine.
func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// baseOf is the scheme and host of --url.
func baseOf(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("--url %q: must be such as %s", text, defaultURL)
	}
	return u.Scheme + "://" + u.Host, nil
}
