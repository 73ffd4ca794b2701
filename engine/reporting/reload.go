// Exchange: collectors that come and go at a reload, without loss of sequence numbers.

package reporting

// Exchange is the outboxes that a Reporter takes in place of those that it has: what
// takes longer to make than a worker may pause.
type Exchange struct {
	outboxes []outbox
	counters []CollectorCounters
}

// Prepare makes an Exchange for collectors that outlets lead to. Safe from any goroutine.
func (x *Reporter) Prepare(outlets []Outlet, collectors []Collector) *Exchange {
	e := &Exchange{make([]outbox, len(outlets)), make([]CollectorCounters, len(outlets))}
	for i := range outlets {
		e.outboxes[i] = x.kind.outboxOf(&outlets[i])
		e.counters[i].Name = collectors[i].Name
	}
	return e
}

// Adopt makes rules those of x; what is open is sealed by the old ones. e is nil where the
// collectors have the outlets that they had.
func (x *Reporter) Adopt(rules *Rules, collectors []Collector, e *Exchange, now int64) {
	for i := range x.outboxes {
		if o := &x.outboxes[i]; o.open.IsOpen() {
			o.seal(now)
		}
	}
	if e != nil {
		x.exchange(e, now)
	}
	x.configure(rules, collectors)
}

// exchange takes the outboxes of e in place of those that there are. What both have goes
// on as it is; the others are closed.
func (x *Reporter) exchange(e *Exchange, now int64) {
	kept := uint64(0)
	for i := range e.outboxes {
		for j := range x.outboxes {
			if old := &x.outboxes[j]; kept>>j&1 == 0 && old.ring == e.outboxes[i].ring && old.sender == e.outboxes[i].sender {
				kept |= 1 << j
				name := e.counters[i].Name
				e.counters[i], e.outboxes[i] = *old.counters, *old
				e.counters[i].Name = name
				break
			}
		}
		e.outboxes[i].counters = &e.counters[i]
	}
	for j := range x.outboxes {
		if kept>>j&1 == 0 {
			x.outboxes[j].close(now)
		}
	}
	x.outboxes, x.counters.Collectors = e.outboxes, e.counters
}
