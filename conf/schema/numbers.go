// Numbers that people write and HCL does not take as they mean them: hexadecimal, with a suffix
// or a unit, with a leading zero, in quotes; says what to write instead.

package schema

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// suffixed is a number with a suffix, a unit or both: "10M", "1.5G", "10 Mbit/s".
var suffixed = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)\s*([kKMGT]?)([a-z/]*)$`)

var scales = map[string]int64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

// unitsOf are the units that say of an attribute's number what its name says already.
var unitsOf = map[string][]string{"bits": {"bit", "bits", "bit/s", "bits/s", "bps"}, "packets": {"pps"}}

// longestNumber characters of text may be a number that somebody meant.
const longestNumber = 40

// scaled returns the whole number that s means as the value of an attribute; false: it has neither
// suffix nor unit, or means none.
func scaled(attribute, s string) (string, bool) {
	m := suffixed.FindStringSubmatch(s)
	if m == nil || len(s) > longestNumber || m[2]+m[3] == "" || m[3] != "" && !slices.Contains(unitsOf[attribute], m[3]) {
		return "", false
	}
	n, ok := new(big.Rat).SetString(m[1])
	if !ok || !n.Mul(n, new(big.Rat).SetInt64(scales[m[2]])).IsInt() || !n.Num().IsInt64() {
		return "", false
	}
	return n.Num().String(), true
}

// plainNumber is advice for text where an attribute takes a number: to leave the quotes out, or
// what to write for one with a suffix such as "10M"; "" where it is no number.
func plainNumber(attribute, s string) string {
	if n, ok := scaled(attribute, s); ok {
		return ", without quotes and suffix: " + n
	}
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return ""
	}
	if n, ok := withoutZero(s); ok {
		return ", without quotes: " + Short(n)
	}
	return ", without quotes"
}

// withoutZero returns a number without the zeros that it begins with; false: it has none.
func withoutZero(number string) (string, bool) {
	rest := strings.TrimLeft(number, "0")
	if len(rest) == len(number) || number == "0" || strings.HasPrefix(number, "0.") || strings.HasPrefix(strings.ToLower(number), "0e") {
		return "", false
	}
	if rest == "" || rest[0] < '0' || rest[0] > '9' {
		rest = "0" + rest
	}
	return rest, true
}

// decimal reports a number such as 010, which HCL takes for 10 without a word, and returns false:
// whoever writes it may mean 8.
func (x *Expr) decimal() bool {
	text := x.d.textAt(digitsOf(x.e).Range())
	if n, ok := withoutZero(text); ok {
		return x.Fail("numbers are decimal and begin with no zero: write %s for %s", Short(n), Short(text))
	}
	return true
}

// digitsOf returns a number without the parentheses and the minus around it.
func digitsOf(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return digitsOf(e.Expression)
	case *hclsyntax.UnaryOpExpr:
		return digitsOf(e.Val)
	}
	return e
}

// badNumber is what stands where a value does and is no number: 0x1F, 10M, 30s.
type badNumber struct {
	at   hcl.Range
	text string // what is wrong with it, and what to write
}

// badNumbers finds the badNumbers of a file. HCL's parser refuses each of them, with a message about
// something else.
func (d *File) badNumbers(s *source) (all []badNumber) {
	tokens, _ := hclsyntax.LexConfig(s.text, s.name, hcl.InitialPos)
	attribute := ""
	for i := 0; i < len(tokens); i++ {
		switch {
		case tokens[i].Type == hclsyntax.TokenEqual && i > 0:
			attribute = string(tokens[i-1].Bytes)
		case tokens[i].Type == hclsyntax.TokenQuotedNewline:
			return all // a quote is not closed: what follows is text where it was none, and the other way
		case inWord(tokens[i].Type):
			end, bad := wordOf(tokens[i:])
			if bad && isValue(tokens[:i]) {
				at := hcl.RangeBetween(tokens[i].Range, tokens[i+end-1].Range)
				all = append(all, badNumber{at, d.instead(attribute, string(s.text[at.Start.Byte:at.End.Byte]))})
			}
			i += end - 1
		}
	}
	return all
}

// inWord reports whether a token may be a part of an unquoted word that begins with a digit.
func inWord(t hclsyntax.TokenType) bool {
	switch t {
	case hclsyntax.TokenNumberLit, hclsyntax.TokenIdent, hclsyntax.TokenDot, hclsyntax.TokenColon, hclsyntax.TokenDoubleColon, hclsyntax.TokenSlash:
		return true
	}
	return false
}

// isValue reports whether a value comes behind tokens, not a label or a name.
func isValue(tokens hclsyntax.Tokens) bool {
	for i := len(tokens) - 1; i >= 0; i-- {
		switch tokens[i].Type {
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			continue
		case hclsyntax.TokenEqual, hclsyntax.TokenOBrack, hclsyntax.TokenComma, hclsyntax.TokenColon, hclsyntax.TokenMinus, hclsyntax.TokenOParen:
			return true
		}
		return false
	}
	return false
}

// wordOf returns how many of tokens stand together without a gap. It is bad where a number stands in
// front of letters.
func wordOf(tokens hclsyntax.Tokens) (n int, bad bool) {
	for n = 1; n < len(tokens) && inWord(tokens[n].Type) && tokens[n].Range.Start.Byte == tokens[n-1].Range.End.Byte; n++ {
		bad = bad || tokens[n-1].Type == hclsyntax.TokenNumberLit && tokens[n].Type == hclsyntax.TokenIdent
	}
	return n, bad
}

// hexadecimal is a number such as 0x1F.
var hexadecimal = regexp.MustCompile(`^0[xX]([0-9a-fA-F]{1,16})$`)

// instead says what to write for a word that begins with a digit, as the value of an attribute.
func (d *File) instead(attribute, word string) string {
	if m := hexadecimal.FindStringSubmatch(word); m != nil {
		digits, quoted := d.QuotedHex[attribute]
		n, _ := strconv.ParseUint(m[1], 16, 64)
		if !quoted {
			return fmt.Sprintf("numbers are decimal: write %d for %s", n, word)
		}
		return fmt.Sprintf(`%s takes hexadecimal digits in quotes: write "0x%s%s" for %s`, attribute, strings.Repeat("0", max(digits-len(m[1]), 0)), m[1], word)
	}
	if n, ok := scaled(attribute, word); ok {
		return fmt.Sprintf("a number has no suffix: write %s for %s", n, word)
	}
	if _, err := time.ParseDuration(word); err == nil {
		return fmt.Sprintf("a number has no suffix, and a duration stands in quotes: write %q", Short(word))
	}
	return fmt.Sprintf("a number has no suffix, and text stands in quotes: write %q", Short(word))
}
