// The command status: asks once and prints links, ports, collectors, workers.

package top

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/status"
)

// Status prints the state of a sink on one screen: links, ports, collectors, workers.
// A sink that is not ready is an error, so that scripts can ask.
func Status(ctx context.Context, stdout io.Writer, o *client.Options) error {
	sink, err := open(ctx, o)
	if err != nil {
		return err
	}
	v := viewer{sink: sink}
	before, err := v.ask(ctx)
	if err == nil {
		err = pause(ctx)
	}
	var s *status.Status
	if err == nil {
		s, err = v.ask(ctx)
	}
	if err != nil {
		return cli.Failed(err)
	}
	var wrong problem.Answer
	if err := sink.Read(ctx, "/api/v1/problems?open=true", &wrong); err != nil {
		return cli.Failed(err)
	}
	sink.places(&wrong)
	screen := cli.ScreenOf(stdout)
	if err := client.Print(stdout, screen.Text(strings.Join(statusLines(s, before, &wrong, screen.Width), "\n")+"\n")); err != nil {
		return err
	}
	if s.Ready != "ok" {
		return cli.Failed(fmt.Errorf("not ready: %s", s.Ready))
	}
	return sink.Whole()
}

// statusLines are the state of a sink: what is wrong, then links, ports, collectors, workers.
func statusLines(s, before *status.Status, wrong *problem.Answer, width int) []string {
	lines := append(append(firstLines(wrong, s.Now), headline(s)), exceptions(s)...)
	for _, t := range []struct {
		table *table
		empty string
	}{{linksOf(s, before), "no link"}, {portsOf(s, before), "no port"}, {collectorsOf(s, nil), "no collector: reports go nowhere"}, {workersOf(s, nil), "no worker"}} {
		lines = append(append(lines, ""), t.table.lines(100, width, t.empty)...)
	}
	lines = append(lines, "", "counters: since the start; /s: now; pause: longest without a poll, last 15 s")
	if w := writesOf(s); len(w.rows) > 0 {
		lines = append(lines, "", fmt.Sprintf("the last %d of %s to change something, the newest first:", len(w.rows), cli.Count(len(s.Writes), "request")))
		lines = append(lines, w.lines(shownWrites, width, "")...)
	}
	return lines
}

// firstLines are a line for each problem, but for those that exceptions tell as they are this instant.
func firstLines(a *problem.Answer, now time.Time) (lines []string) {
	for _, p := range a.Items {
		switch p.Kind {
		case problem.LessDone, problem.BypassSwitch, problem.ConfigOnTrial, problem.Degraded:
		default:
			lines = append(lines, problemTitle(p, now)...)
		}
	}
	return lines
}

// exceptions are what is otherwise than it stays: a mode other than full, a bypass, a
// configuration on trial, how a trial ended, until the next reload, what is degraded, and what INT lacks.
func exceptions(s *status.Status) (lines []string) {
	if m := s.Mode; m != nil && m.Mode != "full" {
		lines = append(lines, fmt.Sprintf("mode %s since %s: %s", m.Mode, m.Since.Format(time.RFC3339), m.Why))
	}
	if m := s.Mode; m != nil && m.Switch != nil && (m.Switch.State != "inline" || m.Switch.Error != "") {
		line := strings.TrimSuffix(fmt.Sprintf("bypass switch: %s: %s", m.Switch.State, m.Switch.Why), ": ")
		if m.Switch.Error != "" {
			line += "; its command failed: " + m.Switch.Error
		}
		lines = append(lines, line)
	}
	if s.Config != nil && s.Config.Trial != nil {
		t := s.Config.Trial
		what, before := t.Of()
		lines = append(lines, fmt.Sprintf("%s is on trial: %s comes back at %s unless intsink confirm comes", what, before, t.Until.Format(time.RFC3339)))
	} else if s.Config != nil && s.Config.LastTrial != nil && s.Config.LastTrial.InForce(s.Config.Generation) {
		lines = append(lines, s.Config.LastTrial.Text())
	}
	for _, d := range s.Degraded {
		lines = append(lines, fmt.Sprintf("degraded: %s %s since %s: %s", d.Part, d.Name, d.Since.Format(time.RFC3339), d.Why))
	}
	return append(append(lines, ofIFA(s)...), lacking(s)...)
}

// shownOdd is how many nodes with values that cannot be stand on the screen; the API has all.
const shownOdd = 5

// ofIFA says which hops of IFA could not be read, and which nodes write values that cannot be.
func ofIFA(s *status.Status) (lines []string) {
	for i := range s.Links {
		if text := status.NoLayoutLine(s.Links[i].NoLayout); text != "" {
			lines = append(lines, fmt.Sprintf("link %s: IFA: %s", s.Links[i].Name, text))
		}
	}
	var nodes []string
	for i := range s.OddValues[:min(len(s.OddValues), shownOdd)] {
		o := &s.OddValues[i]
		nodes = append(nodes, fmt.Sprintf("%d (%s, %.2g%% of packets)", o.Node, cli.Count(int(o.Hops), "hop"), 100*o.Share))
	}
	if len(nodes) == 0 {
		return lines
	}
	line := "IFA: residence times that cannot be, of node " + strings.Join(nodes, ", ")
	if n := len(s.OddValues) - len(nodes); n > 0 {
		line += fmt.Sprintf(" and %d more", n)
	}
	return append(lines, line+": not known, and no event")
}

// lacking says what INT did not carry: nothing of it was looked at.
func lacking(s *status.Status) (lines []string) {
	for _, v := range slices.Sorted(maps.Keys(s.Lacking)) {
		if n := s.Lacking[v]; n > 0 {
			lines = append(lines, fmt.Sprintf("the INT of %s did not carry %s, which a watched event needs: intsink why FLOW says which",
				cli.Count(int(n), "new flow"), strings.ReplaceAll(v, "_", " ")))
		}
	}
	return lines
}

// shownWrites is how many of the last writes stand on the screen; the API has 100.
const shownWrites = 5

func writesOf(s *status.Status) *table {
	t := newTable("time", "who", "what", "result", "?detail")
	for i := range min(len(s.Writes), shownWrites) {
		w := &s.Writes[len(s.Writes)-1-i]
		t.add(w.Time.Format(time.RFC3339), w.Who, w.What, w.Result, cli.Short(w.Detail))
	}
	return t
}

// portsOf has counters since the start, and what is missed now.
func portsOf(s, before *status.Status) *table {
	t := newTable("port", "?device", "link", ">received", "?>sent", "?>missed", "?>missed/s", "?>errors", "?>no mbuf")
	for i, p := range s.Ports {
		missing := "-"
		if before != nil && i < len(before.Ports) {
			missing = rate(p.RxMissed, before.Ports[i].RxMissed, s.Now.Sub(before.Now).Seconds())
		}
		link := "up"
		if !p.LinkUp {
			link = strings.TrimSpace("DOWN " + p.LinkDown)
		}
		t.add(p.Name, p.Device, link, count(float64(p.RxPackets)), count(float64(p.TxPackets)), count(float64(p.RxMissed)), missing,
			count(float64(p.RxErrors+p.RxUncut+p.TxErrors)), count(float64(p.RxNoMbuf)))
	}
	return t
}
