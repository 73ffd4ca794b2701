package verdict

import (
	"strings"
	"testing"
)

// TestPage: lines are paragraphs, a table stays as it is, and nothing that stands in a text is more than text.
func TestPage(t *testing.T) {
	got := Page("slow at <b>", "flows\n  first & second\n\nPLACE   USUAL\nnode 1  3us\nSLOW: how long\n\nproblem 1\n")
	want := "<h1>slow at &lt;b&gt;</h1>\n<p>flows</p>\n<p class=\"more\">first &amp; second</p>\n<pre tabindex=\"0\" role=\"region\" aria-label=\"places\">PLACE   USUAL\nnode 1  3us\n</pre>\n<p>SLOW: how long</p>\n<p class=\"part\">problem 1</p>\n</main>"
	want = strings.Replace(want, "<p>SLOW", "<p class=\"part\">SLOW", 1)
	if !strings.Contains(got, want) {
		t.Error(got)
	}
	if !strings.Contains(got, "<style>"+style+"</style>") || !strings.Contains(Policy, digest(style)) || strings.Contains(Policy, "unsafe") {
		t.Error(Policy)
	}
	if ends := Page("t", "PLACE   USUAL\nnode 1\n"); !strings.Contains(ends, "node 1\n</pre>\n</main>") {
		t.Error(ends)
	}
}
