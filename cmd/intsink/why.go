package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/conf"
	"intsink/engine/inspect"
)

// whyOptions are the flags of why.
type whyOptions struct{ config, url, format string }

func newWhyCommand() *cobra.Command {
	var o whyOptions
	cmd := &cobra.Command{
		Use:   "why FLOW [--config FILE | --url URL] [--format text|json]",
		Short: "Explain what is reported of one flow",
		Long: `Ask a running sink what it knows of one flow: what was last reported of it, the
latencies that new values are compared with, the thresholds in force, what was
withheld, and what the next report would need.

FLOW is the 5-tuple of the original packets, in the direction of the packets that
carry INT, as GET /api/v1/flows lists it: PROTOCOL:SOURCE:PORT-DESTINATION:PORT,
with IPv6 addresses in brackets, and no ports where the protocol has none.

The sink is asked at --url, or where http.listen of the --config file says.
docs/api.md describes the JSON.

Exit codes: 0 success, 1 the flow is unknown or the sink does not answer, 2 wrong usage.`,
		Example: `  intsink why tcp:10.0.0.1:1024-10.1.0.1:80
  intsink why 'udp:[2001:db8::1]:1024-[2001:db8::2]:53' --config /etc/intsink/intsink.hcl
  intsink why icmp:10.0.0.1-10.1.0.1 --format json | jq .hops`,
		Args: oneFlow,
		RunE: func(cmd *cobra.Command, args []string) error {
			return why(cmd.Context(), cmd.OutOrStdout(), args[0], &o)
		},
	}
	cmd.Flags().StringVar(&o.config, "config", "", "configuration file of the running sink")
	cmd.Flags().StringVar(&o.url, "url", "http://127.0.0.1:9465", "HTTP endpoint of the running sink")
	cmd.Flags().StringVar(&o.format, "format", "text", "text: a few lines for people; json: the API's answer")
	cmd.MarkFlagsMutuallyExclusive("config", "url")
	return cmd
}

// oneFlow: what is explained is one flow.
func oneFlow(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fmt.Errorf("why explains one flow, and %d are named: intsink why tcp:10.0.0.1:1024-10.1.0.1:80", len(args))
}

func why(ctx context.Context, stdout io.Writer, flow string, o *whyOptions) error {
	if o.format != "text" && o.format != "json" {
		return fmt.Errorf("--format %q: must be text or json", o.format)
	}
	key, err := inspect.ParseFlowID(flow)
	if err != nil {
		return err
	}
	base, err := sinkURL(o)
	if err != nil {
		return err
	}
	body, err := ask(ctx, base, "/api/v1/flows/"+url.PathEscape(inspect.FlowID(&key)))
	if err != nil {
		return cli.Failed(err)
	}
	if o.format == "text" {
		var d flowDetail
		if err := json.Unmarshal(body, &d); err != nil {
			return cli.Failed(fmt.Errorf("%s: what answers there is no intsink of this version: %w", base, err))
		}
		body = []byte(whyText(&d))
	}
	if _, err = stdout.Write(body); err != nil {
		return cli.Failed(err)
	}
	return nil
}

// sinkURL is where the sink listens: --url, or what the configuration says.
func sinkURL(o *whyOptions) (string, error) {
	if o.config == "" {
		u, err := url.Parse(o.url)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return "", fmt.Errorf("--url %q: must be such as http://127.0.0.1:9465", o.url)
		}
		return u.Scheme + "://" + u.Host, nil
	}
	c, diags := conf.LoadElsewhere(o.config) // its warnings are for who runs it
	if c == nil {
		diags.WriteTo(os.Stderr)
		return "", cli.Failed(fmt.Errorf("%s is not valid: %s", o.config, cli.Count(diags.Count(conf.Error), "error")))
	}
	if c.HTTP.Listen == "" {
		return "", cli.Failed(fmt.Errorf(`%s: http.listen is "", so a sink with this configuration cannot be asked; set it and restart`, o.config))
	}
	return listenURL(c.HTTP.Listen), nil
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

// maxAnswer is more than any answer on one flow.
const maxAnswer = 1 << 20

// ask gets what the sink answers; its errors say what to do.
func ask(ctx context.Context, base, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout+time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		var cause *url.Error
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, fmt.Errorf("the sink cannot be reached at %s: %w; start it, or say where its http.listen is with --url or --config", base, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("the answer of %s breaks off: %w; ask again", base, err)
	}
	if answer.StatusCode == http.StatusOK {
		return body, nil
	}
	var said struct{ Error string }
	if json.Unmarshal(body, &said) != nil || said.Error == "" {
		return nil, fmt.Errorf("%s answers %s: no intsink of this version listens there; say where one does with --url or --config", base, answer.Status)
	}
	return nil, errors.New(said.Error)
}
