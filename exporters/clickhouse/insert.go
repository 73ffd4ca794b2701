// One INSERT over HTTP: request, compression, errors of ClickHouse.

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
	"os"
	"strings"
	"time"

	"intsink/exporters/collect"
)

// insert is a block on its way. Its body and token stay the same however often it is sent.
type insert struct {
	o      *Output
	block  []*collect.Delivery
	body   []byte // gzip
	token  string
	done   chan error // of the attempt under way; nil: none
	cancel context.CancelFunc
	next   time.Time // of the next attempt
	wait   time.Duration
}

const (
	firstWait = 200 * time.Millisecond
	lastWait  = 10 * time.Second
)

func newInsert(o *Output, block []*collect.Delivery) *insert {
	var body bytes.Buffer
	hash := sha256.New()
	z, err := gzip.NewWriterLevel(&body, gzip.BestSpeed) // less than half of the time, a third more bytes
	if err != nil {                                      // there is such a level
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

// post begins an attempt.
func (i *insert) post() {
	ctx, cancel := context.WithTimeout(context.Background(), i.o.c.Timeout)
	i.done, i.cancel = make(chan error, 1), cancel
	go func(done chan<- error) { done <- i.o.post(ctx, i.token, i.body) }(i.done)
}

// poll takes the answer, and begins the next attempt in time.
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
		return
	}
	i.next = now.Add(i.wait)
	i.wait = min(2*i.wait, lastWait)
	for _, d := range i.block {
		d.Retrying(err)
	}
}

// giveUp ends the attempt under way. Where its answer came nevertheless, it counts.
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

// maxAnswer is how much of an error is read and logged.
const maxAnswer = 400

// post does one insert.
func (o *Output) post(ctx context.Context, token string, body []byte) error {
	u := *o.insert
	q := u.Query()
	q.Set("insert_deduplication_token", token)
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Encoding", "gzip")
	if o.c.User != "" {
		req.Header.Set("X-ClickHouse-User", o.c.User)
	}
	if o.c.PasswordFile != "" {
		password, err := os.ReadFile(o.c.PasswordFile)
		if err != nil {
			return fmt.Errorf("password_file: %w", err)
		}
		req.Header.Set("X-ClickHouse-Key", strings.TrimRight(string(password), "\r\n"))
	}
	resp, err := o.client.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", resp.Status, strings.TrimSpace(string(answer)))
	}
	if code := resp.Header.Get("X-ClickHouse-Exception-Code"); code != "" && code != "0" {
		return fmt.Errorf("exception %s: %s", code, strings.TrimSpace(string(answer)))
	}
	return nil
}

// withoutURL takes the URL, which may have a password, out of err.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
