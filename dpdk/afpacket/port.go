// Port: opens a kernel interface, a socket and a ring per worker, after refusing offloads
// that cannot be undone (LRO); its link state; Close.

package afpacket

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"intsink/dpdk/iface"
)

// Config says what Open makes a port of.
type Config struct {
	Interface string
	Queues    int // one per worker
	Receivers int // the first so many queues receive; 0: all
	Frames    int // of the receive ring of each queue, at least
	MTU       int // 0: the interface's own
	Pool      Pool
}

// Port is an interface of the kernel.
type Port struct {
	config   Config
	follower *iface.Follower
	unlock   func()
	queues   []*Queue
	up       atomic.Bool  // as iface.State.LinkUp, and open
	speed    atomic.Int64 // of the link in Mbit/s, as it was when it changed last

	changing sync.Mutex // held while the port follows its interface, which the kernel may make wait; taken before mu
	openAll  func(*iface.State) ([]*sockets, error)
	index    int // of the interface that the sockets are on
	pause    time.Duration

	mu       sync.Mutex // held for a moment only: readers of counters and state take it
	sockets  []*sockets // the latest of each queue
	missed   uint64
	reopened uint64
	failed   error // why the interface that there is now could not be opened; nil: it is open
	retry    *time.Timer
	closed   bool
}

// Open takes the interface for this process alone and starts to receive. An
// interface that is down is opened, too: LinkUp is false until it comes up.
func Open(c Config) (*Port, error) {
	unlock, err := iface.Lock(c.Interface)
	if err != nil {
		return nil, err
	}
	p := &Port{config: c, unlock: unlock}
	p.openAll = p.open
	if err := p.start(); err != nil {
		unlock()
		return nil, err
	}
	return p, nil
}

func (p *Port) start() (err error) {
	if err := reversible(p.config.Interface, iface.ReadOffloads(p.config.Interface)); err != nil {
		return err
	}
	if p.config.MTU != 0 {
		if err := iface.SetMTU(p.config.Interface, p.config.MTU); err != nil {
			return err
		}
	}
	p.changing.Lock() // changed waits until the port is complete
	defer p.changing.Unlock()
	if p.follower, err = iface.Follow(p.config.Interface, p.changed); err != nil {
		return err
	}
	s, _ := p.follower.State()
	all, err := p.openAll(&s)
	if err != nil {
		p.end()
		p.changing.Unlock()
		p.follower.Close()
		p.changing.Lock()
		return fmt.Errorf("interface %q: %w", p.config.Interface, err)
	}
	for _, s := range all {
		p.queues = append(p.queues, newQueue(p, s))
	}
	p.sockets = all
	p.index = s.Index
	p.speed.Store(int64(iface.Speed(p.config.Interface)))
	p.up.Store(s.LinkUp())
	return nil
}

// reversible returns an error if the NIC changes frames in a way that cannot be undone (LRO).
func reversible(name string, o iface.Offloads) error {
	if o.LRO {
		return fmt.Errorf("interface %q: its NIC joins frames without a way back (LRO): ethtool -K %s lro off", name, name)
	}
	return nil
}

// open makes the sockets of all queues on the interface.
func (p *Port) open(s *iface.State) (all []*sockets, err error) {
	defer func() {
		if err != nil {
			for _, s := range all {
				s.close()
			}
			all = nil
		}
	}()
	var rings []*ring
	for i := range p.config.Queues {
		tx, err := openSender(s.Index)
		if err != nil {
			return all, err
		}
		q := &sockets{tx: tx}
		all = append(all, q)
		if p.config.Receivers > 0 && i >= p.config.Receivers {
			continue
		}
		r, err := openReceiver(p.config.Frames, s.MTU)
		if err != nil {
			return all, err
		}
		q.ring, rings = r, append(rings, r)
		if err := silence(r.fd); err != nil {
			return all, err
		}
		if err := bind(r.fd, s.Index); err != nil {
			return all, err
		}
	}
	if err := joinFanout(rings); err != nil {
		return all, err
	}
	for _, r := range rings {
		if err := listen(r.fd); err != nil {
			return all, err
		}
	}
	return all, nil
}

// Queue is queue pair i.
func (p *Port) Queue(i int) *Queue { return p.queues[i] }

// Name of the interface, as the configuration has it.
func (p *Port) Name() string { return p.config.Interface }

// MAC address of the interface.
func (p *Port) MAC() net.HardwareAddr {
	s, _ := p.follower.State()
	return s.MAC
}

// LinkUp reports whether frames can pass: the interface exists, is open and switched on, and
// has a carrier.
func (p *Port) LinkUp() bool { return p.up.Load() }

// LinkChanges counts how often the link came up or went down.
func (p *Port) LinkChanges() uint64 { return p.follower.Changes() }

// LinkDown describes what is wrong with the link; empty if it is up.
func (p *Port) LinkDown() string {
	if s := p.follower.LinkDown(); s != "" {
		return s
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil {
		return fmt.Sprintf("interface %s: %v", p.config.Interface, p.failed)
	}
	return ""
}

// LinkSpeed in Mbit/s, 0 where the driver does not tell.
func (p *Port) LinkSpeed() int { return int(p.speed.Load()) }

// Close gives everything back. The workers must have ended.
func (p *Port) Close() {
	if !p.end() {
		return
	}
	p.follower.Close()
	p.changing.Lock() // what a timer began ends
	defer p.changing.Unlock()
	for _, q := range p.queues {
		q.release()
	}
	p.unlock()
}

// end keeps the port from following its interface any further. It returns false where that was done before.
func (p *Port) end() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.closed
	p.closed = true
	if p.retry != nil {
		p.retry.Stop()
	}
	return !was
}

func (p *Port) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}
