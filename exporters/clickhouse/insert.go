// insert: one block on its way by HTTP POST: compressed body, attempts with a wait between,
// ClickHouse's answers.

package clickhouse

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"intsink/exporters/collect"
	"intsink/internal/plainfile"
)

// insert is a block that the server has not acknowledged yet. Its body and token stay the same
// however often it is sent.
type insert struct {
	o      *Output
	block  []*collect.Delivery
	body   []byte // of the POST, compressed with gzip
	token  string
	done   chan error // receives the result of the attempt that is under way; nil: none is
	cancel context.CancelFunc
	next   time.Time // when the next attempt begins
	wait   time.Duration
}

const (
	firstWait = 200 * time.Millisecond
	lastWait  = 10 * time.Second
)

func newInsert(o *Output, block []*collect.Delivery) *insert {
	var body bytes.Buffer
	hash := sha256.New()
	z, err := gzip.NewWriterLevel(&body, gzip.BestSpeed) // beside the default: less than half the time, a third more bytes
	if err != nil {                                      // cannot be: the level is a constant of gzip
		panic(err)
	}
	to := io.MultiWriter(z, hash)
	for _, d := range block {
		for _, i := range d.Again {
			to.Write(d.Bytes(collect.JSON, i, i+1))
		}
		if d.Again == nil {
			to.Write(d.Bytes(collect.JSON, 0, d.Len()))
		}
	}
	z.Close()
	return &insert{o: o, block: block, body: body.Bytes(), token: hex.EncodeToString(hash.Sum(nil)[:16]), wait: firstWait}
}

// post begins an attempt in a goroutine of its own, which sends the result to i.done.
func (i *insert) post() {
	ctx, cancel := context.WithTimeout(context.Background(), i.o.c.Timeout)
	i.done, i.cancel = make(chan error, 1), cancel
	go func(done chan<- error) { done <- i.o.post(ctx, i.token, i.body) }(i.done)
}

// poll takes the answer of the attempt under way, if it has come, or begins the next attempt
// when its time has come. It never waits.
func (i *insert) poll(now time.Time) {
	if i.done == nil {
		if !now.Before(i.next) {
			i.post()
		}
		return
	}
	select {
	case err := <-i.done:
		i.cancel()
		i.done = nil
		i.answered(err, now)
	default:
	}
}

func (i *insert) answered(err error, now time.Time) {
	if err == nil {
		i.o.way = nil
		for _, d := range i.block {
			d.Delivered(d.Count())
		}
		i.o.compare()
		return
	}
	i.o.compared = false // it may be another table when it takes rows again
	i.next = now.Add(i.wait)
	i.wait = min(2*i.wait, lastWait)
	err = i.o.explain(err)
	for _, d := range i.block {
		d.Retrying(err)
	}
}

// giveUp cancels the attempt under way. If the server has acknowledged it nevertheless, the
// block counts as delivered.
func (i *insert) giveUp() {
	err := collect.ErrStopped
	if i.done != nil {
		i.cancel()
		err = <-i.done
	}
	for _, d := range i.block {
		if err == nil {
			d.Delivered(d.Count())
		} else {
			d.FailedAll(collect.ErrStopped)
		}
	}
}

// maxAnswer is how many bytes of the server's error message are read and logged.
const maxAnswer = 400

// post sends the block in one request and returns nil if the server took it.
func (o *Output) post(ctx context.Context, token string, body []byte) error {
	q := o.insert.Query()
	q.Set("insert_deduplication_token", token)
	_, err := o.ask(ctx, q, body, maxAnswer)
	return err
}

// ask sends a request with these parameters, and returns the answer, of at most so many bytes.
func (o *Output) ask(ctx context.Context, q url.Values, body []byte, most int64) (answer []byte, err error) {
	u := *o.insert
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		req.Header.Set("Content-Encoding", "gzip")
	}
	if o.c.User != "" {
		req.Header.Set("X-ClickHouse-User", o.c.User)
	}
	if o.c.PasswordFile != "" {
		password, err := plainfile.Read(o.c.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("password_file: %w", err)
		}
		req.Header.Set("X-ClickHouse-Key", strings.TrimRight(string(password), "\r\n"))
	}
	resp, err := o.client.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer resp.Body.Close()
	answer, readErr := io.ReadAll(io.LimitReader(resp.Body, most))
	io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	if to, err := resp.Location(); err == nil && resp.StatusCode/100 == 3 { // without path and parameters, which may contain a password
		return nil, fmt.Errorf("%s to %s://%s, which is not followed: the URL must name the server itself", resp.Status, to.Scheme, to.Host)
	}
	code, text := resp.Header.Get("X-ClickHouse-Exception-Code"), strings.TrimSpace(string(answer[:min(len(answer), maxAnswer)]))
	if resp.StatusCode != http.StatusOK {
		return nil, refused{code, resp.Status + ": " + text}
	}
	if code != "" && code != "0" {
		return nil, refused{code, "exception " + code + ": " + text}
	}
	return answer, readErr
}

// withoutURL returns err without its URL, which may contain a password.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
