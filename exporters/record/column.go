// Kinds of columns of a block in ClickHouse's Native format: numbers, text, arrays, tuples.

package record

import (
	"encoding/binary"
	"slices"
	"strings"
	"unsafe"

	"github.com/ClickHouse/ch-go/proto"
)

// column is a column of a block, or a part of one. Rows that nobody sets get its default when the next one is set,
// or by pad: most fields of most records are not known, and cost nothing.
type column interface {
	proto.ColInput
	pad(rows int)               // sets all rows below rows that are not set
	take(from column, i, j int) // appends rows i to j-1 of a column of the same kind
	reset()
	size() int // bytes of memory
}

// cells are the values of a column of numbers; the types of package proto write them.
type cells[T any] interface {
	~[]T
	EncodeColumn(*proto.Buffer)
}

// numbers is a column of values of a fixed size. missing is the value of rows that nobody sets, beside their null.
type numbers[T any, C cells[T]] struct {
	kind     string
	nullable bool
	missing  T
	nulls    proto.ColUInt8
	values   C
}

type (
	bytes8   = numbers[uint8, proto.ColUInt8]
	numbers2 = numbers[uint16, proto.ColUInt16]
	numbers4 = numbers[uint32, proto.ColUInt32]
	numbers8 = numbers[uint64, proto.ColUInt64]
	times    = numbers[int64, proto.ColInt64]
	floats   = numbers[float32, proto.ColFloat32]
	addrs    = numbers[proto.IPv6, proto.ColIPv6]
)

func (c *numbers[T, C]) put(row int, v T) {
	if len(c.values) < row {
		c.pad(row)
	}
	c.values = append(c.values, v)
}

// putKnown does as put if the value is known, else nothing.
func (c *numbers[T, C]) putKnown(row int, known bool, v T) {
	if known {
		c.put(row, v)
	}
}

func (c *numbers[T, C]) pad(rows int) {
	c.know()
	for len(c.values) < rows {
		c.values = append(c.values, c.missing)
		if c.nullable {
			c.nulls = append(c.nulls, 1)
		}
	}
}

// know adds to nulls the rows that were set since: put leaves that to it.
func (c *numbers[T, C]) know() {
	if n := len(c.nulls); c.nullable && n < len(c.values) {
		c.nulls = slices.Grow(c.nulls, len(c.values)-n)[:len(c.values)]
		clear(c.nulls[n:])
	}
}

func (c *numbers[T, C]) take(from column, i, j int) {
	f := from.(*numbers[T, C])
	c.values = append(c.values, f.values[i:j]...)
	if c.nullable {
		c.nulls = append(c.nulls, f.nulls[i:j]...)
	}
}

func (c *numbers[T, C]) reset()    { c.values, c.nulls = c.values[:0], c.nulls[:0] }
func (c *numbers[T, C]) Rows() int { return len(c.values) }
func (c *numbers[T, C]) size() int {
	return cap(c.values)*int(unsafe.Sizeof(c.missing)) + cap(c.nulls)
}

// Type implements proto.ColInput.
func (c *numbers[T, C]) Type() proto.ColumnType {
	if c.nullable {
		return proto.ColumnType("Nullable(" + c.kind + ")")
	}
	return proto.ColumnType(c.kind)
}

// EncodeColumn implements proto.ColInput.
func (c *numbers[T, C]) EncodeColumn(b *proto.Buffer) {
	if c.nullable {
		c.nulls.EncodeColumn(b)
	}
	c.values.EncodeColumn(b)
}

// WriteColumn implements proto.ColInput.
func (c *numbers[T, C]) WriteColumn(w *proto.Writer) { w.ChainBuffer(c.EncodeColumn) }

// texts is a column of strings, kept as they are sent: each with its length in front.
type texts struct {
	rows int
	buf  []byte
}

// open begins the text of a row behind c.buf, which the caller appends to; close ends it.
func (c *texts) open(row int) (at int) {
	c.pad(row)
	c.rows++
	c.buf = append(c.buf, 0)
	return len(c.buf)
}

func (c *texts) close(at int) { c.buf = closeField(c.buf, at) }

func (c *texts) put(row int, s string) {
	c.pad(row)
	c.rows++
	c.buf = append(binary.AppendUvarint(c.buf, uint64(len(s))), s...)
}

// putHex sets a row to bytes as hexadecimal digits if there are any.
func (c *texts) putHex(row int, bytes []byte) {
	if len(bytes) > 0 {
		c.pad(row)
		c.rows++
		c.buf = appendHex(binary.AppendUvarint(c.buf, uint64(2*len(bytes))), bytes)
	}
}

func (c *texts) pad(rows int) {
	for ; c.rows < rows; c.rows++ {
		c.buf = append(c.buf, 0)
	}
}

func (c *texts) take(from column, i, j int) {
	f := from.(*texts)
	start, end := 0, len(f.buf)
	if i > 0 || j < f.rows {
		start = f.offset(0, i)
		end = f.offset(start, j-i)
	}
	c.buf, c.rows = append(c.buf, f.buf[start:end]...), c.rows+j-i
}

// offset is where the text stands that comes n texts behind the one at an offset.
func (c *texts) offset(at, n int) int {
	for range n {
		length, width := binary.Uvarint(c.buf[at:])
		at += width + int(length)
	}
	return at
}

func (c *texts) reset()    { c.buf, c.rows = c.buf[:0], 0 }
func (c *texts) size() int { return cap(c.buf) }

// Rows implements proto.ColInput, as the other methods do.
func (c *texts) Rows() int                    { return c.rows }
func (c *texts) Type() proto.ColumnType       { return proto.ColumnTypeString }
func (c *texts) EncodeColumn(b *proto.Buffer) { b.PutRaw(c.buf) }
func (c *texts) WriteColumn(w *proto.Writer)  { w.ChainBuffer(c.EncodeColumn) }

