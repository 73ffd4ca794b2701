// sink: one sink: asks it, bounds its answer, remembers whether it answers and who it says it is.

package allsinks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sink is one address at which a sink answers.
type sink struct {
	name string // for people: its address, HOST:PORT
	of   string // the address as configured: name, or one with a host name
	base string // of its URLs
	c    *http.Client
	auth func() string // the header Authorization; "": none
	lost time.Time     // since when its name does not lead to it; zero: it does; of who looks names up

	mu      sync.Mutex
	known   identity
	late    int       // answers in a row that did not come
	since   time.Time // since when it does not answer; zero: it does
	tried   time.Time // when it was asked last, and did not
	why     string
	probing bool
}

// page is the URL of its own page; nil: it is known by what it told before alone.
func (s *sink) page() any {
	if s.base == "" {
		return nil
	}
	return s.base + "/ui/"
}

// is6 tells whether its address is of IPv6.
func (s *sink) is6() bool { return strings.HasPrefix(s.name, "[") }

// identity is what a sink says of itself.
type identity struct {
	node    string // number; "": it has not answered yet
	version string
	started time.Time
	ahead   time.Duration // of its clock before ours
	ready   string
}

// refusal is an error that a sink answers: status and text.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// maxAnswer is how long one answer of a sink may be.
const maxAnswer = 8 << 20

// awayAfter is how many answers in a row have to fail before a sink is not waited for any more: one probe a time asks whether it is back.
const (
	awayAfter  = 2
	probeEvery = 2 * time.Second
)

// ask gets the JSON of path from the sink, within ctx. room bounds what all answers of one question take.
func (s *sink) ask(ctx context.Context, path string, room *room) (object, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if bearer := s.auth(); bearer != "" {
		r.Header.Set("Authorization", bearer)
	}
	answer, err := s.c.Do(r)
	if err != nil {
		return nil, reason(ctx, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(&bounded{r: answer.Body, room: room, left: maxAnswer})
	if err != nil {
		return nil, reason(ctx, err)
	}
	o, err := parse(body)
	if answer.StatusCode == http.StatusOK {
		return o, err
	}
	if said := text(o, "error"); err == nil && said != "" {
		return nil, &refusal{answer.StatusCode, said}
	}
	return nil, fmt.Errorf("it answers %d %s: no sink of intsink listens there", answer.StatusCode, http.StatusText(answer.StatusCode))
}

// reason is the error for people: without the URL, which says the address again.
func reason(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("no answer in time")
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// answered notes that the sink answered, or why not.
func (s *sink) answered(now time.Time, err error) {
	var said *refusal
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried = now
	switch {
	case err == nil || errors.As(err, &said) && said.status != http.StatusUnauthorized:
		s.late, s.since, s.why = 0, time.Time{}, ""
	case s.late == 0 || s.since.IsZero():
		s.late, s.since, s.why = 1, now, err.Error()
	default:
		s.late++
		s.why = err.Error()
	}
}

// away tells why the sink is not asked now: several answers did not come, the last not long ago. While nobody looks, nobody asks it, and it may be
// back for long.
func (s *sink) away(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late < awayAfter || now.Sub(s.tried) > 2*probeEvery && !s.probing {
		return nil
	}
	return fmt.Errorf("it does not answer since %s: %s", s.since.UTC().Format(time.RFC3339), s.why)
}

// probe asks a sink that is away whether it is back, one question at a time, and waits for nothing.
func (s *sink) probe(now func() time.Time, limit time.Duration) {
	s.mu.Lock()
	if s.probing {
		s.mu.Unlock()
		return
	}
	s.probing = true
	s.mu.Unlock()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), max(limit, probeEvery))
		defer cancel()
		began := now()
		o, err := s.ask(ctx, "/api/v1/status", newRoom())
		s.answered(now(), err)
		if err == nil {
			s.identify(o, began, now())
		}
		<-ctx.Done() // no more than one in this time
		s.mu.Lock()
		s.probing = false
		s.mu.Unlock()
	}()
}

// identify takes up who the sink is from its status, which came between two times.
func (s *sink) identify(status object, began, came time.Time) {
	id := identity{version: text(status, "version"), ready: text(status, "ready")}
	if n, ok := status["node"].(json.Number); ok {
		if v, err := strconv.ParseUint(n.String(), 10, 32); err == nil {
			id.node = number64(v)
		}
	}
	id.started, _ = when(status, "started")
	if now, ok := when(status, "now"); ok {
		if ahead := now.Sub(began.Add(came.Sub(began) / 2)); ahead.Abs() > came.Sub(began)/2+time.Second { // else it may be the way
			id.ahead = ahead
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = id
}

func (s *sink) identity() identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known
}

// room is how much the answers to one question may take in all.
type room struct {
	mu   sync.Mutex
	left int
}

// maxRoom bounds the memory of one question: some ten times as much while it is merged.
const maxRoom = 48 << 20

func newRoom() *room { return &room{left: maxRoom} }

func (r *room) take(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left -= n
	return r.left >= 0
}

// bounded reads no more than a sink may say.
type bounded struct {
	r    io.Reader
	room *room
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= n; b.left < 0 {
		return n, fmt.Errorf("its answer is longer than %d MiB", maxAnswer>>20)
	}
	if !b.room.take(n) {
		return n, fmt.Errorf("the answers of all sinks together are longer than %d MiB", maxRoom>>20)
	}
	return n, err
}
