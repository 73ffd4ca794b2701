package schema

import "testing"

func TestSuggestions(t *testing.T) {
	for given, want := range map[string]string{
		"nwe_flow": "; did you mean new_flow?", "path_chang": "; did you mean path_change?", "zzz": "",
		"LOSS": "; did you mean loss?",
	} {
		t.Run(given, func(t *testing.T) {
			if got := DidYouMean(given, []string{"new_flow", "path_change", "loss", "drop"}, "%s"); got != want {
				t.Errorf("%s: %q, want %q", given, got, want)
			}
		})
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"same", "same", 0}} {
		t.Run(c.a, func(t *testing.T) {
			if got := editDistance(c.a, c.b); got != c.want {
				t.Errorf("%s, %s: %d", c.a, c.b, got)
			}
		})
	}
}
