package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"syscall"
	"time"

	"intsink/bench/internal/dut"
)

// How many clients there are of each kind: more connections than intsink serves at a time.
const (
	manyClients = 1000
	slowReaders = 200
)

// clients are conditions that many clients bring, and a full disk.
func clients(d *fullDisk) []condition {
	return []condition{
		many("1000 idle connections", manyClients, &browser{path: "/healthz", every: time.Hour, before: 300 * time.Millisecond}),
		many("1000 that want a stream of events", manyClients, &browser{path: "/api/v1/events", every: 3 * time.Second}),
		many("1000 that ask for the status every 2 s", manyClients, &browser{path: "/api/v1/status", every: pollInterval, apart: true}),
		many("200 that ask and do not read", slowReaders, &browser{path: "/metrics", every: time.Hour, deaf: true, before: 300 * time.Millisecond}),
		d.condition(),
	}
}

// browser is a client with a connection of its own.
type browser struct {
	path   string
	every  time.Duration // it asks again after so long
	apart  bool          // the first time at a random time of every, else at once
	deaf   bool          // it asks deafRequests times and reads nothing
	before time.Duration // they begin so long before the slice
}

// deafRequests have answers that no socket's buffers hold.
const deafRequests = 100

// many is a condition: n of b.
func many(title string, n int, b *browser) condition {
	return condition{title, func(p *dut.Intsink, _ time.Duration) (func() (int, error), error) {
		c := newCrew()
		for range n {
			c.rest.Go(func() {
				if err := b.run(c.ctx, p.Address(), c); c.ctx.Err() == nil {
					c.done(err)
				}
			})
		}
		time.Sleep(b.before)
		return c.leave, nil
	}}
}

// run asks until ctx is done. That intsink refuses an answer, or does not accept the
// connection yet, is no fault: both are its bounds. What it closes is opened again.
func (b *browser) run(ctx context.Context, address string, c *crew) error {
	if b.apart && !pause(ctx, time.Duration(rand.Float64()*float64(b.every))) {
		return nil
	}
	for {
		if err := b.connection(ctx, address, c); err != nil {
			return err
		}
		if !pause(ctx, b.every) {
			return nil
		}
	}
}

// connection is one connection, until either side ends it.
func (b *browser) connection(ctx context.Context, address string, c *crew) error {
	dialer := net.Dialer{}
	if b.deaf {
		dialer.Control = func(_, _ string, raw syscall.RawConn) error {
			return raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
		}
	}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", b.path, address)
	if b.deaf {
		for range deafRequests {
			io.WriteString(conn, request) // fails where intsink has lost patience
		}
		c.done(nil)
		<-ctx.Done()
		return nil
	}
	for in := bufio.NewReader(conn); ; {
		if _, err := io.WriteString(conn, request); err != nil {
			return nil
		}
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			return nil
		}
		c.done(nil)
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || !pause(ctx, b.every) {
			return nil
		}
	}
}

// pause waits; false: ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
