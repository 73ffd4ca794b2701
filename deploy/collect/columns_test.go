package collect

import (
	"os"
	"regexp"
	"strings"
	"testing"
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
