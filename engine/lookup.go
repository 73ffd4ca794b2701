// Stage look up: finds or makes the flows of the packets whose flow package fast has not found.

package engine

// lookup finds or makes the flow of every INT packet: of all where some were parsed, else
// of those that package fast has not found.
func (w *Worker) lookup(b *burst, all bool) {
	f, n := w.fast, w.fast.Len()
	if all {
		f.Find()
	}
	b.fresh = w.table.Resolve(b.now, f.Keys[:n], f.Hashes[:n], f.Flows[:n], f.Missing)
}
