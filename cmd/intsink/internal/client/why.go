// The command why: asks the sink about one flow, and has the answer explained.

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/engine/aside/inspect"
)

// Why asks the sink about one flow and prints what the answer means.
func Why(ctx context.Context, stdout io.Writer, flow string, o *Options) error {
	if from, to, ok := strings.Cut(flow, ","); ok {
		var err error
		if flow, err = only(ctx, from, to, o); err != nil {
			return err
		}
	}
	key, err := inspect.ParseFlowID(flow)
	if err != nil {
		return err
	}
	return Show(ctx, stdout, o, Question{Path: "/api/v1/flows/" + url.PathEscape(inspect.FlowID(&key))}, func(d *flowapi.FlowDetail) string {
		return cli.PageOf(stdout).Text(whyText(d, o.Names(ctx)))
	})
}

// only is the id of the one flow from an address to another; where there are more, the error lists them.
func only(ctx context.Context, from, to string, o *Options) (string, error) {
	sink, err := o.Open()
	if err != nil {
		return "", err
	}
	var list struct{ Items []struct{ ID string } }
	q := url.Values{"source": {from}, "destination": {to}, "limit": {"20"}}
	if err := sink.Read(ctx, "/api/v1/flows?"+q.Encode(), &list); err != nil {
		return "", cli.Failed(err)
	}
	if len(list.Items) == 1 {
		return list.Items[0].ID, nil
	}
	text := "no flow is known from " + from + " to " + to
	if len(list.Items) > 1 {
		text = fmt.Sprintf("there is more than one flow from %s to %s; name one:", from, to)
	}
	for _, f := range list.Items {
		text += "\n  intsink why " + f.ID
	}
	return "", cli.Failed(errors.New(text))
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
