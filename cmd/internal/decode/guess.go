// guess: finds INT over TCP and UDP in reported packets whose marks no flag names.

package decode

import (
	"fmt"
	"io"

	"intsink/cmd/internal/cli"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report/decode"
	"intsink/exporters/record"
)

// guess counts packets that would carry INT if their DSCP marked it.
type guess struct {
	decoder *record.Decoder // takes every DSCP for the mark
	packets int
	dscp    uint8 // of the first
}

func newGuess() *guess {
	return &guess{decoder: record.NewDecoder(record.Options{INT: []inthdr.Config{{DSCP: []inthdr.DSCP{{}}, Version2: true, Version1: true, Fragments: true}}})}
}

// look looks at the packet of a record that has no INT.
func (g *guess) look(r *record.Record, raw *decode.Report) {
	if !r.Has(record.KnownPorts) {
		return
	}
	t, b := raw.InType, raw.Inner
	if !raw.Packet() {
		var v decode.TLV
		for all := raw.TLVs(); all.Next(&v); {
			if in, known := v.InType(); known && decode.IsPacket(in) {
				t, b = in, v.Data
				break
			}
		}
	}
	if !decode.IsPacket(t) {
		return
	}
	i := g.decoder.Find(t, b)
	if i == nil || i.Type != inthdr.MD || i.Hops == 0 {
		return
	}
	if g.packets++; g.packets == 1 {
		g.dscp = r.DSCP
	}
}

// print says what was found, and how to see it.
func (g *guess) print(w io.Writer) {
	if g.packets > 0 {
		fmt.Fprintf(w, "%s may carry INT that is marked by DSCP %d: --int-dscp %d, or --config with the sink's file, shows it\n", cli.Count(g.packets, "reported packet"), g.dscp, g.dscp)
	}
}
