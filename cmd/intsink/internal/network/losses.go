// Losses: how many packets flows lost since that began, and what share of theirs that is.

package network

import (
	"fmt"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/aside/inspect"
)

// losses are those of the last seconds.
type losses struct {
	recent
	packets uint64              // that were lost since it began
	flows   map[string]lossFlow // that lost some; maxMoves at most, those on ways that are known first
}

// lossFlow has how many packets of a flow were lost and how many had arrived, at its first loss report and at its last one.
type lossFlow struct {
	lost, came, lostNow, cameNow uint64
	known                        bool // the nodes of its way are
}

// add takes up a report.
func (l *losses) add(now time.Time, flow string, way []uint32, known bool, n *inspect.Notice) {
	l.recent.add(now, flow, way, known)
	if l.count == 1 { // it began
		l.packets, l.flows = 0, map[string]lossFlow{}
	}
	f, counted := l.flows[flow]
	switch {
	case counted && n.Lost >= f.lostNow: // also what no report got here of
		l.packets += n.Lost - f.lostNow
	default:
		l.packets += uint64(n.LostNow)
		f = lossFlow{lost: n.Lost, came: n.Packets, known: known}
	}
	if f.lostNow, f.cameNow = n.Lost, n.Packets; counted || len(l.flows) < maxMoves || known && l.makePlace() {
		l.flows[flow] = f
	}
}

// makePlace forgets a flow on a way that is not known, and reports whether there was one.
func (l *losses) makePlace() bool {
	for flow, f := range l.flows {
		if !f.known {
			delete(l.flows, flow)
			return true
		}
	}
	return false
}

// Losses are no problem that are fewer, or a smaller part of all packets: lines have errors.
const (
	fewLost   = 3
	partLost  = 1e-5
	shortLoss = 10 * time.Second // that a loss is a part of at least
)

// isFew reports whether the losses are none to look at, where so many packets a second pass.
func (l *losses) isFew(pace float64) bool {
	all := pace * max(l.last.Sub(l.began), shortLoss).Seconds()
	return l.packets < fewLost || float64(l.packets) < partLost*all
}

// enough is the least number of packets, lost and arrived, that share makes a percentage of.
const enough = 100

// share says which part of their packets the flows lost, between the first and the last report of each; "": too few to say.
func (l *losses) share() string {
	lost, came := uint64(0), uint64(0)
	for _, f := range l.flows {
		lost, came = lost+f.lostNow-f.lost, came+f.cameNow-f.came
	}
	if lost+came < enough || lost == 0 {
		return ""
	}
	percent := 100 * float64(lost) / float64(lost+came)
	text := fmt.Sprintf("%.2g", percent)
	if percent >= 10 { // %g has an exponent from 99.5 on
		text = fmt.Sprintf("%.0f", percent)
	}
	return fmt.Sprintf("%s %% of the packets of the flows that lost some: %d", text, len(l.flows))
}

// sign is that packets are lost.
func (l *losses) sign() problem.Sign {
	return problem.Sign{
		Kind: problem.LossBetween, Key: "loss", Subject: "network", Place: between(l.ways), What: "packets of flows are lost", Over: "no more packets are lost", Since: l.began, Seen: l.last,
		Value: new(float64(l.packets)), Unit: "packets", Evidence: problem.Evidence{Why: l.share(), Flows: append([]string{}, l.recent.flows...)},
		Todo: "look at the segments that these flows share, and at drops of the nodes there",
	}
}
