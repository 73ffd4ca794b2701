package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"intsink/engine/wire/report/reporttest"
	"intsink/exporters/record/nativetest"
)

// block returns the sealed columns of records, and their block.
func block(records ...*Record) (*Columns, []byte) {
	c := NewColumns()
	for _, r := range records {
		c.Append(r)
	}
	return c, native(c)
}

func native(c *Columns) []byte {
	c.Seal()
	return AppendNative(nil, Rows{c, 0, c.Len()})
}

// TestColumnsSayWhatJSONSays: rows have the fields of the records' JSON, without those that are empty.
func TestColumnsSayWhatJSONSays(t *testing.T) {
	var records []*Record
	for _, g := range goldens {
		records = append(records, g.record(), g.record())
	}
	_, b := block(records...)
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

// TestPieces: pieces of columns make the same rows as their records, whatever is set in each.
func TestPieces(t *testing.T) {
	sets := [][]*Record{
		{bare(), whole(), stream(Gap), whole(), bare(), stream(Stats)}, {bare(), bare()}, {stream(Gap)}, {whole()}, {usual(), bare()},
	}
	rows := func(b []byte) (all []any) {
		lines, err := nativetest.Rows(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			var x any
			if err := json.Unmarshal(line, &x); err != nil {
				t.Fatal(err)
			}
			all = append(all, full(x))
		}
		return all
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var parts []Rows
		var records []*Record
		for range 1 + r.IntN(4) {
			set := sets[r.IntN(len(sets))]
			from, _ := block(set...)
			i := r.IntN(len(set))
			j := i + 1 + r.IntN(len(set)-i)
			parts, records = append(parts, Rows{from, i, j}), append(records, set[i:j]...)
		}
		_, want := block(records...)
		if d := cmp.Diff(rows(want), rows(AppendNative(nil, parts...))); d != "" {
			t.Fatalf("%v (-records +pieces)\n%s", parts, d)
		}
	}
}

// TestWriteNative: what is put is the block that AppendNative makes, and none of it is kept.
func TestWriteNative(t *testing.T) {
	many := NewColumns()
	for i := range 100 {
		many.Append([]*Record{whole(), usual(), bare()}[i%3])
	}
	many.Seal()
	few, _ := block(bare())
	parts := []Rows{{few, 0, 1}}
	for range 20 {
		parts = append(parts, Rows{many, 10, 90}, Rows{many, 0, 100})
	}
	var got []byte
	pieces := 0
	memory := WriteNative(nil, func(piece []byte) {
		got = append(got, piece...)
		clear(piece)
		pieces++
	}, parts...)
	if want := AppendNative(nil, parts...); !bytes.Equal(got, want) || pieces < 10 || cap(memory) > len(want)/4 {
		t.Errorf("%d bytes in %d pieces, want %d; %d bytes of memory", len(got), pieces, len(want), cap(memory))
	}
}

// TestColumnsThatAreNotSet: a block has no columns that no record has set.
func TestColumnsThatAreNotSet(t *testing.T) {
	_, all := block(whole())
	_, few := block(bare(), bare())
	if len(few) > len(all)/2 || bytes.Contains(few, []byte("episodes")) || !bytes.Contains(all, []byte("episodes")) {
		t.Errorf("%d of %d bytes: %q", len(few), len(all), few)
	}
}

// TestColumnsAllocateNothing: columns that were used before have room.
func TestColumnsAllocateNothing(t *testing.T) {
	d, c := NewDecoder(Options{}), NewColumns()
	for _, file := range []string{"int_vxlan", "int_tcp", "transparent_security", "domain_specific", "1.0_int", "0.5_drop"} {
		packet := reporttest.Wire(t, file)
		n := testing.AllocsPerRun(100, func() {
			c.Reset()
			d.Records(packet, &testOrigin, c.Append)
			c.Seal()
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
	r.Events, r.Flags, r.VLANs, r.Problem, r.INTProblem, r.Episodes = 1, 0, nil, 0, 0, nil
	return r
}

// BenchmarkColumns is the cost of a record of a report with three hops: put into a batch's columns, and
// written from there.
func BenchmarkColumns(b *testing.B) {
	r := usual()
	c := NewColumns()
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
	var buf []byte
	b.Run("write 512", func(b *testing.B) {
		for b.Loop() {
			buf = AppendNative(buf[:0], Rows{c, 0, c.Len()})
		}
		b.SetBytes(int64(len(buf)))
	})
}
