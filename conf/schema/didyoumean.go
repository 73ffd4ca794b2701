// "did you mean": finds the candidate at the least edit distance; shortens text for
// messages.

package schema

import (
	"fmt"
	"strings"
)

// DidYouMean is "; did you mean NAME?" with the candidate closest to given, or
// "" when none is close. format says how NAME is written.
func DidYouMean(given string, candidates []string, format string) string {
	if len(given) > maxSuggest {
		return ""
	}
	best, bestDistance := "", min(len(given)/3+2, len(given))
	for _, c := range candidates[:min(len(candidates), maxCandidates)] {
		if d := len(given) - len(c); d >= bestDistance || -d >= bestDistance {
			continue
		}
		if d := editDistance(strings.ToLower(given), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean "+format+"?", best)
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment).
func editDistance(a, b string) int {
	if len(a) > maxSuggest || len(b) > maxSuggest {
		return maxSuggest
	}
	row := func() []int { return make([]int, len(b)+1) }
	before, last, next := row(), row(), row()
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(last[j]+1, next[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}

// maxSuggest is the longest name that is worth a suggestion, and maxCandidates are the most that are looked at: in a
// file made for it there are thousands of both.
const (
	maxSuggest    = 64
	maxCandidates = 64
)

// Short is s, which comes from the file, at a length that fits a message.
func Short(s string) string {
	return cutText(s, 80)
}

func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = strings.ToValidUTF8(s[:min(len(s), 4*n+4)], "?")
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-3]) + "..."
	}
	return s
}

// SomeOf lists the first few of names, which come from the file, as oneOf does.
func SomeOf(names []string) string {
	const few = 8
	if len(names) <= few {
		return oneOf(names)
	}
	return fmt.Sprintf("%s and %d more", strings.ReplaceAll(oneOf(names[:few]), " or ", ", "), len(names)-few)
}

// oneOf returns the accepted values of a choice, as they are written.
func oneOf(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}
