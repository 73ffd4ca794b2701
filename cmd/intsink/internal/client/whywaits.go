// Says what keeps an event of a flow from being reported now.

package client

import (
	"fmt"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/flowapi"
)

// waitTexts are lines below that of event e, indented: what keeps it from being reported now.
func waitTexts(d *flowapi.FlowDetail, e string) (lines []string) {
	for i := range d.Waits {
		if w := &d.Waits[i]; w.Event == e {
			lines = append(lines, "    "+waitText(d, w))
		}
	}
	return lines
}

func waitText(d *flowapi.FlowDetail, w *flowapi.WaitItem) string {
	text := waitWhy(d, w)
	if w.Place != "" {
		return w.Place + ": " + text
	}
	return text
}

func waitWhy(d *flowapi.FlowDetail, w *flowapi.WaitItem) string {
	in := ""
	if w.Until != nil {
		in = period(int64(w.Until.Sub(d.Now)))
	}
	switch w.Why {
	case "interval":
		return "reported lately: not again for " + in
	case "rate":
		return "its reports of this second are used up: the next one in " + in
	case "flag":
		return "seen lately: not reported again unless packets come without it for " + in
	}
	if w.Event == "tx_utilization" {
		return fmt.Sprintf("busy, and reported: not again before it has been at %d or less for %s", d.Thresholds.TxUtilization.Clear, period(d.Thresholds.TxUtilization.HoldNs))
	}
	began := "its episode"
	if w.Since != nil {
		began += " of " + w.Since.Format(time.TimeOnly)
	}
	if w.Why == "quota" {
		return fmt.Sprintf("%s has used its %d reports: the next ones are of its end (%s), and of a new episode", began, w.Quota, endText(d.Thresholds))
	}
	return fmt.Sprintf("%s has used %d of its %d reports: the next ones are of a packet twice as bad as the last that was reported, of the 2nd, 4th, 8th and so on over the threshold, and of its end (%s)", began, w.Reports, w.Quota, endText(d.Thresholds))
}

// endText says which packet ends an episode of congestion.
func endText(t *flowapi.ThresholdsItem) string {
	if t.Congestion.Factor > 0 {
		return "below half of what began it"
	}
	var by []string
	if t.Congestion.Raise > 0 {
		by = append(by, fmt.Sprintf("an occupancy of %d or less", t.Congestion.Clear))
	}
	if t.Congestion.RaiseLatencyNs > 0 {
		by = append(by, "a latency below "+ns(uint64((t.Congestion.RaiseLatencyNs+1)/2)))
	}
	return strings.Join(by, " and ")
}
