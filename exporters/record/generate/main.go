// Command generate writes all that follows from the table of a record's fields (table.go): the code of exporters/record that writes
// JSON, protobuf and columns, intsink.proto, the columns of the tables in deploy/collect, and the lists of docs/records.md. `make
// schema` runs it.
//
// A new field is a row of the table, a field of Record (or Hop), and what reads it (exporters/record/doc.go has the list).
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// part is a part of a file that is written: what stands behind a line that ends with from, up to one that begins with to.
type part struct {
	file, from, to string
	text           func() string
}

var parts = []part{
	{"deploy/collect/intsink.proto", "package intsink.v1;\n\n", "", protoMessages},
	{"deploy/collect/clickhouse.sql", "EXISTS int.reports\n(\n", ")\nENGINE", reports.columnLines},
	{"deploy/collect/clickhouse-kafka.sql", "EXISTS int.kafka\n(\n", ")\nENGINE", kafkaJSON.columnLines},
	{"deploy/collect/clickhouse-protobuf.sql", "EXISTS int.kafka\n(\n", ")\nENGINE", kafkaProto.columnLines},
	{"deploy/collect/clickhouse-protobuf.sql", "REPLACE (\n", "FROM int.kafka\n", fromMessages},
	{"deploy/collect/clickhouse-upgrade.sql", "ALTER TABLE int.reports\n", "\nALTER TABLE", upgradeLines},
	{"docs/records.md", "text in hexadecimal digits.\n\n", "\nOf type `report`:", func() string { return documented(sectionFields("Head")) }},
	{"docs/records.md", "\nOf type `report`:\n\n", "\nA hop has", func() string {
		return documented(sectionFields("Place", "Headers", "Reasons", "Packet", "Tunnel", "Way", "Contents", "Episodes"))
	}},
	{"docs/records.md", "told first.\n\n", "\nWhat the sinks do not see", func() string { return documented(messageOf("Episode").sections[0].fields) }},
}

// generated returns all files as they have to be, by name.
func generated(root string) (map[string]string, error) {
	source, err := goSource()
	if err != nil {
		return nil, err
	}
	files := map[string]string{"exporters/record/generated.go": string(source)}
	for _, p := range parts {
		text, known := files[p.file]
		if !known {
			b, err := os.ReadFile(filepath.Join(root, p.file))
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		before, rest, ok := strings.Cut(text, p.from)
		at := len(rest)
		if p.to != "" {
			at = strings.Index(rest, p.to)
		}
		if !ok || at < 0 {
			return nil, fmt.Errorf("%s: nothing stands between %q and %q", p.file, p.from, p.to)
		}
		files[p.file] = before + p.from + p.text() + rest[at:]
	}
	return files, nil
}

func main() {
	files, err := generated(".")
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(name, []byte(text), 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
