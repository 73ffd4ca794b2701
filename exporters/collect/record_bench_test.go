package collect

import (
	"maps"
	"net/netip"
	"slices"
	"testing"

	"intsink/engine/wire/report/reporttest"
	"intsink/exporters/collect/aggregate"
	"intsink/exporters/collect/spool"
	"intsink/exporters/record"
)

// BenchmarkBatch is what a report packet costs between the socket and an output: decoded, summed up, encoded in each format, in the log.
// The packets are those that the tests of reports have, of three versions, and some of eight reports.
func BenchmarkBatch(b *testing.B) {
	var packets [][]byte
	size := 0
	for _, name := range reporttest.Names(b) {
		packets = append(packets, reporttest.Wire(b, name), reporttest.Packet(b, uint32(len(packets)), 8))
		size += len(packets[len(packets)-1]) + len(packets[len(packets)-2])
	}
	from := netip.MustParseAddrPort("192.0.2.1:40000")
	formats := map[string]uint8{"none": 0, "JSON": 1 << JSON, "protobuf": 1 << Protobuf, "columns": 1 << Columns, "flow": 1 << Flow}
	for _, name := range slices.Sorted(maps.Keys(formats)) {
		b.Run(name, func(b *testing.B) {
			log, err := spool.Open(spool.Options{})
			if err != nil {
				b.Fatal(err)
			}
			m := newMaker(record.NewDecoder(record.Options{}), aggregate.New(10000).Observer())
			records := 0
			b.ReportAllocs()
			for b.Loop() {
				batch := m.newBatch(size)
				for i, p := range packets {
					m.packet(batch, spool.Entry{Received: 1790000000e9, From: from, To: from, Sequence: uint64(i), Payload: p}, formats[name])
				}
				m.seal(batch)
				records += batch.Len()
				log.Append(batch.entries)
				batch.release()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(records), "ns/record")
		})
	}
}
