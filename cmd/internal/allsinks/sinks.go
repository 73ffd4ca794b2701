// Sinks: the sinks of a network: makes them of addresses and names, looks names up again, finds two that say they are one.

package allsinks

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"intsink/conf"
	"intsink/internal/plainfile"
)

// Options say which sinks there are, and how they are asked.
type Options struct {
	Addresses []string      // HOST:PORT; a name stands for all addresses that it resolves to
	TokenFile string        // "": none
	TLS       *TLS          // nil: without
	Timeout   time.Duration // for an answer of one sink; an incident and a history take five of it
	Names     func() *conf.Names
	Log       func() *slog.Logger
	LookUp    func(ctx context.Context, host string) ([]netip.Addr, error)
	Now       func() time.Time
	Past      *Past // nil: what is older than the sinks remember is not known
}

// TLS names PEM files, and the name that the sinks' certificates must have; "": that of the address.
type TLS = plainfile.ClientTLS

// MaxSinks is how many sinks there may be.
const MaxSinks = 1024

// lookUpEvery is how often names are looked up, and the token is read, again.
const lookUpEvery = 30 * time.Second

// Sinks are all sinks of a network.
type Sinks struct {
	o Options
	c *http.Client

	mu     sync.Mutex
	token  string  // as the file has it
	sinks  []*sink // in the order of their names
	failed map[string]string

	questions questions
	problems  numbers

	stop context.CancelFunc
	done sync.WaitGroup
}

// New makes the sinks that o names. Names are looked up in the background, so that a server of names that hangs holds up nothing.
func New(o Options) (*Sinks, error) {
	s := &Sinks{o: o, failed: map[string]string{}}
	transport := &http.Transport{
		MaxIdleConnsPerHost: 4, MaxConnsPerHost: 8, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: 30 * time.Second,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	}
	var err error
	if o.TLS != nil {
		if transport.TLSClientConfig, err = o.TLS.Config(); err != nil {
			return nil, fmt.Errorf("network: %w", err)
		}
	}
	s.c = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.lookUp(ctx, true)
	s.done.Go(func() { s.keepLookingUp(ctx) })
	return s, nil
}

// Close ends what goes on in the background.
func (s *Sinks) Close() {
	s.stop()
	s.done.Wait()
	s.c.CloseIdleConnections()
}

func (s *Sinks) keepLookingUp(ctx context.Context) {
	soon := time.NewTimer(0)
	defer soon.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-soon.C:
			s.lookUp(ctx, false)
			soon.Reset(lookUpEvery)
		}
	}
}

// readToken reads the file with the token. Where it cannot be read, the token of before stays, and what sinks say without it is named.
func (s *Sinks) readToken() {
	if s.o.TokenFile == "" {
		return
	}
	b, err := plainfile.Read(s.o.TokenFile)
	if err != nil {
		s.o.Log().Warn("network: the token cannot be read", "token_file", s.o.TokenFile, "err", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = strings.TrimSpace(string(b))
}

// bearer is the header Authorization; "": there is no token.
func (s *Sinks) bearer() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == "" {
		return ""
	}
	return "Bearer " + s.token
}

// lookUp makes the set what the addresses stand for now; literal: without those that have to be looked up. A name that does not resolve keeps the sinks
// that it had.
func (s *Sinks) lookUp(ctx context.Context, literal bool) {
	s.readToken()
	all := map[string]string{}
	for _, a := range s.o.Addresses {
		host, port, err := net.SplitHostPort(a)
		if err != nil {
			continue // the configuration has been checked
		}
		if _, err := netip.ParseAddr(host); err == nil {
			all[a] = a
			continue
		}
		if literal {
			continue
		}
		found, err := s.o.LookUp(ctx, host)
		s.noteLookUp(a, err)
		for _, ip := range found {
			all[net.JoinHostPort(ip.Unmap().String(), port)] = a
		}
		for _, x := range s.stay(ctx, a, all, err) {
			all[x.name] = a
		}
	}
	s.use(all)
}

// keepLost is how long a sink is named that its name does not lead to any more, and that does not answer.
const keepLost = time.Hour

// stay are the sinks of a name that stay though it does not lead to them now: all where it does not resolve, and those that do not answer, since
// a service's name leads to none that has died. One that answers was taken out by somebody.
func (s *Sinks) stay(ctx context.Context, name string, found map[string]string, failed error) (all []*sink) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	for _, x := range s.all() {
		if x.of != name {
			continue
		}
		if _, still := found[x.name]; still || failed != nil {
			x.lost = time.Time{}
			if !still {
				mu.Lock()
				all = append(all, x)
				mu.Unlock()
			}
			continue
		}
		if x.lost.IsZero() {
			x.lost = s.o.Now()
		}
		if s.o.Now().Sub(x.lost) > keepLost {
			continue
		}
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, max(s.o.Timeout, time.Second))
			defer cancel()
			_, err := x.ask(ctx, statusPath, newRoom())
			if err == nil {
				return
			}
			x.answered(s.o.Now(), fmt.Errorf("%s leads to it no more, and %w", name, err))
			mu.Lock()
			defer mu.Unlock()
			all = append(all, x)
		})
	}
	wait.Wait()
	return all
}

