// Watch: match, policy and collectors.

package watch

import "intsink/engine/event"

// Watch selects traffic, the events that are looked for in it, and the collectors that get
// the reports.
type Watch struct {
	Name string
	Match
	Policy     event.Policy
	Collectors uint64 // bit i: reports go to collector i
}
