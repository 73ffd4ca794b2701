// Prints reports as records (--format record), with gap and stats records of their streams.

package decode

import (
	"time"

	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

// recordPrinter prints records, one JSON object a line: reports as they come, gaps once they are
// known, and the totals of each stream at the end.
type recordPrinter struct {
	decoder *record.Decoder
	yield   func(*record.Record)
	other   record.Record // of a gap or of stats
	line    []byte
	now     time.Time // of the latest packet
	expired time.Time // when missing numbers were last given up
	err     error     // of the output, the first one
}

// printRecords makes d print records.
func (d *reportPrinter) printRecords(o record.Options) {
	p := &recordPrinter{decoder: record.NewDecoder(o)}
	p.yield = func(r *record.Record) {
		if !d.done() {
			d.reports++
			d.writeRecord(r)
		}
	}
	d.records = p
	d.streams.gap = func(g streams.Gap) {
		gapRecord(&p.other, g, p.now)
		d.writeRecord(&p.other)
	}
}

func (d *reportPrinter) writeRecord(r *record.Record) {
	p := d.records
	p.line = append(record.AppendJSON(p.line[:0], r), '\n')
	if _, err := d.out.Write(p.line); p.err == nil {
		p.err = err
	}
}

// recordsOf prints the records of one UDP payload. Its error comes from the output.
func (d *reportPrinter) recordsOf(g datagram, b []byte) error {
	p := d.records
	if d.decoder.Strict {
		if _, err := d.decoder.Decode(b); err != nil {
			if d.otherINT(g) {
				return nil
			}
			d.undecodable++
			d.complain(g, err)
			return nil
		}
	}
	p.now = g.time
	if p.now.Sub(p.expired) > time.Second {
		p.expired = p.now
		d.streams.table.Expire(p.now.UnixNano(), d.streams.missing)
	}
	st, place := d.streams.see(g, b)
	o := record.Origin{Exporter: g.from.Addr(), Received: g.time.UnixNano(), Start: place.Start, Sequence: place.Sequence}
	n, err := p.decoder.Records(b, &o, p.yield)
	if n > 0 {
		d.packets++
	}
	if err != nil {
		d.undecodable++
		d.complain(g, err)
	}
	if n == 0 && st != nil {
		st.Undecodable++
	}
	return p.err
}

// printStats prints a record of type stats for each stream.
func (d *reportPrinter) printStats() {
	for _, st := range d.streams.table.Sorted() {
		statsRecord(&d.records.other, st, d.records.now)
		d.writeRecord(&d.records.other)
	}
}
