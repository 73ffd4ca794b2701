// Writes the schemas: intsink.proto, and the columns of tables in SQL.

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// noteColumn is where comments begin.
const noteColumn = 42

// note puts a comment behind a line.
func note(line, mark, text string, column int) string {
	if text == "" {
		return line
	}
	return fmt.Sprintf("%-*s %s %s", column-2, line, mark, text)
}

// protoMessages are the messages of intsink.proto.
func protoMessages() string {
	var b strings.Builder
	for i := range table {
		m := &table[i]
		fmt.Fprintf(&b, "message %s {\n", m.name)
		for k, s := range m.sections {
			if k > 0 {
				b.WriteByte('\n')
			}
			if s.note != "" {
				b.WriteString("  // " + s.note + "\n")
			}
			for _, f := range (&message{sections: []section{s}}).fields() {
				b.WriteString(note("  "+m.protoField(&f), "//", f.note, noteColumn) + "\n")
			}
		}
		b.WriteString("}\n\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// width is how long a line of SQL gets at most.
const width = 128

// wrapped breaks a line, behind a comma, and indents what follows more than it.
func wrapped(line string) string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))] + "    "
	var b strings.Builder
	for len(line) > width {
		at := strings.LastIndex(line[:width], ", ")
		if at < len(indent) {
			break
		}
		b.WriteString(line[:at+1] + "\n")
		line = indent + line[at+2:]
	}
	return b.String() + line
}

func (m *message) protoField(f *field) string {
	t := f.kind.proto
	if f.kind == nanos && f.known != "" {
		t = "fixed64"
	}
	switch {
	case f.kind.repeated:
		t = "repeated " + t
	case f.kind != flag && !f.plain && (f.kind.of != "" || f.known != "" || f.null || f.kind == addr || f.kind == hex):
		t = "optional " + t
	}
	packed := ""
	if f.kind == numbers16 {
		packed = " [packed = false]"
	}
	return fmt.Sprintf("%s %s = %d%s;", t, f.name, f.number, packed)
}

// dialect is what tables differ in.
type dialect struct {
	stored bool // a table of records: with what compresses them, defaults and comments
	proto  bool // reads messages of protobuf
}

var (
	reports    = dialect{stored: true}
	kafkaJSON  = dialect{}
	kafkaProto = dialect{proto: true}
)

// columnLines are the columns of a table of records, a line each and more for objects.
func (d dialect) columnLines() string {
	var all []string
	for _, f := range table[0].fields() {
		line := d.column(&table[0], &f, "    ", "\n")
		if d.stored {
			first, rest, more := strings.Cut(line+",", "\n")
			line = note(first, "--", cmp.Or(f.stored, f.note), noteColumn+6)
			if more {
				line += "\n" + rest
			}
		} else {
			line += ","
		}
		all = append(all, line)
	}
	last := len(all) - 1
	all[last] = strings.TrimSuffix(all[last], ",")
	return strings.Join(all, "\n") + "\n"
}

// column is the definition of a column that begins with indent; where an object is longer than a line, its elements are separated by
// newline and an indent of their own.
func (d dialect) column(m *message, f *field, indent, newline string) string {
	name := f.name
	if slices.Contains([]string{"index", "from", "to"}, name) { // words of SQL
		name = "`" + name + "`"
	}
	s := indent + name + " " + d.sqlType(m, f, indent, newline)
	if d.stored && f.codec != "" {
		s += " CODEC(" + f.codec + ")"
	}
	return s
}

func (d dialect) sqlType(m *message, f *field, indent, newline string) string {
	t := f.kind.sql
	switch {
	case f.kind.of != "":
		t = d.tuple(messageOf(f.kind.of), indent, newline)
		if f.kind.repeated {
			t = "Array(" + t + ")"
		}
		return t
	case f.low:
		t = text64
	case f.kind == nodeID && !d.stored: // Kafka's engine knows no default: the view puts it there
		return "Nullable(UInt32)"
	case d.proto && f.kind == nanos && f.known != "":
		t = "UInt64"
	case d.proto && f.kind == nanos:
		t = "Int64"
	case d.proto && f.kind == addr:
		t = "String"
	}
	if m.null(f) {
		t = "Nullable(" + t + ")"
	}
	return t
}

func (d dialect) tuple(m *message, indent, newline string) string {
	fields := m.fields()
	before, between := "", " "
	if len(fields) > 3 && newline != " " {
		before, between = newline+indent+"    ", newline+indent+"    "
	}
	var all []string
	for i := range fields {
		all = append(all, strings.TrimLeft(d.column(m, &fields[i], indent+"    ", newline), " "))
	}
	return "Tuple(" + before + strings.Join(all, ","+between) + ")"
}

// upgradeLines alter a table of an earlier version: they add the columns that it lacks, and change those that have grown.
func upgradeLines() string {
	var all []string
	before := ""
	name := func(s string) string { return strings.TrimSpace(strings.SplitN(strings.TrimSpace(s), " ", 2)[0]) }
	var changed []string
	for _, f := range table[0].fields() {
		column := reports.column(&table[0], &f, "", " ")
		if f.number > firstNumbers {
			all = append(all, wrapped("    ADD COLUMN IF NOT EXISTS "+column+" AFTER "+before))
		}
		if f.codec != "" || f.grew {
			changed = append(changed, wrapped("    MODIFY COLUMN "+column))
		}
		before = name(column)
	}
	return strings.Join(append(all, changed...), ",\n") + ";\n"
}

// fromMessages are the values of a view over messages of protobuf where they differ from what the table takes.
func fromMessages() string {
	lines := []string{"    ifNull(node_id, " + allOnes + ") AS node_id"}
	for _, f := range table[0].fields() {
		if s := converted(&f, f.name, 0); s != f.name {
			lines = append(lines, wrapped("    "+s+" AS "+f.name))
		}
	}
	return strings.Join(lines, ",\n") + ")\n"
}

// converted is the value of a column, out of one of a message.
func converted(f *field, value string, depth int) string {
	switch {
	case f.kind == nanos && f.known != "":
		return "fromUnixTimestamp64Nano(toInt64(" + value + "), 'UTC')"
	case f.kind == nanos:
		return "fromUnixTimestamp64Nano(" + value + ", 'UTC')"
	case f.kind == addr:
		return "toIPv6OrNull(" + value + ")"
	case f.kind.of == "":
		return value
	}
	of := value
	if f.kind.repeated {
		of = string(rune('a' + depth))
	}
	same := true
	var all []string
	for i, x := range messageOf(f.kind.of).fields() {
		element := fmt.Sprintf("%s.%d", of, i+1)
		s := converted(&x, element, depth+1)
		same = same && s == element
		all = append(all, s)
	}
	switch tuple := "(" + strings.Join(all, ", ") + ")"; {
	case same:
		return value
	case f.kind.repeated:
		return "arrayMap(" + of + " -> " + tuple + ", " + value + ")"
	default:
		return tuple
	}
}
