package main

import (
	"strings"
	"testing"
)

// TestArgumentsThatAreNone: one line, which says what was meant.
func TestArgumentsThatAreNone(t *testing.T) {
	for args, want := range map[string]string{
		"check x.hcl":       `check takes flags only, and "x.hcl" is none: did you mean --config x.hcl?`,
		"run x.hcl":         `--config x.hcl?`,
		"replay a.pcap":     `replay takes flags only`,
		"plan a.pcap":       `plan takes flags only`,
		"gen a.pcap":        `did you mean --out a.pcap?`,
		"why":               `why explains one flow, and 0 are named: intsink why tcp:`,
		"why a b":           `and 2 are named`,
		"decode --port x f": `--port "x": must be a whole number from 0 to 65535`,
	} {
		t.Run(args, func(t *testing.T) {
			_, stderr, code := intsink(t, strings.Fields(args)...)
			if code != 2 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: exit code %d, %q", args, code, stderr)
			}
		})
	}
}
