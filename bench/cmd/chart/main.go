// Chart draws the bar chart of the README out of bench/RESULTS.md: million packets a second of
// one core, the sink beside testpmd. `make bench-results` calls it.
//
//	chart -results bench/RESULTS.md -svg docs/images/speed.svg
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
)

// bars are the rows of RESULTS.md that the chart shows, with what it calls them.
var bars = []struct{ row, text string }{
	{"testpmd io", "testpmd: forward, look at nothing"},
	{"testpmd 5tswap", "testpmd: swap addresses and ports"},
	{"Open vSwitch", "Open vSwitch: look flows up, clear a field"},
	{"testpmd csum", "testpmd: parse, compute checksums"},
	{"intsink not INT", "intsink: packets without INT"},
	{"intsink strip only", "intsink: remove INT"},
	{"intsink reference input", "intsink: remove INT, watch flows"},
	{"intsink mix of eight kinds of headers", "intsink: the same, eight kinds of headers"},
	{"intsink report for every packet", "intsink: a report for every packet"},
}

func main() {
	from := flag.String("results", "bench/RESULTS.md", "the tables of make bench-results")
	to := flag.String("svg", "docs/images/speed.svg", "the chart")
	flag.Parse()
	text, err := os.ReadFile(*from)
	if err != nil {
		log.Fatal(err)
	}
	svg, err := chart(string(text))
	if err != nil {
		log.Fatalf("%s: %v", *from, err)
	}
	if err := os.WriteFile(*to, []byte(svg), 0o644); err != nil {
		log.Fatal(err)
	}
}

const (
	rowHeight = 30
	left      = 320
	width     = 860
	longest   = width - left - 70
)

// chart is the SVG of bars; colours follow the reader's theme.
func chart(results string) (string, error) {
	values := make([]float64, len(bars))
	most := 0.0
	for i, b := range bars {
		v, err := mpps(results, b.row)
		if err != nil {
			return "", err
		}
		values[i], most = v, max(most, v)
	}
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="14" role="img">
<title>Million packets a second of one core</title>
<style>text{fill:#1f2328}.ours{fill:#0b6bcb}.other{fill:#9aa4ae}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.ours{fill:#58a6ff}.other{fill:#6e7781}}</style>
`, width, len(bars)*rowHeight+10)
	for i, b := range bars {
		y, class := i*rowHeight+5, "other"
		if strings.HasPrefix(b.row, "intsink") {
			class = "ours"
		}
		long := values[i] / most * longest
		fmt.Fprintf(&svg, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left-10, y+19, b.text)
		fmt.Fprintf(&svg, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"22\" rx=\"2\"/>\n", class, left, y+3, long)
		fmt.Fprintf(&svg, "<text x=\"%.0f\" y=\"%d\">%.1f</text>\n", left+long+8, y+19, values[i])
	}
	return svg.String() + "</svg>\n", nil
}

// mpps is the rate of a row of RESULTS.md, in million packets a second.
func mpps(results, row string) (float64, error) {
	for line := range strings.Lines(results) {
		cells := strings.Split(line, "|")
		if len(cells) > 2 && strings.TrimSpace(cells[1]) == row {
			return strconv.ParseFloat(strings.TrimSpace(cells[2]), 64)
		}
	}
	return 0, fmt.Errorf("no row %q", row)
}
