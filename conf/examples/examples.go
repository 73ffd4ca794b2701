// Package examples has configurations that run as they stand, or nearly so.
package examples

import _ "embed"

// First is what `intsink check --example` prints.
//
//go:embed first.hcl
var First string
