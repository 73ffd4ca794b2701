// Reads a file of at most so many bytes; refuses source that is nested too deeply or is not text,
// before the HCL parser is given it.

package schema

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"intsink/internal/plainfile"
)

// The HCL parser recurses on whatever nests, and Go ends a process whose stack
// is too deep: a file that is read on SIGHUP must not be able to do that. What
// the parser sees is bounded first.
const (
	maxSource  = plainfile.Max
	maxNesting = 100 // brackets and templates that are open; a good file has 6
	maxRun     = 100 // unary operators in a row
	maxForeign = 100 // tokens, in a file, that no good one has
)

// bounded reports the first place where the file s exceeds what the parser may be given; false
// means that it reported one.
func (d *File) bounded(s *source) bool {
	if len(s.text) > maxSource {
		d.whole(s, "the configuration is larger than %d KiB", maxSource>>10)
		return false
	}
	if !d.text(s) {
		return false
	}
	tokens, _ := hclsyntax.LexConfig(s.text, s.name, hcl.InitialPos)
	var b bounds
	for i := range tokens {
		if excess := b.next(tokens[i].Type); excess != "" {
			d.report(Error, tokens[i].Range, "%s", excess)
			return false
		}
	}
	return true
}

// text reports the first byte that is not text; false means that it reported one. The HCL
// parser would report every byte behind it, too.
func (d *File) text(s *source) bool {
	if at := bytes.IndexByte(s.text, 0); at >= 0 {
		d.whole(s, "this is no text file: a byte of 0 stands at offset %d; a configuration is HCL, in UTF-8", at)
		return false
	}
	for i, line := range s.lines {
		if utf8.Valid(line) {
			continue
		}
		column := 1
		for {
			r, size := utf8.DecodeRune(line)
			if r == utf8.RuneError && size == 1 {
				break
			}
			line, column = line[size:], column+1
		}
		d.report(Error, hcl.Range{Filename: s.name, Start: hcl.Pos{Line: i + 1, Column: column}, End: hcl.Pos{Line: i + 1, Column: column + 1}},
			"byte 0x%02x is no UTF-8; save the configuration as UTF-8 text", line[0])
		return false
	}
	return true
}

// whole reports an error about the file s as a whole, without a line.
func (d *File) whole(s *source, format string, args ...any) {
	d.out.add(Diagnostic{Severity: Error, File: s.name, Message: fmt.Sprintf(format, args...)}, nil)
}

// bounds counts what the parser recurses on.
type bounds struct {
	closers []hclsyntax.TokenType // of the brackets that are open
	run     int
	foreign int
}

// next returns what is too much with the token t, "" if nothing is.
func (b *bounds) next(t hclsyntax.TokenType) string {
	switch t {
	case hclsyntax.TokenNewline, hclsyntax.TokenComment:
		return "" // may stand within a run
	case hclsyntax.TokenMinus, hclsyntax.TokenBang:
		if b.run++; b.run > maxRun {
			return fmt.Sprintf("more than %d operators - and ! in a row", maxRun)
		}
		return ""
	}
	b.run = 0
	switch t {
	case hclsyntax.TokenQuestion, hclsyntax.TokenStar, hclsyntax.TokenTemplateControl, hclsyntax.TokenDoubleColon:
		// Conditions, splats, %{ if } and namespaces nest without brackets.
		if b.foreign++; b.foreign > maxForeign {
			return fmt.Sprintf("more than %d conditions, splats, template directives and namespaces: values are literals", maxForeign)
		}
	}
	if closer := closerOf(t); closer != hclsyntax.TokenNil {
		b.closers = append(b.closers, closer)
		if len(b.closers) > maxNesting {
			return fmt.Sprintf("brackets, blocks or templates are nested more than %d deep", maxNesting)
		}
	} else if n := len(b.closers); n > 0 && b.closers[n-1] == t {
		b.closers = b.closers[:n-1] // one that does not match closes nothing: rather too deep than too trusting
	}
	return ""
}

func closerOf(t hclsyntax.TokenType) hclsyntax.TokenType {
	switch t {
	case hclsyntax.TokenOBrace:
		return hclsyntax.TokenCBrace
	case hclsyntax.TokenOBrack:
		return hclsyntax.TokenCBrack
	case hclsyntax.TokenOParen:
		return hclsyntax.TokenCParen
	case hclsyntax.TokenOQuote:
		return hclsyntax.TokenCQuote
	case hclsyntax.TokenOHeredoc:
		return hclsyntax.TokenCHeredoc
	case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return hclsyntax.TokenTemplateSeqEnd
	}
	return hclsyntax.TokenNil
}
