// The value of report.fragment: a number of bytes, or "int".

package conf

import (
	"fmt"
	"strconv"

	"intsink/conf/schema"
)

// fragment is how much of a packet a report shows.
func fragment(r *Report) schema.Value { return &fragmentValue{r} }

type fragmentValue struct{ r *Report }

func (v *fragmentValue) Key() any { return &v.r.Fragment }

func (v *fragmentValue) Write() (string, bool) {
	if v.r.Fragment == WholeINT {
		return `"int"`, true
	}
	return strconv.Itoa(v.r.Fragment), true
}

func (v *fragmentValue) Read(x *schema.Expr) bool {
	accepted := fmt.Sprintf(`a number from 0 to %d, or "int"`, MaxFragment)
	s, ok := x.TextOrNumber(accepted)
	if !ok {
		return false
	}
	if s == "int" {
		v.r.Fragment = WholeINT
		return true
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > MaxFragment {
		return x.Fail("must be %s%s", accepted, schema.DidYouMean(s, []string{"int"}, "%q"))
	}
	v.r.Fragment = n
	return true
}
