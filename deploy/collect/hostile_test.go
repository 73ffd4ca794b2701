//go:build engines

package collect

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"intsink/engine/wire/report/reporttest"
	"intsink/exporters/record"
)

// TestAnyRecordIsTaken: whatever a report packet says, its records fit the columns. One that
// does not would stop all that stand in the same block, again and again.
func TestAnyRecordIsTaken(t *testing.T) {
	packets := reporttest.All(t)
	rng := rand.New(rand.NewPCG(7, 8))
	d, now, n := record.NewDecoder(record.Options{}), time.Now(), 0
	var lines []byte
	var messages [][]byte
	columns := record.NewColumns()
	for i := range 20000 {
		b := append([]byte(nil), packets[rng.IntN(len(packets))]...)
		for range rng.IntN(6) {
			at := rng.IntN(len(b))
			switch rng.IntN(3) {
			case 0:
				b[at] = byte(rng.Uint32())
			case 1:
				for k := at &^ 3; k < min(at&^3+8, len(b)); k++ {
					b[k] = 0xff
				}
			case 2:
				b[at] ^= 1 << rng.IntN(8)
			}
		}
		o := record.Origin{Exporter: netip.MustParseAddr("192.0.2.1"), Received: now.UnixNano(), Start: 1, Sequence: uint64(i)}
		got, _ := d.Records(b, &o, func(r *record.Record) {
			lines = append(record.AppendJSON(lines, r), '\n')
			messages = append(messages, record.AppendProto(nil, r))
			columns.Append(r)
		})
		n += got
	}
	if n < 10000 {
		t.Fatalf("only %d records", n)
	}
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	c.insert(lines)
	c.waitFor("SELECT count() AS n FROM int.reports", countRow(n))

	address, produce := broker(t)
	p := startClickHouse(t)
	p.schema()
	p.runFile("clickhouse.sql")
	p.runFile("clickhouse-protobuf.sql", "localhost:9092", address)
	produce(messages...)
	p.waitFor("SELECT count() AS n FROM int.reports", countRow(n))
	const sums = "SELECT sum(cityHash64(* EXCEPT (time, received))) AS n FROM int.reports"
	want := c.must(sums)
	if got := p.must(sums); got != want {
		t.Errorf("rows from protobuf differ from those from JSON: %s, %s", got, want)
	}
	native := startClickHouse(t)
	native.runFile("clickhouse.sql")
	native.insertColumns(columns)
	if got := native.must(sums); got != want {
		t.Errorf("rows from columns differ from those from JSON: %s, %s", got, want)
	}
}
