// NumberedTexts: an attribute that is an object from numbers to texts: { 12 = "Eth1/12" }.

package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Numbered is a text that stands for a number.
type Numbered struct {
	Number uint32
	Text   string
}

// NumberedTexts returns an attribute that gives numbers from 0 to max names, each once: such as blocks have.
func NumberedTexts(p *[]Numbered, max uint32) Value { return &numberedTexts{p, max} }

type numberedTexts struct {
	p   *[]Numbered
	max uint32
}

func (v *numberedTexts) Key() any { return v.p }

func (v *numberedTexts) Write() (string, bool) {
	all := make([]string, len(*v.p))
	for i, x := range *v.p {
		all[i] = fmt.Sprintf("%d = %s", x.Number, Quote(x.Text))
	}
	return "{ " + strings.Join(all, ", ") + " }", len(all) > 0
}

func (v *numberedTexts) Read(x *Expr) bool {
	cons, ok := x.e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return x.Fail(`must be an object from numbers to names, such as { 12 = "Eth1/12" }`)
	}
	list, good := make([]Numbered, 0, len(cons.Items)), true
	seen := map[uint32]bool{}
	for _, item := range cons.Items {
		key := x.d.textAt(item.KeyExpr.Range())
		n, err := strconv.ParseUint(strings.Trim(key, `"`), 10, 32)
		e := &Expr{d: x.d, path: x.path, Where: x.Where + ": " + Short(key), e: item.ValueExpr}
		switch name, isText := "", false; {
		case err != nil || uint32(n) > v.max:
			x.d.report(Error, item.KeyExpr.Range(), "%s: a number from 0 to %d stands on the left of the equals sign, not %s", x.Where, v.max, Short(key))
			good = false
		case seen[uint32(n)]:
			x.d.report(Error, item.KeyExpr.Range(), "%s: %d has a name already", x.Where, n)
			good = false
		default:
			if name, isText = e.Text("a name"); isText && !isName(name) {
				isText = e.Fail("%s", badName(name))
			}
			seen[uint32(n)], good = true, good && isText
			list = append(list, Numbered{uint32(n), name})
		}
	}
	slices.SortFunc(list, func(a, b Numbered) int { return int(int64(a.Number) - int64(b.Number)) })
	*v.p = list
	return good
}

// badName says what a name may have.
func badName(name string) string {
	return fmt.Sprintf("a name has 1 to %d letters, digits, spaces or _ - . : / @ #, not %q", maxName, Short(name))
}
