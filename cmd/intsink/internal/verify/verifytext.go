// Prints a Result as a page for people.

package verify

import (
	"encoding/hex"
	"fmt"
	"strings"
	"text/tabwriter"

	"intsink/cmd/internal/cli"
)

// text returns the page.
func (r *Result) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, INT put in by an independent source (seed %d), taken out by the sink.\n\n", cli.Count(r.Packets, "packet"), r.Capture, r.Seed)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "KIND OF INT\tVERSION\tHEADERS\tHOPS\tPACKETS\tCASES\tRESULT\n")
	for i := range r.Kinds {
		k := &r.Kinds[i]
		result := "every byte is back"
		switch {
		case k.Different > 0:
			result = fmt.Sprintf("%d DIFFERENT", k.Different)
		case k.Cases == 0:
			result = "not tried"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\n", k.Kind, k.Version, strings.Join(k.Headers, " "), strings.Trim(fmt.Sprint(k.Hops), "[]"), k.Packets, k.Cases, result)
	}
	w.Flush()
	r.notTried(&b)
	if r.First != nil {
		r.First.text(&b)
	}
	switch {
	case r.Different > 0:
		fmt.Fprintf(&b, "\n%d of %d cases did not give back every byte.\n", r.Different, r.Cases)
	case r.Cases > 0:
		fmt.Fprintf(&b, "\nAll %d cases of %s gave back every byte.\n", r.Cases, cli.Count(r.Tried, "packet"))
	}
	return b.String()
}

// neverTried lists the INT that package intgen does not write.
const neverTried = `any packet, with shim_length = "inclusive", int1_dialect = "geant", checksum = "keep", domain specific metadata, or more than 8 hops`

// notTried says which packets were left out, and why.
func (r *Result) notTried(b *strings.Builder) {
	var lines []string
	for _, n := range r.NotTried {
		lines = append(lines, fmt.Sprintf("%s, with no kind: %s", cli.Count(n.Packets, "packet"), n.Reason))
	}
	if r.Beyond {
		lines = append(lines, fmt.Sprintf("what follows in the capture, beyond --limit %d", r.Packets))
	}
	for i := range r.Kinds {
		for _, n := range r.Kinds[i].NotTried {
			lines = append(lines, fmt.Sprintf("%s, with %s %s: %s", cli.Count(n.Packets, "packet"), r.Kinds[i].Kind, r.Kinds[i].Version, n.Reason))
		}
	}
	lines = append(lines, neverTried)
	b.WriteString("\nNot tried:\n  " + strings.Join(lines, "\n  ") + "\n")
}

// text writes the two packets around their first difference.
func (d *Difference) text(b *strings.Builder) {
	how := "whose headers were new to the sink"
	if d.Pass > 1 {
		how = "whose headers the sink knew"
	}
	fmt.Fprintf(b, "\nThe first difference: frame %d with %s %s, %s, %s, %s.\n", d.Frame, d.Kind, d.Version, d.Header, cli.Count(d.Hops, "hop"), how)
	if d.Got == "" {
		b.WriteString("The sink dropped it.\n")
	} else {
		fmt.Fprintf(b, "At offset %d; %d bytes, %d are wanted.\n", d.Offset, len(d.Got)/2, len(d.Want)/2)
	}
	for _, x := range []struct{ name, text string }{{"wanted", d.Want}, {"got", d.Got}, {"with INT", d.Marked}} {
		data, _ := hex.DecodeString(x.text) // never fails: verify has encoded it
		from := max(0, d.Offset&^15-32)
		to := min(len(data), from+96)
		if from < to {
			fmt.Fprintf(b, "%s, from offset %d:\n", x.name, from)
			for ; from < to; from += 16 {
				fmt.Fprintf(b, "  %04x  % x\n", from, data[from:min(from+16, to)])
			}
		}
	}
}
