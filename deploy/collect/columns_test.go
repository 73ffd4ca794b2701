package collect

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"intsink/exporters/record"
)

// columns is the text between the parentheses of a file's first table, and where it stands.
func columns(t *testing.T, name string) (text string, from, to int) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text = string(b)
	from = strings.Index(text, "\n(\n") + len("\n(\n")
	to = from + strings.Index(text[from:], "\n)\nENGINE") + 1
	if from < 3 || to <= from {
		t.Fatalf("%s has no table", name)
	}
	return text, from, to
}

var endOfLine = regexp.MustCompile(`(?m)[ ]*--.*$`)

// codec is how a column is compressed on disk.
var codec = regexp.MustCompile(` CODEC\((?:[^()]|\([^()]*\))*\)`)

// TestColumnsHaveOneSource: the tables that read Kafka have the columns of int.reports in
// clickhouse.sql, with the types that the messages have. INTSINK_UPDATE=1, which `make schema`
// sets, writes them.
func TestColumnsHaveOneSource(t *testing.T) {
	text, from, to := columns(t, "clickhouse.sql")
	reports := codec.ReplaceAllString(endOfLine.ReplaceAllString(text[from:to], ""), "") // Kafka's engine stores nothing
	for name, types := range map[string]*strings.Replacer{
		// Kafka's engine knows no DEFAULT: the view puts it there.
		"clickhouse-kafka.sql": strings.NewReplacer("UInt32 DEFAULT 4294967295", "Nullable(UInt32)"),
		// The messages have numbers and text where the table has times and addresses.
		"clickhouse-protobuf.sql": strings.NewReplacer("UInt32 DEFAULT 4294967295", "Nullable(UInt32)",
			"Nullable(DateTime64(9, 'UTC'))", "Nullable(UInt64)", "DateTime64(9, 'UTC')", "Int64", "Nullable(IPv6)", "Nullable(String)"),
	} {
		t.Run(name, func(t *testing.T) {
			want := types.Replace(reports)
			text, from, to := columns(t, name)
			if text[from:to] == want {
				return
			}
			if os.Getenv("INTSINK_UPDATE") == "" {
				t.Fatal("the columns are not those of clickhouse.sql: run `make schema`")
			}
			if err := os.WriteFile(name, []byte(text[:from]+want+text[to:]), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestColumnsAreFields: the columns of int.reports are the fields of a record, in the order
// of intsink.proto.
func TestColumnsAreFields(t *testing.T) {
	var want, proto []string
	text, from, to := columns(t, "clickhouse.sql")
	for _, m := range regexp.MustCompile("(?m)^    `?([a-z_0-9]+)`? [A-Z]").FindAllStringSubmatch(text[from:to], -1) {
		want = append(want, m[1])
	}
	b, err := os.ReadFile("intsink.proto")
	if err != nil {
		t.Fatal(err)
	}
	text = string(b)
	message := text[strings.Index(text, "message Report {"):strings.Index(text, "message Hop {")]
	for _, m := range regexp.MustCompile(`(?m)^  .* ([a-z_0-9]+) = [0-9]+`).FindAllStringSubmatch(message, -1) {
		proto = append(proto, m[1])
	}
	if len(want) < 50 || !reflect.DeepEqual(proto, want) {
		t.Errorf("fields of message Report\n%v, int.reports has\n%v", proto, want)
	}
}

// TestColumnsAreTheFields: int.reports has a column for each field of a record, under its name, and no other: those
// that a table lacks are told by collect.
func TestColumnsAreTheFields(t *testing.T) {
	text, from, to := columns(t, "clickhouse.sql")
	var names []string
	for _, m := range regexp.MustCompile("(?m)^    `?([a-z_0-9]+)`? ").FindAllStringSubmatch(text[from:to], -1) {
		names = append(names, m[1])
	}
	if !reflect.DeepEqual(names, record.Fields) {
		t.Errorf("columns %v, fields %v", names, record.Fields)
	}
}