// list is a column of arrays: where each ends among the elements of all.
type list struct {
	ends proto.ColUInt64
	of   column
	n    int // elements
}

// begin begins the array of a row; next is the row of another element, which the caller sets; end ends the array.
func (c *list) begin(row int) {
	for len(c.ends) < row {
		c.ends = append(c.ends, uint64(c.n))
	}
}

func (c *list) next() (row int) {
	c.n++
	return c.n - 1
}

func (c *list) end() {
	c.ends = append(c.ends, uint64(c.n))
}

// start is the number of elements in front of a row.
func (c *list) start(row int) int {
	if row == 0 {
		return 0
	}
	return int(c.ends[row-1])
}

func (c *list) pad(rows int) {
	c.begin(rows)
	c.of.pad(c.n)
}

func (c *list) take(from column, i, j int) {
	f := from.(*list)
	first := f.start(i)
	c.of.take(f.of, first, f.start(j))
	for _, end := range f.ends[i:j] {
		c.ends = append(c.ends, uint64(c.n+int(end)-first))
	}
	c.n += f.start(j) - first
}

func (c *list) reset() {
	c.ends, c.n = c.ends[:0], 0
	c.of.reset()
}

func (c *list) size() int { return 8*cap(c.ends) + c.of.size() }

// Rows implements proto.ColInput, as the other methods do.
func (c *list) Rows() int                   { return len(c.ends) }
func (c *list) Type() proto.ColumnType      { return c.of.Type().Array() }
func (c *list) WriteColumn(w *proto.Writer) { w.ChainBuffer(c.EncodeColumn) }
func (c *list) EncodeColumn(b *proto.Buffer) {
	c.ends.EncodeColumn(b)
	c.of.EncodeColumn(b)
}

// named are columns with their names: those of a block, or the elements of a tuple.
type named []proto.InputColumn

func (c *named) add(name string, d column) { *c = append(*c, proto.InputColumn{Name: name, Data: d}) }

func (c *named) text(name string) *texts {
	d := new(texts)
	c.add(name, d)
	return d
}

func (c named) pad(rows int) {
	for _, d := range c {
		d.Data.(column).pad(rows)
	}
}

func (c named) take(from column, i, j int) {
	f := *from.(*named)
	for k, d := range c {
		d.Data.(column).take(f[k].Data.(column), i, j)
	}
}

func (c named) reset() {
	for _, d := range c {
		d.Data.(column).reset()
	}
}

func (c named) size() (n int) {
	for _, d := range c {
		n += d.Data.(column).size()
	}
	return n
}

// Rows implements proto.ColInput, as the other methods do.
func (c named) Rows() int                   { return c[0].Data.Rows() }
func (c named) WriteColumn(w *proto.Writer) { w.ChainBuffer(c.EncodeColumn) }
func (c named) EncodeColumn(b *proto.Buffer) {
	for _, d := range c {
		d.Data.EncodeColumn(b)
	}
}

func (c named) Type() proto.ColumnType {
	var elements []string
	for _, d := range c {
		elements = append(elements, "`"+d.Name+"` "+string(d.Data.Type()))
	}
	return proto.ColumnType("Tuple(" + strings.Join(elements, ", ") + ")")
}

// Makers of columns: n1 to n8 are numbers of so many bytes, null those that may be unknown.

func number[T any, C cells[T]](c *named, name, kind string, nullable bool) *numbers[T, C] {
	d := &numbers[T, C]{kind: kind, nullable: nullable}
	c.add(name, d)
	return d
}

func (c *named) n1(name string) *bytes8 {
	return number[uint8, proto.ColUInt8](c, name, "UInt8", false)
}
func (c *named) flag(name string) *bytes8 {
	return number[uint8, proto.ColUInt8](c, name, "Bool", false)
}
func (c *named) n2(name string) *numbers2 {
	return number[uint16, proto.ColUInt16](c, name, "UInt16", false)
}
func (c *named) n4(name string) *numbers4 {
	return number[uint32, proto.ColUInt32](c, name, "UInt32", false)
}
func (c *named) n8(name string) *numbers8 {
	return number[uint64, proto.ColUInt64](c, name, "UInt64", false)
}
func (c *named) time(name string) *times {
	return number[int64, proto.ColInt64](c, name, nanoseconds, false)
}
func (c *named) null1(name string) *bytes8 {
	return number[uint8, proto.ColUInt8](c, name, "UInt8", true)
}
func (c *named) null2(name string) *numbers2 {
	return number[uint16, proto.ColUInt16](c, name, "UInt16", true)
}
func (c *named) null4(name string) *numbers4 {
	return number[uint32, proto.ColUInt32](c, name, "UInt32", true)
}
func (c *named) null8(name string) *numbers8 {
	return number[uint64, proto.ColUInt64](c, name, "UInt64", true)
}
func (c *named) nullTime(name string) *times {
	return number[int64, proto.ColInt64](c, name, nanoseconds, true)
}
func (c *named) nullFloat(name string) *floats {
	return number[float32, proto.ColFloat32](c, name, "Float32", true)
}
func (c *named) nullAddr(name string) *addrs {
	return number[proto.IPv6, proto.ColIPv6](c, name, "IPv6", true)
}

const nanoseconds = "DateTime64(9, 'UTC')"

func (c *named) list(name string, of column) *list {
	d := &list{of: of}
	c.add(name, d)
	return d
}

func (c *named) texts(name string) (*list, *texts) {
	of := new(texts)
	return c.list(name, of), of
}
