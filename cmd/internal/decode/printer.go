// reportPrinter: makes records of each datagram, prints them in the format that is asked for,
// counts, and complains of what is none.

package decode

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/engine/wire/report/decode"
	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

// maxComplaints is how many undecodable packets are named; more are counted.
const maxComplaints = 20

// reportPrinter prints decoded reports and keeps the totals.
type reportPrinter struct {
	stdout  io.Writer
	out     *bufio.Writer // to stdout
	errs    io.Writer
	decoder *record.Decoder
	yield   func(*record.Record)
	format  string
	limit   int // reports; 0 is none
	strict  bool
	guess   *guess // nil: the flags say where INT is

	at       datagram      // whose records are printed
	problems []string      // of its reports
	other    record.Record // of a gap or of stats
	line     []byte
	expired  time.Time // when missing numbers were last given up
	err      error     // of the output, the first one

	seen        int // packets of the capture, or datagrams
	packets     int // report packets
	reports     int
	undecodable int
	withINT     int // packets that are no reports, and carry INT
	streams     *sequences
}

func newPrinter(stdout, stderr io.Writer, o record.Options) *reportPrinter {
	d := &reportPrinter{stdout: stdout, out: bufio.NewWriter(stdout), errs: stderr, decoder: record.NewDecoder(o), streams: newSequences()}
	d.yield = d.report
	d.streams.gap = func(g streams.Gap) {
		if d.format == "record" {
			gapRecord(&d.other, g, d.at.time)
			d.write(record.AppendJSON(d.line[:0], &d.other))
		}
	}
	return d
}

func (d *reportPrinter) done() bool { return d.limit > 0 && d.reports >= d.limit }

// datagram says where a report packet comes from.
type datagram struct {
	number   int // packet of the capture, from 1
	time     time.Time
	from, to netip.AddrPort
	carries  func() bool // INT, where it is no report; nil: not asked
}

// payload prints the reports of one UDP payload. Its error comes from the output.
func (d *reportPrinter) payload(g datagram, b []byte) error {
	if d.strict {
		if reason := d.unsound(b); reason != "" {
			if !d.otherINT(g) {
				d.complain(g, reason)
			}
			return nil
		}
	}
	d.at, d.problems = g, d.problems[:0]
	if g.time.Sub(d.expired) > time.Second {
		d.expired = g.time
		d.streams.table.Expire(g.time.UnixNano(), d.streams.missing)
	}
	st, place := d.streams.see(g, b)
	o := record.Origin{Exporter: g.from.Addr(), Received: g.time.UnixNano(), Start: place.Start, Sequence: place.Sequence}
	n, err := d.decoder.Records(b, &o, d.yield)
	if n > 0 {
		d.packets++
	} else if st != nil {
		st.Undecodable++
	}
	if err != nil {
		d.complain(g, strings.Join(append(d.problems, headerProblem(b, err)...), "; "))
	}
	return d.err
}

// report prints one record of the datagram at hand.
func (d *reportPrinter) report(r *record.Record) {
	h, raw := d.decoder.Raw()
	if r.Problem != decode.NoProblem {
		d.problems = append(d.problems, reportProblem(int(r.Index), raw))
	}
	if d.done() {
		return
	}
	d.reports++
	i, frame := d.decoder.INT()
	if i == nil && d.guess != nil {
		d.guess.look(r, raw)
	}
	switch d.format {
	case "text":
		d.write([]byte(reportText(d.at, r, h, raw, i)))
	case "json":
		d.line = record.AppendJSON(d.line[:0], r)
		d.write(appendWire(d.line[:len(d.line)-1], d.at, h, raw, i, frame))
	default:
		d.write(record.AppendJSON(d.line[:0], r))
	}
}

// write writes one object, or the text of a report, as a line.
func (d *reportPrinter) write(b []byte) {
	d.line = append(b, '\n')
	if _, err := d.out.Write(d.line); d.err == nil {
		d.err = err
	}
}

// printStats prints a record of type stats for each stream.
func (d *reportPrinter) printStats() {
	for _, st := range d.streams.table.Sorted() {
		statsRecord(&d.other, st, d.at.time)
		d.write(record.AppendJSON(d.line[:0], &d.other))
	}
}

// otherINT reports whether a payload that is no report is a packet with INT, and counts it.
func (d *reportPrinter) otherINT(g datagram) bool {
	if !d.strict || g.carries == nil || !g.carries() {
		return false
	}
	d.withINT++
	return true
}

func (d *reportPrinter) complain(g datagram, reason string) {
	if d.undecodable++; d.undecodable > maxComplaints {
		return
	}
	fmt.Fprintf(d.errs, "packet %d from %s to %s: %s\n", g.number, g.from, g.to, reason)
	if d.undecodable == maxComplaints {
		fmt.Fprintln(d.errs, "further undecodable packets are only counted")
	}
}

func (d *reportPrinter) printTotals() {
	d.streams.print(d.errs)
	sum := d.streams.totals()
	fmt.Fprintf(d.errs, "%s in %s, %d lost, %d undecodable", cli.Count(d.reports, "report"), cli.Count(d.packets, "packet"), sum.Lost, d.undecodable)
	if sum.Late > 0 {
		fmt.Fprintf(d.errs, ", %d late or repeated", sum.Late)
	}
	if sum.Restarts > 0 {
		fmt.Fprintf(d.errs, ", sink restarted %s", cli.Count(int(sum.Restarts), "time"))
	}
	if d.withINT > 0 {
		fmt.Fprintf(d.errs, ", %s with INT that %s no report", cli.Count(d.withINT, "packet"), isOrAre(d.withINT))
	}
	fmt.Fprintln(d.errs)
	if d.guess != nil {
		d.guess.print(d.errs)
	}
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
