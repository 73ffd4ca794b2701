// Source: the parts of a sink that the endpoint serves.

package observe

import (
	"intsink/cmd/internal/degraded"
	"intsink/cmd/intsink/internal/control"
	"intsink/conf"
)

// Source is what is served. Nothing in it changes while it is; what its functions return does.
type Source struct {
	Config   func() *conf.Config // in force now
	Control  *control.Server     // lets in and keeps out; nil: everybody may all
	Degraded *degraded.Parts
	Parts    []any // with some of the interfaces of package part, in the order of /metrics and of the index

	process processText
}
