package main

import (
	"os"
	"testing"
)

// TestChartIsOfTheResults: docs/images/speed.svg is what bench/RESULTS.md says.
func TestChartIsOfTheResults(t *testing.T) {
	results, err := os.ReadFile("../../RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := chart(string(results))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../docs/images/speed.svg")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/images/speed.svg is not of bench/RESULTS.md: run `go run ./bench/cmd/chart`")
	}
}

// TestChartNeedsItsRows: a row that is not in the results is an error, not a bar of zero.
func TestChartNeedsItsRows(t *testing.T) {
	if _, err := chart("| testpmd io | 60 |"); err == nil {
		t.Error("no error for results without the sink's rows")
	}
}
