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
	"time"
)

// Sink is a running sink.
type Sink struct {
	base, where string // of URLs; for people
	client      *http.Client
	token       string // "": none
}

// Read asks for path and decodes the JSON of the answer into v.
func (s *Sink) Read(ctx context.Context, path string, v any) error {
	body, err := s.Get(ctx, path)
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

// Get asks for path and returns the answer; its errors say what to do.
func (s *Sink) Get(ctx context.Context, path string) ([]byte, error) {
	body, status, err := s.do(ctx, http.MethodGet, path, nil)
	if err != nil || status == http.StatusOK {
		return body, err
	}
	return nil, s.failure(body, status)
}

// Answer asks for path and returns what is answered, whatever its status: /readyz of a sink
// that is not ready has 503 and says why.
func (s *Sink) Answer(ctx context.Context, path string) ([]byte, error) {
	body, _, err := s.do(ctx, http.MethodGet, path, nil)
	return body, err
}

// Health is nil if the sink says that it works: every worker polls.
func (s *Sink) Health(ctx context.Context) error {
	body, status, err := s.do(ctx, http.MethodGet, "/healthz", nil)
	switch {
	case err != nil || status == http.StatusOK:
		return err
	case status == http.StatusServiceUnavailable:
		return fmt.Errorf("%s: %s", s.where, bytes.TrimSpace(body))
	}
	return s.failure(body, status)
}

// Post asks the sink to do something: request is its JSON. The answer may be a refusal: status tells.
func (s *Sink) Post(ctx context.Context, path string, request any) (body []byte, status int, err error) {
	text, err := json.Marshal(request)
	if err != nil {
		return nil, 0, err
	}
	return s.do(ctx, http.MethodPost, path, bytes.NewReader(text))
}

// Write asks the sink to change something. request is the JSON to send, nil for none; answer is
// filled with the sink's answer if it has made the change.
func (s *Sink) Write(ctx context.Context, method, path string, request, answer any) error {
	var text io.Reader
	if request != nil {
		b, err := json.Marshal(request)
		if err != nil {
			return err
		}
		text = bytes.NewReader(b)
	}
	body, status, err := s.do(ctx, method, path, text)
	switch {
	case err != nil:
		return err
	case status >= 300:
		return s.failure(body, status)
	}
	return s.Decode(body, answer)
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

func (s *Sink) do(ctx context.Context, method, path string, request io.Reader) (body []byte, status int, err error) {
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

// send sends a request and returns the sink's answer. The error says that it cannot be reached.
func (s *Sink) send(ctx context.Context, method, path string, request io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, request)
	if err != nil {
		return nil, err
	}
	if request != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		var cause *url.Error
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, s.unreachable(err)
	}
	return answer, nil
}
