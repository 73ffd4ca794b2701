package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFilesFollowFromTheTable: what is written by the table is in the files.
func TestFilesFollowFromTheTable(t *testing.T) {
	const root = "../../.."
	files, err := generated(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, string(b)); d != "" {
			t.Errorf("%s is not what the table says, `make schema` writes it:\n%s", name, d)
		}
	}
}

// TestNumbersAreUnique: no two fields of a message have one name or one number.
func TestNumbersAreUnique(t *testing.T) {
	for _, m := range table {
		names, numbers := map[string]bool{}, map[int]bool{}
		for _, f := range m.fields() {
			if names[f.name] || numbers[f.number] || f.number <= 0 {
				t.Errorf("%s.%s = %d: there is another one", m.name, f.name, f.number)
			}
			names[f.name], numbers[f.number] = true, true
		}
	}
}
