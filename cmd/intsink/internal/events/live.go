// Hands the workers' notices of reports to the clients of /api/v1/events.

package events

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"intsink/engine"
	"intsink/engine/aside/inspect"
	"intsink/engine/event"
)

const (
	maxStreams   = 32                     // event streams at once
	maxFarther   = 28                     // of them, not on the unix socket
	maxOfOne     = 8                      // of them, of one address, and of one token
	streamRoom   = 1024                   // notices that wait for one slow client
	liveEvery    = 200 * time.Millisecond // how often the workers' feeds are read
	maxPerWorker = 1024                   // notices read of one worker at a time
)

// noticeJSON is one report in GET /api/v1/events.
type noticeJSON struct {
	Time   time.Time `json:"time"`
	Worker string    `json:"worker"`
	Events []string  `json:"events"`
	Flow   string    `json:"flow,omitempty"` // absent: the report is about no flow
	Path   string    `json:"path,omitempty"` // id, as in /api/v1/paths
	Nodes  []uint32  `json:"nodes,omitempty"`
}

// Live hands the workers' events and the sink's own to the clients of event streams, and some to the sink's own
// observer. While there is no client, it asks the workers for what the observer wants alone. A sink has one: a feed has
// one reader.
type Live struct {
	workers  []*engine.Worker
	wanted   event.Set // by observe
	observe  func(*inspect.Notice)
	unheeded uint64 // notices that observe was not given

	mu      sync.Mutex
	streams []*stream
	farther int            // of streams, not on the unix socket
	held    map[string]int // of streams, by address and by token
	reading bool           // read runs
}

// message is one server-sent event.
type message struct {
	event string
	body  any // JSON
}

// NewLive is for these workers.
func NewLive(workers []*engine.Worker) *Live { return &Live{workers: workers} }

// Observe has f called with each notice of a report of one of the events in set, whenever Sweep is called or a client
// listens. f must not wait for l.
func (l *Live) Observe(set event.Set, f func(*inspect.Notice)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted, l.observe = set, f
	l.want()
}

// want asks the workers for what is wanted now. The caller holds l.mu.
func (l *Live) want() {
	set := l.wanted
	if len(l.streams) > 0 {
		set = event.AllEvents
	}
	for _, w := range l.workers {
		w.Questions.Feed.Want(set)
	}
}

// Sweep hands the observer what waits for it, and returns how much was missed since the last call.
func (l *Live) Sweep() (missed uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var notices []inspect.Notice
	l.takeAll(&notices)
	missed, l.unheeded = l.unheeded, 0
	return missed
}

// Announce tells all clients of an event that is no report.
func (l *Live) Announce(event string, body any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.give(message{event, body})
}

// stream is one client. Notices that it does not take in time are counted and left out.
type stream struct {
	notices chan message
	missed  uint64 // guarded by live.mu
}

// subscribe adds a client that counts as one of each of these, none on the unix socket; nil: there are enough already. leave
// removes it.
func (l *Live) subscribe(of []string) (s *stream, leave func(), why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range of {
		if l.held[x] >= maxOfOne {
			return nil, nil, fmt.Sprintf("there are %d event streams of %s already, which is its share", maxOfOne, x)
		}
	}
	if len(l.streams) >= maxStreams || len(of) > 0 && l.farther >= maxFarther {
		return nil, nil, fmt.Sprintf("there are %d event streams already, which is all", len(l.streams))
	}
	l.hold(of, 1)
	s = &stream{notices: make(chan message, streamRoom)}
	l.streams = append(l.streams, s)
	if len(l.streams) == 1 {
		l.want()
		if !l.reading {
			l.reading = true
			go l.read()
		}
	}
	return s, func() { l.leave(s, of) }, ""
}

// hold counts n more streams, or one less. The caller holds l.mu.
func (l *Live) hold(of []string, n int) {
	if len(of) > 0 {
		l.farther += n
	}
	if l.held == nil {
		l.held = map[string]int{}
	}
	for _, x := range of {
		if l.held[x] += n; l.held[x] == 0 {
			delete(l.held, x)
		}
	}
}

// leave removes a client; the last one switches the feeds off, which ends read.
func (l *Live) leave(s *stream, of []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hold(of, -1)
	l.streams = slices.DeleteFunc(l.streams, func(x *stream) bool { return x == s })
	if len(l.streams) == 0 {
		l.want()
	}
}

// read passes notices on until there is no client.
func (l *Live) read() {
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	var notices []inspect.Notice
	for range tick.C {
		if !l.pass(&notices) {
			return
		}
	}
}

// pass reads every feed once; false: nobody listens any more.
func (l *Live) pass(notices *[]inspect.Notice) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.streams) == 0 {
		l.reading = false
		return false
	}
	l.takeAll(notices)
	return true
}

// takeAll reads every feed once. The caller holds l.mu: a feed has one reader.
func (l *Live) takeAll(notices *[]inspect.Notice) {
	for i, w := range l.workers {
		var missed uint64
		*notices, missed = w.Questions.Feed.Take((*notices)[:0], maxPerWorker)
		for _, s := range l.streams {
			s.missed += missed
		}
		l.unheeded += missed
		for n := range *notices {
			x := &(*notices)[n]
			if l.observe != nil && x.Events&l.wanted != 0 {
				l.observe(x)
			}
			if len(l.streams) > 0 {
				l.give(message{"report", notice(i, x)})
			}
		}
	}
}

// give passes one notice to every client that has room for it.
func (l *Live) give(n message) {
	for _, s := range l.streams {
		select {
		case s.notices <- n:
		default:
			s.missed++
		}
	}
}

// takeMissed returns how many notices s was not given since the last call.
func (l *Live) takeMissed(s *stream) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := s.missed
	s.missed = 0
	return n
}

// notice is what a worker's notice says, for people.
func notice(worker int, n *inspect.Notice) *noticeJSON {
	j := &noticeJSON{Time: time.Unix(0, n.Time).UTC(), Worker: fmt.Sprintf("w%d", worker), Events: []string{}}
	for e := range event.NumEvents {
		if n.Events.Has(event.Event(e)) {
			j.Events = append(j.Events, event.Event(e).String())
		}
	}
	if n.Tracked {
		j.Flow = inspect.FlowID(&n.Key)
	}
	if n.Known {
		j.Path = fmt.Sprintf("%016x", n.Path.ID)
		for _, hop := range n.Path.Known() {
			j.Nodes = append(j.Nodes, hop.Node)
		}
	}
	return j
}
