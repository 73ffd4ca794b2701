// Package nativetest reads blocks of ClickHouse's format Native as a server does: for tests of those who send them.
package nativetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/ClickHouse/ch-go/proto"
)

// Inserted returns the rows of the body of an insert, which is in compressed frames, as JSON: one object each, without
// what is null or empty, and without numbers that stand for an unknown node. Only names the columns to make objects of;
// none: all.
func Inserted(body io.Reader, only ...string) ([]json.RawMessage, error) {
	block, err := io.ReadAll(compress.NewReader(body))
	if err != nil && !errors.Is(err, io.EOF) { // the reader wraps the end of the body
		return nil, err
	}
	return Rows(block, only...)
}

// Rows returns the rows of a block as JSON.
func Rows(block []byte, only ...string) ([]json.RawMessage, error) {
	r := proto.NewReader(bytes.NewReader(block))
	columns, err := r.Int()
	if err != nil {
		return nil, err
	}
	n, err := r.Int()
	if err != nil {
		return nil, err
	}
	rows := make([]map[string]any, n)
	for range columns {
		name, err := r.Str()
		if err != nil {
			return nil, err
		}
		kind, err := r.Str()
		if err != nil {
			return nil, err
		}
		values, err := column(r, kind, n, len(only) == 0 || slices.Contains(only, name))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
		for i, v := range values {
			put(&rows[i], name, v)
		}
	}
	if _, err := r.ReadByte(); err == nil {
		return nil, errors.New("bytes behind the block")
	}
	all := make([]json.RawMessage, n)
	for i := range rows {
		if all[i], err = json.Marshal(rows[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// put puts a value into an object if there is one.
func put(o *map[string]any, name string, v any) {
	if *o == nil {
		*o = map[string]any{}
	}
	if v != nil && v != "" && v != false && !(name == "node_id" && v == uint32(1<<32-1)) {
		(*o)[name] = v
	}
}

// column reads a column of so many values; a null, an empty array and an empty tuple are nil. Without keep it returns none.
func column(r *proto.Reader, kind string, n int, keep bool) (values []any, err error) {
	if of, ok := inside(kind, "Nullable"); ok {
		var nulls proto.ColUInt8
		if err := nulls.DecodeColumn(r, n); err != nil {
			return nil, err
		}
		values, err := column(r, of, n, keep)
		for i := range values {
			if nulls[i] != 0 {
				values[i] = nil
			}
		}
		return values, err
	}
	if of, ok := inside(kind, "Array"); ok {
		return arrays(r, of, n, keep)
	}
	if elements, ok := inside(kind, "Tuple"); ok {
		return tuples(r, elements, n, keep)
	}
	return plain(r, kind, n, keep)
}

func inside(kind, outer string) (of string, ok bool) {
	rest, ok := strings.CutPrefix(kind, outer+"(")
	return strings.TrimSuffix(rest, ")"), ok
}

func arrays(r *proto.Reader, of string, n int, keep bool) (values []any, err error) {
	var ends proto.ColUInt64
	if err := ends.DecodeColumn(r, n); err != nil {
		return nil, err
	}
	total := uint64(0)
	if n > 0 {
		total = ends[n-1]
	}
	elements, err := column(r, of, int(total), keep)
	if !keep {
		return nil, err
	}
	start := uint64(0)
	for _, end := range ends {
		if start > end || end > total || err != nil {
			return nil, fmt.Errorf("an array from %d to %d of %d: %w", start, end, total, err)
		}
		var v any
		if start < end {
			v = elements[start:end]
		}
		values, start = append(values, v), end
	}
	return values, nil
}

func tuples(r *proto.Reader, elements string, n int, keep bool) ([]any, error) {
	objects := make([]map[string]any, n)
	for _, e := range split(elements) {
		name, kind, _ := strings.Cut(strings.TrimPrefix(e, "`"), "` ")
		values, err := column(r, kind, n, keep)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			put(&objects[i], name, v)
		}
	}
	if !keep {
		return nil, nil
	}
	values := make([]any, n)
	for i, o := range objects {
		values[i] = o
	}
	return values, nil
}

// split divides the elements of a tuple's type at commas that stand in no parentheses.
func split(elements string) (all []string) {
	depth, start := 0, 0
	for i, c := range elements {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			all, start = append(all, elements[start:i]), i+2
		}
	}
	return append(all, elements[start:])
}

// plain reads a column of values that have no parts. Times and addresses are as in JSON.
func plain(r *proto.Reader, kind string, n int, keep bool) ([]any, error) {
	switch kind {
	case "UInt8":
		return read[uint8](r, new(proto.ColUInt8), n, keep)
	case "Bool":
		return read[bool](r, new(proto.ColBool), n, keep)
	case "UInt16":
		return read[uint16](r, new(proto.ColUInt16), n, keep)
	case "UInt32":
		return read[uint32](r, new(proto.ColUInt32), n, keep)
	case "UInt64":
		return read[uint64](r, new(proto.ColUInt64), n, keep)
	case "Float32":
		return read[float32](r, new(proto.ColFloat32), n, keep)
	case "String":
		return read[string](r, new(proto.ColStr), n, keep)
	case "DateTime64(9, 'UTC')":
		values, err := read[int64](r, new(proto.ColInt64), n, keep)
		for i, v := range values {
			values[i] = time.Unix(0, v.(int64)).UTC().Format("2006-01-02T15:04:05.000000000Z")
		}
		return values, err
	case "IPv6":
		values, err := read[proto.IPv6](r, new(proto.ColIPv6), n, keep)
		for i, v := range values {
			values[i] = netip.AddrFrom16(v.(proto.IPv6)).Unmap()
		}
		return values, err
	}
	return nil, fmt.Errorf("no type of ours: %s", kind)
}

func read[T any](r *proto.Reader, c proto.ColumnOf[T], n int, keep bool) (values []any, err error) {
	if err := c.DecodeColumn(r, n); err != nil {
		return nil, err
	}
	for i := range n {
		if !keep {
			break
		}
		values = append(values, c.Row(i))
	}
	return values, nil
}
