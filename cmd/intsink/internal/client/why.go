// The command why: asks the sink about one flow, and has the answer explained.

package client

import (
	"context"
	"io"
	"net/url"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/engine/aside/inspect"
)

// Why asks the sink about one flow and prints what the answer means.
func Why(ctx context.Context, stdout io.Writer, flow string, o *Options) error {
	key, err := inspect.ParseFlowID(flow)
	if err != nil {
		return err
	}
	return Show(ctx, stdout, o, Question{Path: "/api/v1/flows/" + url.PathEscape(inspect.FlowID(&key))}, func(d *flowapi.FlowDetail) string {
		return cli.ScreenOf(stdout).Text(whyText(d, o.Names(ctx)))
	})
}

// Flows are the ids of the flows with the most packets, for the shell to complete; none
// where the sink does not answer.
func Flows(ctx context.Context, o *Options) (ids []string) {
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
