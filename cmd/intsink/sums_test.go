package main

import (
	"strings"

	"intsink/cmd/intsink/internal/observe/observetest"
)

// sumOf adds up all series that begin so.
func sumOf(p observetest.Exposition, prefix string) (sum float64) {
	for name, v := range p.Series {
		if strings.HasPrefix(name, prefix) {
			sum += v
		}
	}
	return sum
}
