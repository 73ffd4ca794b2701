// checker: what the checks of several blocks need.

package conf

import (
	"slices"
	"time"

	"intsink/conf/schema"
)

// checker checks the configuration that was read from one file.
type checker struct{ *schema.File }

// checkKnown reports name if it is not one of known; what is the kind of thing it names, such
// as "port".
func (d checker) checkKnown(key any, where, name, what string, known []string) {
	if name == "" || slices.Contains(known, name) {
		return // an empty name has been reported as missing
	}
	hint := schema.DidYouMean(name, known, "%q")
	switch {
	case hint != "":
	case len(known) == 0:
		hint = "; there is no " + what + " block"
	default:
		hint = "; there is " + schema.SomeOf(known)
	}
	d.ErrorAt([]any{key}, "%s: no %s is called %q%s", where, what, schema.Short(name), hint)
}

// Limits that several attributes share.
const (
	maxTime = 24 * time.Hour
	maxRate = 1_000_000_000
)
