// What the flight recorder has of the flows of an incident, and the command that fetches it.

package flowapi

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/flows"
)

// Recorded looks into the flight recorder for packets of a time, with these flows in either direction; nil: it is off.
type Recorded func(w *Wanted, from, to time.Time) *RecordedItem

// Recorder is a part that reads the flight recorder.
type Recorder interface {
	Recorded(w *Wanted, from, to time.Time) *RecordedItem
}

// Wanted is which flows the packets are to be of, in the words of a capture's match; "": any.
type Wanted struct{ Source, Destination, Protocol, SourcePort, DestinationPort string }

// RecordedItem is what the flight recorder has.
type RecordedItem struct {
	Packets int        `json:"packets"` // of these flows in the time; of a node: of all flows
	From    *time.Time `json:"from"`    // of the first one; null: there is none
	To      *time.Time `json:"to"`      // of the last one
	Since   time.Time  `json:"since"`   // the recorder has all that it took since then
	Command string     `json:"command"` // that writes these packets, and those that came since, to a file
}

// wantedOf are the packets of a flow.
func wantedOf(key *flows.Key) Wanted {
	w := Wanted{Source: key.SrcAddr().String(), Destination: key.DstAddr().String(), Protocol: fmt.Sprint(key.Proto())}
	if flows.HasPorts(key.Proto()) {
		w.SourcePort, w.DestinationPort = fmt.Sprint(key.SrcPort()), fmt.Sprint(key.DstPort())
	}
	return w
}

// addRecorded says what the flight recorder has.
func (in *API) addRecorded(x *Incident, now time.Time, w *Wanted) {
	if in.Recorded == nil {
		return
	}
	if x.Recorded = in.Recorded(w, x.From, x.To); x.Recorded != nil {
		x.Recorded.Command = w.command(now.Sub(x.From))
	}
}

// command fetches what came in a time until now; a minute more is for whoever types it.
func (w *Wanted) command(back time.Duration) string {
	minutes := min(back+time.Minute, 24*time.Hour).Round(time.Minute) / time.Minute
	text := fmt.Sprintf("intsink capture -w incident.pcapng --before %dm", max(minutes, 1))
	for _, f := range []struct{ flag, value string }{
		{"source", w.Source}, {"destination", w.Destination}, {"protocol", w.Protocol}, {"source-port", w.SourcePort}, {"destination-port", w.DestinationPort},
	} {
		if f.value != "" {
			text += " --" + f.flag + " " + f.value
		}
	}
	if cmp.Or(w.Source, w.Destination) != "" {
		text += " --both-ways"
	}
	return text
}

// Text is one or two lines about it.
func (r *RecordedItem) Text(from time.Time) string {
	var b strings.Builder
	b.WriteString("recorder: no packet of this time")
	if r.Packets > 0 {
		b.Reset()
		fmt.Fprintf(&b, "recorder: %s, %s to %s", cli.Count(int(r.Packets), "packet"), r.From.Format(clock), r.To.Format(clock))
	}
	if r.Since.After(from) {
		fmt.Fprintf(&b, "; it reaches back to %s", r.Since.Format(clock))
	}
	if r.Packets > 0 {
		b.WriteString("\n  > " + r.Command)
	}
	return b.String() + "\n"
}
