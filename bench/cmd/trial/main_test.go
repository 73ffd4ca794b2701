package main

import (
	"strings"
	"testing"
)

// TestAnswer: a line is one trial; one that is none ends the program, with what it should be.
func TestAnswer(t *testing.T) {
	try := func(rate, seconds float64) (offered, received uint64, err error) {
		return uint64(rate * seconds), uint64(min(rate, 5e6) * seconds), nil
	}
	for _, c := range []struct{ in, out, err string }{
		{"4e6 2\n6000000.5 0.5\n", "8000000 8000000\n3000000 2500000\n", ""},
		{"", "", ""},
		{"4e6 1\nfaster\n", "4000000 4000000\n", `"faster": two numbers`},
		{"4e6\n", "", "two numbers"},
		{"0 1\n", "", "two numbers"},
	} {
		var out strings.Builder
		err := answer(strings.NewReader(c.in), &out, try)
		if out.String() != c.out || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %q, %v", c.in, out.String(), err)
		}
	}
}
