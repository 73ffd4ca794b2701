// why: asks the sink for one flow, and has it explained as text or printed as JSON.

package explain

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/engine/aside/inspect"
)

// Options are the flags of why.
type Options struct {
	Sink   client.Options
	Format string
}

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
	sink, err := o.Sink.Open()
	if err != nil {
		return err
	}
	body, err := sink.Get(ctx, "/api/v1/flows/"+url.PathEscape(inspect.FlowID(&key)))
	if err != nil {
		return cli.Failed(err)
	}
	if o.Format == "text" {
		var d flowapi.FlowDetail
		if err := sink.Decode(body, &d); err != nil {
			return cli.Failed(err)
		}
		body = []byte(cli.ScreenOf(stdout).Text(whyText(&d)))
	}
	if _, err = stdout.Write(body); err != nil {
		return cli.Failed(err)
	}
	return nil
}

// Flows are the ids of the flows with the most packets, for the shell to complete; none
// where the sink does not answer.
func Flows(ctx context.Context, o *client.Options) (ids []string) {
	sink, err := o.Open()
	if err != nil {
		return nil
	}
	var list struct{ Items []struct{ ID string } }
	if sink.Read(ctx, "/api/v1/flows?limit=50", &list) != nil {
		return nil
	}
	for _, f := range list.Items {
		ids = append(ids, f.ID)
	}
	return ids
}
