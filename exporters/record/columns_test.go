package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"intsink/engine/wire/report/reporttest"
	"intsink/exporters/record/nativetest"
)

// block returns the sealed columns of records, and their block.
func block(t *testing.T, records ...*Record) (*Columns, []byte) {
	t.Helper()
	c := NewColumns()
	for _, r := range records {
		c.Append(r)
	}
	return c, native(t, c)
}

func native(t *testing.T, c *Columns) []byte {
	t.Helper()
	c.Seal()
	b, err := c.AppendNative(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestColumnsSayWhatJSONSays: rows have the fields of the records' JSON, without those that are empty.
func TestColumnsSayWhatJSONSays(t *testing.T) {
	var records []*Record
	for _, g := range goldens {
		records = append(records, g.record(), g.record())
	}
	_, b := block(t, records...)
	rows, err := nativetest.Rows(b)
	if err != nil || len(rows) != len(records) {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	for i, r := range records {
		var got, want any
		if err := errors.Join(json.Unmarshal(rows[i], &got), json.Unmarshal(AppendJSON(nil, r), &want)); err != nil {
			t.Fatal(err)
		}
		if r.Type != Report { // columns that are never null
			want.(map[string]any)["sequence"], want.(map[string]any)["index"] = 0., 0.
		}
		if d := cmp.Diff(full(want), full(got)); d != "" {
			t.Errorf("record %d (-JSON +columns)\n%s", i, d)
		}
	}
}

// full returns v without fields that are empty or false. Elements of arrays stay.
func full(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = full(v[i])
		}
	case map[string]any:
		for name, x := range v {
			x = full(x)
			m, object := x.(map[string]any)
			a, array := x.([]any)
			if x == nil || x == "" || x == false || object && len(m) == 0 || array && len(a) == 0 {
				delete(v, name)
			}
		}
	}
	return v
}

// TestColumnsTake: records that are taken from other columns make the same block as those that are appended.
func TestColumnsTake(t *testing.T) {
	var all []*Record
	for range 3 {
		all = append(all, bare(), whole(), stream(Gap), whole(), bare(), stream(Stats))
	}
	from, _ := block(t, all...)
	c := NewColumns()
	for i := range all {
		for j := i; j <= len(all); j++ {
			_, want := block(t, append([]*Record{whole()}, all[i:j]...)...)
			c.Reset()
			c.Append(whole())
			c.Seal()
			c.Take(from, i, j)
			if got := native(t, c); !bytes.Equal(got, want) || c.Len() != 1+j-i {
				t.Fatalf("%d to %d: %d rows\n%x\nwant\n%x", i, j, c.Len(), got, want)
			}
		}
	}
}

// TestColumnsAllocateNothing: columns that were used before have room.
func TestColumnsAllocateNothing(t *testing.T) {
	d, c, to := NewDecoder(Options{}), NewColumns(), NewColumns()
	for _, file := range []string{"int_vxlan", "int_tcp", "transparent_security", "domain_specific", "1.0_int", "0.5_drop"} {
		packet := reporttest.Wire(t, file)
		n := testing.AllocsPerRun(100, func() {
			c.Reset()
			to.Reset()
			d.Records(packet, &testOrigin, c.Append)
			c.Seal()
			to.Take(c, 0, c.Len())
		})
		if n != 0 {
			t.Errorf("%s: %v allocations a packet", file, n)
		}
	}
}

// usual is the record of an explained report about a packet with three hops.
func usual() *Record {
	r := whole()
	r.Hops = append(r.Hops[:1], r.Hops[0], r.Hops[0])
	for k := range r.Hops {
		r.Hops[k].Known = HopNode | HopIngress | HopEgress | HopLatency | HopQueue | HopOccupancy | HopIngressTime | HopEgressTime
		r.Hops[k].DSMetadata = nil
	}
	r.Known &^= KnownDropReason | KnownVNI | KnownMain
	r.Data, r.TLVs, r.Outer, r.Inner, r.SourceMetadata, r.DSMetadata, r.DeviceID = nil, nil, Headers{}, Headers{}, nil, nil, nil
	r.Events, r.Flags, r.VLANs, r.Problem, r.INTProblem = 1, 0, nil, 0, 0
	return r
}

// BenchmarkColumns is the cost of a record of a report with three hops: decoded, and put into a batch's columns, or
// taken from there.
func BenchmarkColumns(b *testing.B) {
	r := usual()
	c, to := NewColumns(), NewColumns()
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if c.Append(r); c.Len() == 512 {
				c.Seal()
				c.Reset()
			}
		}
	})
	for range 512 - c.Len() {
		c.Append(r)
	}
	c.Seal()
	b.Run("take 512", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if to.Take(c, 0, c.Len()); to.Len() > 50000 {
				to.Reset()
			}
		}
	})
	var buf []byte
	b.Run("write 512", func(b *testing.B) {
		for b.Loop() {
			buf, _ = c.AppendNative(buf[:0])
		}
		b.SetBytes(int64(len(buf)))
	})
}
