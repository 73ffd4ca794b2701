// What of a collector opens later than the rest: addresses that are taken or not there, and the spool's folder.

package collect

import "net/netip"

// OpenListens opens the addresses that are not open, and begins to receive there. Snapshot has the reason for each that still
// is not.
func (c *Collector) OpenListens() {
	c.mu.Lock()
	var closed []*listen
	for _, l := range c.listens {
		if len(l.sockets) == 0 {
			closed = append(closed, l)
		}
	}
	c.mu.Unlock()
	for _, l := range closed {
		sockets, err := openSockets(l.Address, l.Sockets, l.Buffer, l.Share)
		c.mu.Lock()
		if l.why = err; err == nil {
			c.begin(l, sockets)
		}
		c.mu.Unlock()
	}
}

// begin receives from sockets, unless the collector stops. The caller holds the lock.
func (c *Collector) begin(l *listen, sockets []*socket) {
	if c.stopping {
		closeAll(sockets)
		return
	}
	l.sockets, l.local = sockets, sockets[0].local
	for _, s := range sockets {
		c.sockets.Add(1)
		go c.receive(l, s)
	}
}

// configured is the address of a listen that is not open; its port is 0 where the kernel is to choose one.
func configured(address string) netip.AddrPort {
	a, _ := netip.ParseAddrPort(address) // where it is none, openSockets says so
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// AttachSpool opens the folder of a spool that is detached, and puts what an earlier process left there behind what came since.
func (c *Collector) AttachSpool() error {
	if !c.o.Spool.Detached() {
		return nil
	}
	f, err := c.o.Spool.OpenFolder()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		return f.Close()
	}
	more, err := c.o.Spool.Attach(f)
	if err != nil {
		return err
	}
	total := uint64(0)
	for _, feed := range c.feeds {
		feed.restored(more[feed.name])
		total = max(total, more[feed.name])
	}
	c.recent.extend(c.o.Spool.End())
	for _, feed := range c.feeds {
		feed.signal()
	}
	c.log.out.Info("the spool's folder is open: what came since the start is written there", "records_of_before", total)
	return nil
}

// restored counts n records more that an earlier process left in the log.
func (f *feed) restored(n uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.accounts.Restored += n
	f.accounts.Waiting += n
}
