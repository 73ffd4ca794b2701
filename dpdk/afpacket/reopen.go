// Follows a kernel interface that is deleted and made anew: opens it again with growing
// pauses, hands sockets to the queues.

package afpacket

import (
	"time"

	"intsink/dpdk/iface"
)

const (
	firstPause = 50 * time.Millisecond
	longPause  = 5 * time.Second
)

// changed follows the interface: it is called after each change and, by a timer, as long
// as something is left to do.
func (p *Port) changed() {
	p.changing.Lock()
	defer p.changing.Unlock()
	if p.ended() {
		return
	}
	p.collect()
	s, present := p.follower.State()
	if !present {
		p.index = 0 // the kernel has unbound the sockets: it may come back with the index that it had, from another network namespace
	}
	if present && s.Index != p.index {
		all, err := p.openAll(&s)
		p.takeOver(all, err)
		if err == nil {
			p.index = s.Index
		}
	}
	open := present && s.Index == p.index
	if open {
		p.speed.Store(int64(iface.Speed(p.config.Interface)))
	}
	p.up.Store(open && s.LinkUp())
	p.again(open)
}

// takeOver gives each queue its sockets on the interface that was made anew, or keeps why there are none.
func (p *Port) takeOver(all []*sockets, err error) {
	var unused []*sockets // the kernel may make their end wait
	p.mu.Lock()
	p.failed = err
	if err == nil {
		for i, q := range p.queues {
			if old := q.replacement.Swap(all[i]); old != nil {
				p.missed += old.ring.drops()
				unused = append(unused, old)
			}
		}
		p.sockets = all
		p.reopened++
	}
	p.mu.Unlock()
	for _, old := range unused {
		old.close()
	}
}

// collect closes the sockets that queues no longer use, and adds what their rings dropped to
// the port's count.
func (p *Port) collect() {
	for _, q := range p.queues {
		if old := q.retired.Swap(nil); old != nil {
			p.mu.Lock()
			p.missed += old.ring.drops()
			p.mu.Unlock()
			old.close()
		}
	}
}

// again calls changed after a pause if something is left to do: an interface to open or
// sockets to close. Each pause is twice as long as the one before.
func (p *Port) again(open bool) {
	left := false
	for _, q := range p.queues {
		left = left || q.replacement.Load() != nil || q.retired.Load() != nil
	}
	if _, present := p.follower.State(); present && !open {
		left = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.retry != nil {
		p.retry.Stop()
		p.retry = nil
	}
	if !left || p.closed {
		p.pause = 0
		return
	}
	p.pause = min(max(2*p.pause, firstPause), longPause)
	p.retry = time.AfterFunc(p.pause, p.changed)
}
