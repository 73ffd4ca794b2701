package client

import (
	"testing"

	"intsink/cmd/intsink/internal/flowapi"
)

// TestUsualText: a reference far above what is usual says how far; one that is not, what is usual; unknown, nothing.
func TestUsualText(t *testing.T) {
	usual := func(ns uint32) *uint32 { return &ns }
	for _, c := range []struct {
		reference uint32
		usual     *uint32
		want      string
	}{
		{1_784_000, usual(1700), "; 1049 x its usual 1.7 us"},
		{3399, usual(1700), "; usually 1.7 us"},
		{3400, usual(1700), "; 2 x its usual 1.7 us"},
		{5, usual(0), "; usually 0 ns"},
		{5, nil, ""},
	} {
		if got := usualText(&flowapi.ReferenceItem{ReferenceNs: c.reference, UsualNs: c.usual}); got != c.want {
			t.Errorf("%d: %q, want %q", c.reference, got, c.want)
		}
	}
}
