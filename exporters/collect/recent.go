// recent: the latest batches of the log, with their encoded records, by position.

package collect

import (
	"sync"

	"intsink/exporters/collect/spool"
)

// recent holds the batches that were pushed last: outputs that keep up take them from here, and decode
// and encode nothing. It is bounded; whoever falls behind reads the log.
type recent struct {
	limit int // bytes of the batches at most

	mu      sync.Mutex
	batches []recentBatch // one behind the other
	bytes   int
	end     spool.Position // of the log, as far as outputs may read
}

// recentBatch is a batch between two positions.
type recentBatch struct {
	start, end spool.Position
	*Batch
}

// add appends a batch, keeps it if an output wants it, and lets those go that all outputs have read:
// what is in front of least.
func (r *recent) add(b recentBatch, wanted bool, least spool.Position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = b.end
	if wanted {
		b.refs.Add(1)
		r.batches, r.bytes = append(r.batches, b), r.bytes+b.bytes
	}
	n := 0
	for ; n < len(r.batches) && (r.bytes > r.limit || !least.Before(r.batches[n].end)); n++ {
		r.bytes -= r.batches[n].bytes
		r.batches[n].release()
		r.batches[n] = recentBatch{}
	}
	r.batches = r.batches[n:]
}

// next returns the batch at a position, held for the caller. If there is none in the format, it returns how far to
// read the log instead: to the next batch of it, or to the end.
func (r *recent) next(at spool.Position, f Format) (b *Batch, end spool.Position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.batches {
		if x.start.Before(at) || !x.has(f) {
			continue
		}
		if x.start == at {
			x.refs.Add(1)
			return x.Batch, x.end
		}
		return nil, x.start
	}
	return nil, r.end
}

// behind reports whether whoever reads on at a position has to read the log.
func (r *recent) behind(at spool.Position) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.batches) > 0 {
		return at.Before(r.batches[0].start)
	}
	return at.Before(r.end)
}

// extend lets outputs read on to end, in the log.
func (r *recent) extend(end spool.Position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = end
}
