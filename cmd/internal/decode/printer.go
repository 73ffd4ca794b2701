// reportPrinter: decodes each datagram, prints its reports as JSON or text, counts, and
// complains of what is none.

package decode

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/engine/report/decode"
)

// maxComplaints is how many undecodable packets are named; more are counted.
const maxComplaints = 20

// reportPrinter prints decoded reports and keeps the totals.
type reportPrinter struct {
	stdout  io.Writer
	out     *bufio.Writer // to stdout
	errs    io.Writer
	decoder *decode.Decoder
	format  string
	limit   int            // reports; 0 is none
	records *recordPrinter // of format record

	seen        int // packets of the capture, or datagrams
	packets     int // report packets
	reports     int
	undecodable int
	withINT     int // packets that are no reports, and carry INT
	streams     *sequences
}

func newPrinter(stdout, stderr io.Writer) *reportPrinter {
	return &reportPrinter{stdout: stdout, out: bufio.NewWriter(stdout), errs: stderr, decoder: &decode.Decoder{}, streams: newSequences()}
}

func (d *reportPrinter) done() bool { return d.limit > 0 && d.reports >= d.limit }

// datagram says where a report packet comes from.
type datagram struct {
	number   int // packet of the capture, from 1
	time     time.Time
	from, to netip.AddrPort
	carries  func() bool // INT, where it is no report; nil: not asked
}

// jsonReport is one line of JSON.
type jsonReport struct {
	Packet      int    `json:"packet"`
	Time        string `json:"time"`
	Source      string `json:"source"`
	Destination string `json:"destination"`
	*decode.Header
	*decode.Report
}

// payload prints the reports of one UDP payload. Its error comes from the output.
func (d *reportPrinter) payload(g datagram, b []byte) error {
	if d.records != nil {
		return d.recordsOf(g, b)
	}
	m, err := d.decoder.Decode(b)
	if err != nil && d.otherINT(g) {
		return nil
	}
	if err != nil {
		d.undecodable++
		d.complain(g, err)
		if d.decoder.Strict || m == nil || len(m.Reports) == 0 {
			return nil
		}
	}
	d.packets++
	d.streams.see(g, b)
	for i := range m.Reports {
		if d.done() {
			break
		}
		d.reports++
		if err := d.print(g, &m.Header, &m.Reports[i]); err != nil {
			return err
		}
	}
	return nil
}

// otherINT reports whether a payload that is no report is a packet with INT, and counts it.
func (d *reportPrinter) otherINT(g datagram) bool {
	if !d.decoder.Strict || g.carries == nil || !g.carries() {
		return false
	}
	d.withINT++
	return true
}

func (d *reportPrinter) complain(g datagram, err error) {
	if d.undecodable > maxComplaints {
		return
	}
	reason := strings.ReplaceAll(err.Error(), "\n", "; ")
	fmt.Fprintf(d.errs, "packet %d from %s to %s: %s\n", g.number, g.from, g.to, reason)
	if d.undecodable == maxComplaints {
		fmt.Fprintln(d.errs, "further undecodable packets are only counted")
	}
}

func (d *reportPrinter) print(g datagram, h *decode.Header, r *decode.Report) error {
	if d.format == "text" {
		_, err := d.out.WriteString(reportText(g, h, r))
		return err
	}
	b, err := json.Marshal(jsonReport{g.number, g.time.UTC().Format(time.RFC3339Nano), g.from.String(), g.to.String(), h, r})
	if err != nil {
		return err
	}
	_, err = d.out.Write(append(b, '\n'))
	return err
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
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
