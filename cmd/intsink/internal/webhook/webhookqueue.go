// hook: the goroutine of one server: sends what waits, tries again, gives up.

package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/conf"
)

const (
	tries     = 8 // of one change
	firstWait = time.Second
	longest   = time.Minute // between two tries
)

// hook is one block notify.
type hook struct {
	of      *Hooks
	conf    conf.Notify
	waiting *waiting
	stop    context.CancelFunc
	counts  *counts
	client  *http.Client
	wait    func(context.Context, time.Duration)
}

// start makes a hook that runs until its stop.
func start(of *Hooks, c conf.Notify, n *counts) *hook {
	ctx, cancel := context.WithCancel(context.Background())
	k := newHook(of, c, n)
	k.stop = cancel
	go k.run(ctx)
	return k
}

func newHook(of *Hooks, c conf.Notify, n *counts) *hook {
	return &hook{
		of: of, conf: c, waiting: newWaiting(n), counts: n, wait: wait,
		client: &http.Client{
			Timeout:       c.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		},
	}
}

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (k *hook) run(ctx context.Context) {
	for ctx.Err() == nil {
		c, more, pause := k.waiting.next(time.Now())
		if c != nil {
			k.deliver(ctx, *c, more)
			continue
		}
		var due <-chan time.Time // never
		if pause > 0 {
			due = time.After(pause)
		}
		select {
		case <-ctx.Done():
		case <-k.waiting.wake:
		case <-due:
		}
	}
}

// deliver sends c, again and again where that may help. more others are not sent, or not in this minute.
func (k *hook) deliver(ctx context.Context, c problem.Change, more int) {
	m := message{c, k.of.sink(), text(&c), more}
	if more > 0 {
		m.Text += fmt.Sprintf("; and %d more: intsink problems", more)
	}
	body, err := json.Marshal(m)
	pause := firstWait
	for try := 1; err == nil && ctx.Err() == nil; try++ {
		var again bool
		if again, err = k.send(ctx, body); err == nil {
			k.counts[Sent].Add(1)
			k.tell(ctx, nil)
			return
		}
		k.tell(ctx, err)
		if !again || try == tries {
			break
		}
		k.wait(ctx, pause)
		pause, err = min(2*pause, longest), nil
	}
	k.counts[Failed].Add(1)
	k.waiting.unheard(&c)
}

// tell says whether the hook works; not of one that is stopped, whose name may be another's by now.
func (k *hook) tell(ctx context.Context, err error) {
	if ctx.Err() == nil {
		k.of.degraded.Set(block, k.conf.Name, err)
	}
}

// message is the body of a request. Chats that take a text show that one.
type message struct {
	problem.Change
	Sink Sink   `json:"sink"`
	Text string `json:"text"`
	More int    `json:"more,omitempty"` // others that are not sent, or not in this minute
}

func text(c *problem.Change) string {
	p := c.Problem
	where := p.Where()
	if where != "" {
		where += ": "
	}
	if c.Event == problem.End {
		return fmt.Sprintf("over: %s%s (%s)", where, p.What, p.Until.Sub(p.Since).Round(time.Second))
	}
	return where + p.What
}

// send posts body once; again tells whether another try may help. The error has no word of the URL's path, which may be a
// secret.
func (k *hook) send(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, k.conf.URL, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("its url cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "intsink/"+k.of.sink().Version)
	answer, err := k.client.Do(r)
	if err != nil {
		var cause *url.Error
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return true, fmt.Errorf("%s: %w", r.URL.Host, err)
	}
	defer answer.Body.Close()
	io.CopyN(io.Discard, answer.Body, 64<<10) // what it says is nobody's interest
	switch n := answer.StatusCode; {
	case n >= 200 && n < 300:
		return false, nil
	case n >= 300 && n < 400:
		return false, fmt.Errorf("%s answers %d: redirects are not followed; write the address that it leads to", r.URL.Host, n)
	case n >= 400 && n < 500 && n != http.StatusRequestTimeout && n != http.StatusTooManyRequests:
		return false, fmt.Errorf("%s answers %d %s", r.URL.Host, n, http.StatusText(n))
	default:
		return true, fmt.Errorf("%s answers %d %s", r.URL.Host, n, http.StatusText(n))
	}
}
