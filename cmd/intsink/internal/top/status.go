// The command status: one screen of links, ports, collectors.

package top

import (
	"context"
	"fmt"
	"io"
	"strings"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/status"
)

// Status prints the state of a sink on one screen: links, ports, collectors, workers.
// A sink that is not ready is an error, so that scripts can ask.
func Status(ctx context.Context, stdout io.Writer, o *client.Options) error {
	sink, err := o.Open()
	if err != nil {
		return err
	}
	var s status.Status
	if err := sink.Read(ctx, "/api/v1/status", &s); err != nil {
		return cli.Failed(err)
	}
	lines := []string{headline(&s)}
	for _, t := range []struct {
		table *table
		empty string
	}{{linksOf(&s, nil), "no link"}, {portsOf(&s), "no port"}, {collectorsOf(&s, nil), "no collector: reports go nowhere"}, {workersOf(&s, nil), "no worker"}} {
		lines = append(append(lines, ""), t.table.lines(100, t.empty)...)
	}
	if _, err := io.WriteString(stdout, strings.Join(lines, "\n")+"\n"); err != nil {
		return cli.Failed(err)
	}
	if s.Ready != "ok" {
		return cli.Failed(fmt.Errorf("not ready: %s", s.Ready))
	}
	return nil
}

func portsOf(s *status.Status) *table {
	t := newTable("port", "device", "link", ">received", ">sent", ">missed", ">errors", ">no mbuf")
	for _, p := range s.Ports {
		link := "up"
		if !p.LinkUp {
			link = strings.TrimSpace("DOWN " + p.LinkDown)
		}
		t.add(p.Name, p.Device, link, count(float64(p.RxPackets)), count(float64(p.TxPackets)), count(float64(p.RxMissed)),
			count(float64(p.RxErrors+p.TxErrors)), count(float64(p.RxNoMbuf)))
	}
	return t
}
