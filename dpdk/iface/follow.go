// Follower: the present state of one interface over deletion and re-creation; link changes.

package iface

import "sync"

// Follower knows the present state of one interface, also after it was deleted and
// one of its name was made anew. Its methods may be called from any goroutine.
type Follower struct {
	name    string
	watcher *Watcher

	mu      sync.Mutex
	state   State
	present bool
	changes uint64
}

// Follow starts to follow the interface of that name, which must exist. changed is
// called after each change of its state, on a goroutine of its own; it may be nil.
func Follow(name string, changed func()) (*Follower, error) {
	f := &Follower{name: name}
	ready := make(chan struct{})
	w, err := Watch(func(e Event) {
		<-ready
		if f.handle(e) && changed != nil {
			changed()
		}
	})
	if err != nil {
		return nil, err
	}
	// The watch is on: what changes from here is among its events.
	f.watcher = w
	f.state, err = Lookup(name)
	f.present = err == nil
	close(ready)
	if err != nil {
		w.Close()
		return nil, err
	}
	return f, nil
}

// handle applies an event and reports whether it changed anything.
func (f *Follower) handle(e Event) bool {
	lost := e.Lost
	if lost {
		s, err := Lookup(f.name)
		e = Event{State: s, Gone: err != nil}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	same, anew := f.present && e.Index == f.state.Index, !f.present && !e.Gone && e.Name == f.name
	if !same && !anew && !lost {
		return false
	}
	was, before := f.present && f.state.LinkUp(), f.state
	if f.present = !e.Gone; f.present {
		f.state = e.State
	}
	up := f.present && f.state.LinkUp()
	if up != was {
		f.changes++
	}
	return up != was || e.Gone || before.Index != f.state.Index || before.MTU != f.state.MTU || before.Up != f.state.Up
}

// Name is the name that Follow was given.
func (f *Follower) Name() string { return f.name }

// State is the latest state, and whether the interface exists. Where it does not, the
// state is its last.
func (f *Follower) State() (s State, present bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, f.present
}

// Changes counts how often the link came up or went down.
func (f *Follower) Changes() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes
}

// LinkDown describes what is wrong with the link and what to do; empty if the link is up.
func (f *Follower) LinkDown() string {
	s, present := f.State()
	switch {
	case !present:
		return "interface " + f.name + " is gone"
	case !s.Up:
		return "interface " + s.Name + " is switched off: ip link set " + s.Name + " up"
	case !s.Carrier:
		return "interface " + s.Name + " has no carrier"
	}
	return ""
}

// Close ends the watch. changed must not call it.
func (f *Follower) Close() { f.watcher.Close() }
