// What an incident says beyond its verdict: the episodes of a queue in one line, and where a node is that no flow passes.

package flowapi

import (
	"fmt"
	"strconv"

	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/verdict"
)

// sayEpisodes has a line for each queue: how often it was congested, from when to when, and the episode with the most bytes.
func (x *Incident) sayEpisodes() {
	type place struct {
		node  uint32
		queue string
	}
	var order []place
	all := map[place][]*EpisodeItem{}
	for _, e := range x.Episodes {
		at := place{e.Node, fmt.Sprintf("queue %d of node %d", e.Queue, e.Node)}
		if e.Egress != nil {
			at.queue += fmt.Sprintf(", egress %d", *e.Egress)
		}
		if all[at] == nil {
			order = append(order, at)
		}
		all[at] = append(all[at], e)
	}
	for _, at := range order {
		x.say("%s", at.queue+" was congested "+episodesText(all[at]))
	}
}

// episodesText says when a queue had these episodes, and who filled the one with the most bytes.
func episodesText(all []*EpisodeItem) string {
	first, last, most := all[0], all[0], all[0]
	for _, e := range all {
		if e.Begin.Before(first.Begin) {
			first = e
		}
		if e.End == nil || last.End != nil && e.End.After(*last.End) {
			last = e
		}
		if e.Bytes > most.Bytes {
			most = e
		}
	}
	text := ""
	if len(all) > 1 {
		text = fmt.Sprintf("%d times ", len(all))
	}
	text += "from " + first.Begin.Format(clock)
	if last.End != nil {
		text += " to " + last.End.Format(clock)
	} else {
		text += " on, and is now"
	}
	if most.Doubt != "" {
		return text + "; " + most.Doubt + ": who filled it is not known"
	}
	if len(most.Culprits) == 0 {
		return text
	}
	text += "; "
	if len(all) > 1 {
		text += "at most from " + most.Begin.Format(clock) + ": "
	}
	text += fmt.Sprintf("%s filled it, with %.0f %% of %s", most.Culprits[0].Flow, 100*most.Culprits[0].Share, bytesText(most.Bytes))
	if share := 100 * float64(most.OtherBytes) / float64(max(most.Bytes, 1)); share >= 1 {
		text += fmt.Sprintf(", flows without a record: %.0f %%", share)
	}
	return text
}

const clock = "15:04:05"

// bytesText is n bytes in the unit that reads best.
func bytesText(n uint64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if float64(n) >= u.size {
			return fmt.Sprintf("%.3g %s", float64(n)/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// sayWhereNode replaces that no flow passes a node by what is known of it: that it is gone, since when, and where its flows went.
func (in *API) sayWhereNode(x *Incident, node uint32) {
	x.Why = x.Why[:0]
	if in.Problems != nil {
		for _, p := range in.Problems() {
			if p.Kind != problem.NodeGone || p.Until != nil || len(p.Place) == 0 || p.Place[0].ID != strconv.FormatUint(uint64(node), 10) {
				continue
			}
			f := verdict.Finding{Verdict: string(problem.NodeGone), At: p.Where()}
			x.Verdict, x.At, x.Title, x.Problems = f.Verdict, f.At, verdict.Headline([]verdict.Finding{f}), append(x.Problems, p)
			x.say("the last packet came through it at %s", p.Since.UTC().Format(clock))
			x.say("its flows went elsewhere, for example from %s to %s: %s", p.Evidence.From, p.Evidence.To, p.FlowsText())
			return
		}
	}
	if in.Seen != nil {
		if at, known := in.Seen(node); known {
			x.say("no flow passes node %d now, and none is known to have left it for another way; the last packet came through it at %s", node, at.UTC().Format(clock))
			return
		}
	}
	x.say("no flow passes node %d, and none did in the last day: intsink paths has the nodes that there are", node)
}
