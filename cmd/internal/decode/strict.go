// What is wrong with a payload, in words; which payloads are no sound reports, in a capture that
// has others.

package decode

import (
	"errors"
	"fmt"

	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
	"intsink/exporters/record"
)

// unsound says why a payload is not a report that is sound in every respect; "": it is. Other protocols have the
// versions of reports, too, and many zeros.
func (d *reportPrinter) unsound(b []byte) (reason string) {
	_, err := d.decoder.Records(b, &record.Origin{}, func(r *record.Record) {
		_, raw := d.decoder.Raw()
		old := r.Version != record.Version20
		var problem string
		switch {
		case r.Problem != decode.NoProblem:
			problem = reportProblem(int(r.Index), raw)
		case raw.Reserved:
			problem = "not a telemetry report: reserved values in the report header; with --port they are ignored"
		case !old && saysNothing(raw):
			problem = "not a telemetry report: an individual report that says nothing"
		case !r.Has(record.KnownAddresses) && (old || raw.Packet() && raw.InType != report.Ethernet):
			problem = "not a telemetry report: no IP packet where the header says so"
		}
		if reason == "" {
			reason = problem
		}
	})
	if reason == "" && err != nil {
		reason = headerProblem(b, err)[0]
	}
	return reason
}

// saysNothing reports whether the first word of a report of 2.0 is zero, as NTP and others have it.
func saysNothing(r *decode.Report) bool {
	return r.RepType == 0 && r.InType == 0 && r.Length == 0 && r.MDLength == 0 && !r.Dropped && !r.Congested && !r.Tracked && !r.Intermediate
}

// reportProblem says what is wrong with one report.
func reportProblem(index int, r *decode.Report) string {
	return fmt.Sprintf("individual report %d at byte %d: %s", index+1, r.Offset, r.Problem.Text())
}

// headerProblem says what is wrong with the header of a report packet, or behind its last report.
func headerProblem(b []byte, err error) []string {
	switch {
	case errors.Is(err, record.ErrLengths):
		return nil // its reports say so themselves
	case errors.Is(err, decode.ErrTruncated):
		return []string{fmt.Sprintf("truncated: %d bytes end in a header, or hold no report", len(b))}
	case len(b) < 4:
		return []string{fmt.Sprintf("not a telemetry report: %d bytes", len(b))}
	}
	return []string{fmt.Sprintf("not a telemetry report: version %d, header %x", b[0]>>4, b[:4])}
}
