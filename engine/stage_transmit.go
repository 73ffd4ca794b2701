package engine

// transmit sends what is left of the burst on out, in order, and frees the rest:
// all of it on a tap, where out is nil.
func (w *Worker) transmit(p *path, to Direction, out Queue, b *burst) {
	d := &p.counters.Direction[to]
	if out == nil {
		d.Dropped[DropTap] += uint64(b.n - b.nDrop)
		w.pool.FreeBulk(b.vec, b.n)
		b.nDrop = 0
		return
	}
	v, n := b.vec, b.n
	if b.nDrop > 0 {
		v, n = b.tx, 0
		for i := range b.n {
			if b.verdict[i] != consumed {
				v[n] = b.vec[i]
				n++
			}
		}
		w.pool.FreeBulk(b.drop, b.nDrop)
		b.nDrop = 0
	}
	if n == 0 {
		return
	}
	sent := send(out, v, n)
	d.Forwarded += uint64(sent)
	if left := n - sent; left > 0 {
		d.Dropped[DropTxFull] += uint64(left)
		w.refused(p, to, b, v, left)
		w.pool.FreeBulk(v, left)
	}
}
