package explain

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

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/conf"
	"intsink/engine/inspect"
)

// Options are the flags of why.
type Options struct{ Config, URL, Format string }

// Run asks the sink about one flow and writes what it answers. Errors but those of the
// sink are wrong usage.
func Run(ctx context.Context, stdout io.Writer, flow string, o *Options) error {
	if o.Format != "text" && o.Format != "json" {
		return fmt.Errorf("--format %q: must be text or json", o.Format)
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
	if o.Format == "text" {
		var d flowapi.FlowDetail
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
func sinkURL(o *Options) (string, error) {
	if o.Config == "" {
		u, err := url.Parse(o.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return "", fmt.Errorf("--url %q: must be such as http://127.0.0.1:9465", o.URL)
		}
		return u.Scheme + "://" + u.Host, nil
	}
	c, diags := conf.LoadElsewhere(o.Config) // its warnings are for who runs it
	if c == nil {
		diags.WriteTo(os.Stderr)
		return "", cli.Failed(fmt.Errorf("%s is not valid: %s", o.Config, cli.Count(diags.Count(conf.Error), "error")))
	}
	if c.HTTP.Listen == "" {
		return "", cli.Failed(fmt.Errorf(`%s: http.listen is "", so a sink with this configuration cannot be asked; set it and restart`, o.Config))
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
	ctx, cancel := context.WithTimeout(ctx, flowapi.Timeout+time.Second)
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
