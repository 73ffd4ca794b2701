// Package recordtest decodes report packets for tests of those who send them: records and raw
// headers that outlive their decoder.
package recordtest

import (
	"slices"
	"sync"
	"testing"

	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
	"intsink/exporters/record"
)

// Packet is a report packet.
type Packet struct {
	decode.Header
	Reports []Report
}

// Report is one report as a record, and its headers as on the wire.
type Report struct {
	record.Record
	Raw decode.Report
	INT string // type of the INT in the packet; empty: there is none
}

// Names returns the names of the report's events.
func (r *Report) Names() (names []string) {
	for bit, name := range report.EventNames {
		if r.Has(record.KnownEvents) && r.Events>>bit&1 != 0 {
			names = append(names, name)
		}
	}
	return names
}

var decoders = sync.Pool{New: func() any { return record.NewDecoder(record.Options{}) }}

// Decode returns what is in the payload of a report packet, with INT where record.DefaultINT says. It fails the test
// where something is not sound.
func Decode(t testing.TB, payload []byte) (p Packet) {
	t.Helper()
	d := decoders.Get().(*record.Decoder)
	defer decoders.Put(d)
	_, err := d.Records(payload, &record.Origin{}, func(r *record.Record) {
		h, raw := d.Raw()
		p.Header = *h
		one := Report{Record: *r, Raw: *raw}
		if i, _ := d.INT(); i != nil {
			one.INT = i.Type.String()
		}
		one.Hops, one.VLANs, one.TLVs = slices.Clone(r.Hops), slices.Clone(r.VLANs), slices.Clone(r.TLVs)
		one.Episodes = slices.Clone(r.Episodes)
		one.Links, one.DeviceID, one.SourceMetadata = slices.Clone(r.Links), slices.Clone(r.DeviceID), slices.Clone(r.SourceMetadata)
		p.Reports = append(p.Reports, one)
	})
	if err != nil {
		t.Fatalf("%v: %x", err, payload)
	}
	return p
}
