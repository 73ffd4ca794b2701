// Aliases of package schema's diagnostics: Diagnostics, Error, Warning.

package conf

import "intsink/conf/schema"

// Diagnostics is what was found in a file: its errors and warnings, with their places.
type Diagnostics = schema.Diagnostics

// Diagnostic is one of them.
type Diagnostic = schema.Diagnostic

// The severities of diagnostics.
const (
	Error   = schema.Error   // the configuration cannot be used
	Warning = schema.Warning // it can, but probably does not do what its author thinks
)
