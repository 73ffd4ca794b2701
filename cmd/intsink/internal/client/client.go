// Sink: sends HTTP requests to a running sink; makes errors of its answers.

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/internal/cli"
)

// Sink is a running sink.
type Sink struct {
	base, where string // of URLs; for people
	nor         string // where nobody listens, either
	control     bool   // it is asked to change something
	client      *http.Client
	token       string // "": none

	socket string        // path; "": it is asked over TCP
	pid    *atomic.Int64 // of the process that has answered last on socket

	otherwise func(context.Context) *Sink // who is asked where nobody listens here; nil: nobody

	missing []string // sinks that the answers of a collector over all sinks were without, and why
}

// partly is the exit code of a command whose answer is without some sink.
const partly = 3

// Whole is an error where a collector answered without some of its sinks; nil: all answered, or it is one sink.
func (s *Sink) Whole() error {
	if len(s.missing) == 0 {
		return nil
	}
	return cli.ExitError{Code: partly, Err: fmt.Errorf("this is without %s: %s", cli.Count(len(s.missing), "sink"), strings.Join(s.missing, "; "))}
}

// note takes up which sinks an answer is without.
func (s *Sink) note(body []byte) {
	var said struct{ Partial []struct{ Sink, Why string } }
	if !bytes.Contains(body, []byte(`"partial"`)) || json.Unmarshal(body, &said) != nil {
		return
	}
	for _, p := range said.Partial {
		if line := p.Sink + ", " + p.Why; !slices.Contains(s.missing, line) {
			s.missing = append(s.missing, line)
		}
	}
}

// Read asks for path and decodes the JSON of the answer into v.
func (s *Sink) Read(ctx context.Context, path string, v any) error {
	body, err := s.Ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return s.Decode(body, v)
}

// Decode decodes the JSON of an answer into v.
func (s *Sink) Decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%s: what answers there is no intsink of this version: %w", s.where, err)
	}
	return nil
}

// maxAnswer is more than any answer of a page.
const maxAnswer = 16 << 20

// timeout is longer than the sink takes for any answer.
const timeout = 31 * time.Second

// Ask sends a request and returns the answer; its errors say what to do. request is its JSON, nil for none.
func (s *Sink) Ask(ctx context.Context, method, path string, request any) ([]byte, error) {
	body, status, err := s.Answer(ctx, method, path, request)
	if err == nil && status >= 300 {
		err = s.failure(body, status)
		if status == http.StatusBadRequest && method == http.MethodGet {
			err = cli.WrongUsage(err) // a question that cannot be asked
		}
		return nil, err
	}
	s.note(body)
	return body, err
}

// Answer returns what is answered, whatever its status: a refusal may say more than one error does.
func (s *Sink) Answer(ctx context.Context, method, path string, request any) (body []byte, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer, err := s.send(ctx, method, path, request)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	if body, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer)); err != nil {
		return nil, 0, fmt.Errorf("the answer of %s breaks off: %w; ask again", s.where, err)
	}
	return body, answer.StatusCode, nil
}

// Health is nil if the sink says that it works: every worker polls.
func (s *Sink) Health(ctx context.Context) error {
	body, status, err := s.Answer(ctx, http.MethodGet, "/healthz", nil)
	switch {
	case err != nil || status == http.StatusOK:
		return err
	case status == http.StatusServiceUnavailable:
		return fmt.Errorf("%s: %s", s.where, bytes.TrimSpace(body))
	}
	return s.failure(body, status)
}

// Stream asks the sink by POST for something that it goes on to send, as long as the request lasts.
// The trailer is complete when body was read to its end.
func (s *Sink) Stream(ctx context.Context, path string, request any) (body io.ReadCloser, trailer http.Header, err error) {
	answer, err := s.send(ctx, http.MethodPost, path, request)
	if err != nil {
		return nil, nil, err
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // what cannot be read is no error of ours
		return nil, nil, s.failure(said, answer.StatusCode)
	}
	return answer.Body, answer.Trailer, nil
}

// failure is the error in an answer.
func (s *Sink) failure(body []byte, status int) error {
	if status == http.StatusBadRequest && bytes.Contains(body, []byte("HTTP request to an HTTPS server")) {
		return fmt.Errorf("%s: it has http.tls: ask https://, with --ca where its certificate is of an authority of your own", s.where)
	}
	var said struct{ Error, Field string }
	if json.Unmarshal(body, &said) != nil || said.Error == "" {
		return fmt.Errorf("%s answers %d %s: no intsink of this version listens there; say where one does with --url or --config", s.where, status, http.StatusText(status))
	}
	return &Refusal{said.Error, said.Field}
}

// send sends a request and returns the sink's answer. The error says that it cannot be reached. Where nobody listens, s becomes
// the sink that is asked otherwise.
func (s *Sink) send(ctx context.Context, method, path string, request any) (*http.Response, error) {
	var text io.Reader
	if request != nil {
		b, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		text = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, text)
	if err != nil {
		return nil, err
	}
	if request != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, */*;q=0.5")
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		var cause *url.Error
		if errors.As(err, &cause) {
			err = cause.Err
		}
		if s.otherwise != nil && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.EACCES) && !s.control) {
			*s = *s.otherwise(ctx)
			return s.send(ctx, method, path, request)
		}
		return nil, s.unreachable(err)
	}
	return answer, nil
}
