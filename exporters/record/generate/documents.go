// Writes the tables of docs/records.md.

package main

import (
	"fmt"
	"slices"
	"strings"
)

const tableHead = "| field | type | meaning |\n|---|---|---|\n"

// documented are the lines of fields that have a meaning.
func documented(fields []field) string {
	b := strings.Builder{}
	b.WriteString(tableHead)
	var names []string
	var group []field
	for _, f := range fields {
		names, group = append(names, "`"+f.name+"`"), append(group, f)
		if f.doc != "" {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(names, ", "), words(group), strings.ReplaceAll(f.doc, "{fields}", fieldNames(f.kind.of)))
			names, group = nil, nil
		}
	}
	return b.String()
}

// words are the types of fields that share a line.
func words(group []field) string {
	var all []string
	for _, f := range group {
		word := f.kind.word
		if n := len(messageFields(f.kind.of)); f.kind.repeated && n > 0 && n <= 3 {
			word += " of " + fieldNames(f.kind.of)
		}
		if len(group) > 1 && (word == "number" || word == "object") && (all == nil || all[len(all)-1] != word+"s") {
			if n := len(all); n > 0 && all[n-1] == word {
				all = all[:n-1]
				word += "s"
			}
		}
		if !slices.Contains(all, word) && !slices.Contains(all, word+"s") {
			all = append(all, word)
		}
	}
	return strings.Join(all, ", ")
}

func messageFields(name string) []field {
	if name == "" {
		return nil
	}
	return messageOf(name).fields()
}

func fieldNames(message string) string {
	var all []string
	for _, f := range messageFields(message) {
		all = append(all, "`"+f.name+"`")
	}
	return strings.Join(all, ", ")
}

// sectionFields are those of some sections of a record.
func sectionFields(names ...string) (all []field) {
	for _, s := range table[0].sections {
		if slices.Contains(names, s.name) {
			all = append(all, s.fields...)
		}
	}
	return all
}
