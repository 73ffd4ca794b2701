// The command mitigate: asks the sink for its rules, adds and removes rules, prints them.

package mitigation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
)

// Options are the flags of the commands.
type Options struct {
	Sink client.Options
	Rate string // the rate of action police, such as "10M"
	TTL  time.Duration
	Request
}

const path = "/api/v1/mitigations"

// RunList prints the rules of the sink.
func RunList(ctx context.Context, w io.Writer, o *Options) error {
	return client.Show(ctx, w, &o.Sink, client.Question{Path: path}, func(l *List) string { return l.text(time.Now()) })
}

// RunAdd adds the rule that the flags describe, and prints it.
func RunAdd(ctx context.Context, w io.Writer, o *Options) error {
	o.Request.TTL = Life(o.TTL)
	if o.Rate != "" {
		rate, err := rateOf(o.Rate)
		if err != nil {
			return err
		}
		o.Request.Rate = rate
	}
	if o.Match.Empty() {
		return errors.New("a rule without a match would select every packet: name at least one of --source, --destination, --protocol, --source-port, --destination-port, --device-id and --source-mac (all of IPv4: --destination 0.0.0.0/0)")
	}
	if _, _, err := o.Request.compile(); err != nil {
		return client.InFlags(err, nil)
	}
	return o.change(ctx, w, client.Question{Method: http.MethodPost, Path: path, JSON: &o.Request})
}

// RunRemove removes a rule, and prints it.
func RunRemove(ctx context.Context, w io.Writer, o *Options, id string) error {
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return fmt.Errorf("%.40q is no rule's ID, which is a number: intsink mitigate list shows them", id)
	}
	return o.change(ctx, w, client.Question{Method: http.MethodDelete, Path: path + "/" + url.PathEscape(id)})
}

func (o *Options) change(ctx context.Context, w io.Writer, q client.Question) error {
	return client.InFlags(client.Show(ctx, w, &o.Sink, q, func(r *Rule) string { return (&List{Rules: []Rule{*r}}).table(time.Now()) }), nil)
}

// text returns the table of l, with remarks below it.
func (l *List) text(now time.Time) string {
	switch {
	case len(l.Links) == 0:
		return "no link has mitigation: set link { mitigation = true } and restart\n"
	case len(l.Rules) == 0:
		return fmt.Sprintf("no rules; they would hold for %s\n", strings.Join(l.Links, ", "))
	}
	return l.table(now) + fmt.Sprintf("%s of at most %d, for %s; the first that selects a packet decides\n", cli.Count(len(l.Rules), "rule"), l.Capacity, strings.Join(l.Links, ", "))
}

func (l *List) table(now time.Time) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "ID\tACTION\tENDS IN\tPACKETS\tDROPPED\tMATCH\tCOMMENT\n")
	for _, r := range l.Rules {
		action := r.Action
		if r.Rate > 0 {
			action += " " + strconv.FormatUint(r.Rate, 10) + " bit/s"
		}
		fmt.Fprintf(w, "%d\t%s\t%v\t%d\t%d\t%s\t%s\n", r.ID, action, max(r.Expires.Sub(now), 0).Round(time.Second), r.Packets, r.DroppedPackets, r.Match.Text(), r.Comment)
	}
	w.Flush()
	return b.String()
}

// rateOf reads bits per second with k, M or G behind.
func rateOf(s string) (uint64, error) {
	number, unit := s, uint64(1)
	for suffix, n := range map[string]uint64{"k": 1e3, "M": 1e6, "G": 1e9} {
		if t, ok := strings.CutSuffix(s, suffix); ok {
			number, unit = t, n
		}
	}
	n, err := strconv.ParseUint(number, 10, 40)
	if err != nil {
		return 0, fmt.Errorf("--rate %q: must be bits per second, such as 500k, 10M or 1G", s)
	}
	return n * unit, nil
}
