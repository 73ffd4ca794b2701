// Guesses: bounds how many wrong tokens an address may try.

package webguard

import (
	"crypto/sha256"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Bounds of guesses.
const (
	MaxGuesses  = 20          // wrong tokens of one address within
	guessesPer  = time.Minute // this time; then none is looked at until it is over
	maxGuessers = 1024        // addresses that are remembered

	// GuessRefused is what an address with too many of them is told.
	GuessRefused = "too many wrong tokens from this address: none is looked at for a minute"
)

// Guesses are the wrong tokens of late.
type Guesses struct {
	mu   sync.Mutex
	from map[netip.Prefix]*guesser
}

// guesser is an address that sends tokens.
type guesser struct {
	since time.Time            // when wrong was 0
	wrong int                  // tokens since then
	good  [4][sha256.Size]byte // hashes of the last right ones: who shares the address with a guesser keeps them
	next  int                  // place in good of the next
}

// Refuse tells whether the token of r is not to be looked at. ok tells whether it is right.
func (g *Guesses) Refuse(r *http.Request, now time.Time, ok func() bool) bool {
	bears := r.Header.Get("Authorization")
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	if bears == "" || err != nil {
		return false
	}
	from, sum := ShareOf(a.Addr()), sha256.Sum256([]byte(bears))
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.from[from]
	if x == nil {
		x = &guesser{since: now}
	}
	if now.Sub(x.since) >= guessesPer {
		x.since, x.wrong = now, 0
	}
	switch {
	case x.wrong >= MaxGuesses && !slices.Contains(x.good[:], sum):
		return true
	case ok():
		if !slices.Contains(x.good[:], sum) {
			x.good[x.next] = sum
			x.next = (x.next + 1) % len(x.good)
		}
	default:
		x.wrong++
	}
	g.keep(from, x)
	return false
}

// keep remembers x. Where there is no room it forgets another: whoever has more addresses than are remembered is not
// held up by counting them.
func (g *Guesses) keep(from netip.Prefix, x *guesser) {
	if g.from == nil {
		g.from = map[netip.Prefix]*guesser{}
	}
	if _, known := g.from[from]; !known && len(g.from) >= maxGuessers {
		for other := range g.from {
			delete(g.from, other)
			break
		}
	}
	g.from[from] = x
}
