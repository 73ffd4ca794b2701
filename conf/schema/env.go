// Puts variables of the environment into values: "${env.NAME}".

package schema

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// variables returns the variables of the environment in x, each once: of "${env.NODE}", of
// "10.0.${env.SITE}.1:8555" and of env.NODE. None where x has anything else that is no literal.
func (x *Expr) variables() []string {
	v := variables{seen: map[string]bool{}}
	if !v.of(x.e) {
		return nil
	}
	return v.names
}

// variables are those of an expression, in the order in which they come first.
type variables struct {
	names []string
	seen  map[string]bool
}

// of adds the variables of e; false: e has something else, too.
func (v *variables) of(e hclsyntax.Expression) bool {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		return e.Val.Type() == cty.String
	case *hclsyntax.ParenthesesExpr:
		return v.of(e.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return v.of(e.Wrapped)
	case *hclsyntax.TemplateExpr:
		for _, part := range e.Parts {
			if !v.of(part) {
				return false
			}
		}
		return true
	case *hclsyntax.ScopeTraversalExpr:
		if len(e.Traversal) != 2 || e.Traversal.RootName() != "env" {
			return false
		}
		name, ok := e.Traversal[1].(hcl.TraverseAttr)
		if ok && !v.seen[name.Name] {
			v.names, v.seen[name.Name] = append(v.names, name.Name), true
		}
		return ok
	}
	return false
}

// expanded returns the text of x with its variables filled in; one that is not set is an error.
func (x *Expr) expanded() (cty.Value, bool) {
	values := map[string]cty.Value{}
	for _, name := range x.variables() {
		text, ok := x.d.Env(name)
		if !ok {
			x.d.report(Error, x.e.Range(), "%s = %s: the environment variable %s is not set; set it where the program is started (systemd: Environment= or EnvironmentFile= of the unit), or write the value",
				x.Where, x.source(), Short(name))
			return cty.NilVal, false
		}
		values[name] = cty.StringVal(strings.ToValidUTF8(text, "?"))
	}
	v, diags := x.e.Value(&hcl.EvalContext{Variables: map[string]cty.Value{"env": cty.ObjectVal(values)}})
	if diags.HasErrors() || v.Type() != cty.String {
		return cty.NilVal, x.Fail("must be text with ${env.NAME} in it")
	}
	return v, true
}

// environment says in messages what the variables of x are, "" where it has none.
func (x *Expr) environment() string {
	var all []string
	for _, name := range x.variables() {
		if text, ok := x.d.Env(name); ok {
			all = append(all, fmt.Sprintf("%s is %q", name, Short(text)))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}
