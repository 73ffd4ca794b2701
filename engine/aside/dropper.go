// Dropper: what the stages need of the aside that drops packets.

package aside

import (
	"intsink/engine/burst"
	"intsink/engine/watch"
)

// Dropper drops packets of links with burst.Link.Droppable by rules that come and go. A worker has one; without rules
// it costs a comparison a burst.
type Dropper struct {
	On     bool               // there are rules: Select is to be called for each burst
	Select func(*burst.Burst) // notes what is to be dropped (Burst.Doomed); where there is anything, it sets Burst.Aside, and Drop is to be called
	Drop   func(*burst.Burst) // drops that, once its events are reported
	Adopt  func(devices watch.Devices, watched, innerKeys bool)
}