func (s *Sinks) noteLookUp(address string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.failed, address)
	if err != nil {
		s.failed[address] = err.Error()
	}
}

// use makes sinks of the addresses that are new, each with what it stands for, and forgets those that are no more.
func (s *Sinks) use(addresses map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var kept []*sink
	for _, x := range s.sinks {
		if addresses[x.name] == x.of {
			kept = append(kept, x)
			delete(addresses, x.name)
		}
	}
	scheme := "http://"
	if s.o.TLS != nil {
		scheme = "https://"
	}
	for a, of := range addresses {
		kept = append(kept, &sink{name: a, of: of, base: scheme + a, c: s.c, auth: s.bearer})
	}
	slices.SortFunc(kept, func(a, b *sink) int { return strings.Compare(a.name, b.name) })
	if left := len(kept) - MaxSinks; left > 0 {
		s.o.Log().Warn("network: more sinks than are asked", "sinks", len(kept), "asked", MaxSinks)
		kept = kept[:MaxSinks]
	}
	s.sinks = kept
}

// all are the sinks of now.
func (s *Sinks) all() []*sink {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sinks)
}

// unresolved are the names that could not be looked up, and why.
func (s *Sinks) unresolved() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for k, v := range s.failed {
		out[k] = v
	}
	return out
}

// twin is the sink before x that says that it is the same process; claims is one that has the node id of x and is another process.
func (s *Sinks) twin(x *sink) (same, claims *sink) {
	mine := x.identity()
	if mine.node == "" {
		return nil, nil
	}
	for _, o := range s.all() {
		if o == x {
			return same, claims
		}
		if its := o.identity(); its.node == mine.node {
			if its.started.Equal(mine.started) {
				same = o
			} else {
				claims = o
			}
		}
	}
	return same, claims
}

// twinError is of a sink that says that it is one that has answered already. It may lie, or the other one may: each can read what the other
// says of itself.
type twinError struct{ of *sink }

func (e *twinError) Error() string {
	return "it says that it is the sink at " + e.of.name + ": what it tells is left out"
}

// once leaves out the answers of sinks that say that they are one that has answered, and has that said, but where both addresses are those
// of one name, one by IPv4 and one by IPv6: that is one host.
func (s *Sinks) once(replies []reply) []reply {
	kept := replies[:0]
	for _, r := range replies {
		if same, _ := s.twin(r.sink); same != nil {
			if r.sink.of == same.of && r.sink.is6() != same.is6() {
				continue
			}
			if r.err == nil {
				r.o, r.err = nil, &twinError{same}
			}
		}
		kept = append(kept, r)
	}
	return kept
}
