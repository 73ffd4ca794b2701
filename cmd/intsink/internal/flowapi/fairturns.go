// turns: hands the workers to one question after the other, so that no client keeps the others waiting for long.

package flowapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"intsink/cmd/intsink/internal/control"
)

// class says whose question comes before whose.
type class uint8

const (
	ofSocket class = iota // root's: before all others
	small                 // one flow, or a table: milliseconds
	list                  // of flows: up to seconds. In turns with the small ones
	numClasses
)

// Questions of one address over TCP that may be under way at once, with the one that is answered. The page asks for two
// lists where it shows a queue.
var mostOf = [numClasses]int{small: 8, list: 4}

// caller is who has asked a question.
type caller struct {
	from string // the address; "": the unix socket
	class
}

// callerKey is the key under which a question's context has its caller.
type callerKey struct{}

// turns has one question answered at a time.
type turns struct {
	mu      sync.Mutex
	busy    bool
	last    class                       // of the question that is answered
	waiting [numClasses][]chan struct{} // each is closed once it is its turn
	open    map[caller]int              // questions that are under way
}

// enter counts a question until leave, and refuses it where its caller has enough of them.
func (t *turns) enter(c caller) error {
	if c.class == ofSocket {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[c] >= mostOf[c.class] {
		return apiError{http.StatusTooManyRequests, fmt.Sprintf("there are %d such questions of this address under way, which is all: ask again in a second", t.open[c])}
	}
	if t.open == nil {
		t.open = map[caller]int{}
	}
	t.open[c]++
	return nil
}

func (t *turns) leave(c caller) {
	if c.class == ofSocket {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[c]--; t.open[c] == 0 {
		delete(t.open, c)
	}
}

// take waits until it is the turn of ctx's caller; false: ctx has ended before.
func (t *turns) take(ctx context.Context) bool {
	who, _ := ctx.Value(callerKey{}).(caller)
	t.mu.Lock()
	if !t.busy {
		t.busy, t.last = true, who.class
		t.mu.Unlock()
		return true
	}
	ready := make(chan struct{})
	t.waiting[who.class] = append(t.waiting[who.class], ready)
	t.mu.Unlock()
	select {
	case <-ready:
		return true
	case <-ctx.Done():
	}
	t.mu.Lock()
	at := slices.Index(t.waiting[who.class], ready)
	if at >= 0 {
		t.waiting[who.class] = slices.Delete(t.waiting[who.class], at, at+1)
	}
	t.mu.Unlock()
	if at < 0 { // it has become its turn in the meantime
		t.give()
	}
	return false
}

// give ends a turn, and begins the next.
func (t *turns) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	order := []class{ofSocket, small, list}
	if t.last == small {
		order = []class{ofSocket, list, small}
	}
	for _, c := range order {
		if all := t.waiting[c]; len(all) > 0 {
			t.last, t.waiting[c] = c, all[1:]
			close(all[0])
			return
		}
	}
	t.busy = false
}

// callerOf is who has sent r, which asks for a list of flows or for something small.
func callerOf(r *http.Request) caller {
	c := caller{control.From(r), small}
	switch {
	case c.from == "":
		c.class = ofSocket
	case r.URL.Path == "/api/v1/flows":
		c.class = list
	}
	return c
}
