// insert: one block on its way by HTTP POST: columns, compressed, attempts with a wait between,
// ClickHouse's answers.

package clickhouse

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"intsink/exporters/collect"
	"intsink/exporters/record"
	"intsink/internal/plainfile"
)

// insert is a block that the server has not acknowledged yet. Its body and token stay the same
// however often it is sent.
type insert struct {
	o      *Output
	block  []*collect.Delivery
	body   []byte // of the POST: the block in format Native, in compressed frames
	token  string
	done   chan error // receives the result of the attempt that is under way; nil: none is
	cancel context.CancelFunc
	next   time.Time // when the next attempt begins
	wait   time.Duration
	failed int // servers that have not taken it since the last wait
}

const (
	firstWait = 200 * time.Millisecond
	lastWait  = 10 * time.Second
)

func newInsert(o *Output, block []*collect.Delivery) *insert {
	o.parts = o.parts[:0]
	for _, d := range block {
		for _, i := range d.Again {
			o.parts = append(o.parts, record.Rows{Of: d.Columns(), From: i, To: i + 1})
		}
		if d.Again == nil {
			o.parts = append(o.parts, record.Rows{Of: d.Columns(), To: d.Len()})
		}
	}
	body := o.frames()
	token := sha256.Sum256(body)
	return &insert{o: o, block: block, body: body, token: hex.EncodeToString(token[:16]), wait: firstWait}
}

// frameBytes is the most of a block that stands in one compressed frame: what ClickHouse's own clients put into one.
const frameBytes = 1 << 20

// frames returns the block of o.parts in frames of ClickHouse's own: checksum, method, sizes, LZ4. It has memory of its own: a client
// may read from it after the answer.
func (o *Output) frames() (body []byte) {
	body = make([]byte, 0, o.usual+o.usual/8)
	o.native = record.WriteNative(o.native, func(piece []byte) {
		for frame := range slices.Chunk(piece, frameBytes) {
			if err := o.frame.Compress(frame); err != nil { // cannot be: there is room for what does not get smaller
				panic(err)
			}
			body = append(body, o.frame.Data...)
		}
	}, o.parts...)
	clear(o.parts) // the deliveries' memory goes when the block is there
	o.usual = len(body)
	return body
}

// post begins an attempt in a goroutine of its own, which sends the result to i.done.
func (i *insert) post() {
	ctx, cancel := context.WithTimeout(context.Background(), i.o.c.Timeout)
	i.done, i.cancel = make(chan error, 1), cancel
	go func(done chan<- error, server url.URL) {
		i.o.askVersion(ctx, server)
		done <- i.o.post(ctx, server, i.token, i.body)
		i.block[0].Answered()
	}(i.done, *i.o.insert)
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
	err = i.o.explain(err)
	if r := (refused{}); !errors.As(err, &r) {
		delete(i.o.versions, i.o.insert.Host) // it may be another server when it answers again
	}
	i.o.goOn()
	if i.failed++; i.failed < len(i.o.servers) {
		i.next = now // at once: the next server may be well
	} else {
		i.failed, i.next = 0, now.Add(i.wait)
		i.wait = min(2*i.wait, lastWait)
	}
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

// post sends the block to a server in one request, and returns nil if the server took it.
func (o *Output) post(ctx context.Context, server url.URL, token string, body []byte) error {
	q := server.Query()
	q.Set("insert_deduplication_token", token)
	q.Set("decompress", "1") // the body is in frames
	_, err := o.ask(ctx, server, q, body, maxAnswer)
	return err
}

// ask sends a request with these parameters to a server, and returns the answer, of at most so many bytes.
func (o *Output) ask(ctx context.Context, u url.URL, q url.Values, body []byte, most int64) (answer []byte, err error) {
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
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
