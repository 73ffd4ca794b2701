// Output: sends the records of deliveries as messages over a UDP or TCP socket, or TLS on TCP, and settles them when they have arrived.

package ipfix

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"intsink/exporters/collect"
)

// Config configures one output.
type Config struct {
	Address    string        // HOST:PORT
	Network    string        // "udp" or "tcp"
	Message    int           // bytes of a message, at most
	Repeat     time.Duration // UDP: how often templates are told again
	Enterprise uint32        // private enterprise number of fields that IANA does not have; 0: they are left out
	TLS        *tls.Config   // over TCP; nil: none
}

// Output is one exporting process. It implements collect.Output.
type Output struct {
	c       Config
	now     func() time.Time
	conn    net.Conn
	raw     syscall.RawConn
	session session
	retry   time.Time // the collector is not connected to before
	away    atomic.Pointer[error]

	way     []sent // sent, and not settled, in their order
	held    int    // bytes of their deliveries
	written int64  // bytes that the connection was given, those of TLS included
	began   time.Time
	hungUp  *atomic.Pointer[error] // TLS: why the collector has ended the session
}

// sent is a delivery, or what is left of it, that is on its way.
type sent struct {
	d       *collect.Delivery
	records []int // indices of those that are of a flow: the others were dropped at once
	end     int64 // TCP: bytes of the connection up to its last one, see Output.written
	at      time.Time
}

const (
	// MaxHeld is how many bytes of deliveries an output holds at most that have not arrived, unless one is larger.
	MaxHeld = 64 << 20
	// refusedWithin is how long an answer of the other host that nobody listens on the UDP port may take.
	refusedWithin = 50 * time.Millisecond
	connectAfter  = time.Second
	dialTimeout   = time.Second
	// refusedByTLS is how long an alert may take that refuses the certificate of this side: with TLS 1.3, this side is done with the
	// handshake before the other one has seen it, and the kernel there takes what follows.
	refusedByTLS = time.Second
	writeTimeout = 5 * time.Second
	pollEvery    = 5 * time.Millisecond
)

// New makes an output. It connects to nothing yet.
func New(c Config) *Output { return &Output{c: c, now: time.Now} }

// Format returns Flow.
func (o *Output) Format() collect.Format { return collect.Flow }

// Away says why there is no session.
func (o *Output) Away() error {
	if err := o.away.Load(); err != nil {
		return *err
	}
	return nil
}

// Room reports whether a delivery may be sent: not for a while after a failure, nor beyond MaxHeld.
func (o *Output) Room(_, bytes int) bool {
	o.poll()
	return !o.now().Before(o.retry) && (o.held == 0 || o.held+bytes <= MaxHeld)
}

// Tick settles what has arrived.
func (o *Output) Tick() { o.poll() }

// Send sends the records of d that are of a flow; the others are dropped.
func (o *Output) Send(d *collect.Delivery) {
	if o.conn == nil {
		if err := o.connect(); err != nil {
			d.FailedAll(o.fail(err))
			return
		}
	}
	s := sent{d: d, at: o.now()}
	var err error
	for n := range d.Count() {
		i := d.Index(n)
		flow := d.Record(collect.Flow, i)
		if be.Uint16(flow) == 0 {
			continue
		}
		s.records = append(s.records, i)
		if err == nil {
			err = o.session.add(d.Node(i), d.From(i), flow)
		}
	}
	if err == nil {
		err = o.session.flush()
	}
	s.end = o.written
	none := d.Count() - len(s.records)
	if len(s.records) > 0 {
		o.way = append(o.way, s)
		o.held += d.Size()
	}
	dropped := others(d, s.records, none)
	for _, i := range dropped { // d may be settled, and its memory another's, after the last one
		d.Dropped(i, collect.NoFlow)
	}
	if err != nil {
		o.end(err)
	}
}

// others are the indices of d that are not in flows; n is how many.
func others(d *collect.Delivery, flows []int, n int) (rest []int) {
	for k := 0; k < d.Count() && len(rest) < n; k++ {
		i := d.Index(k)
		if len(flows) > 0 && flows[0] == i {
			flows = flows[1:]
			continue
		}
		rest = append(rest, i)
	}
	return rest
}

// connect begins a session.
func (o *Output) connect() error {
	d := net.Dialer{Timeout: dialTimeout, Control: prepare}
	conn, err := d.Dial(o.c.Network, o.c.Address)
	if err != nil {
		return err
	}
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		conn.Close()
		return err
	}
	o.conn, o.raw, o.written, o.began, o.hungUp = conn, raw, 0, o.now(), nil
	if o.c.TLS != nil {
		if o.conn, err = o.secure(conn); err != nil {
			conn.Close()
			o.conn, o.raw = nil, nil
			return err
		}
	}
	o.session = session{enterprise: o.c.Enterprise, limit: o.c.Message, now: o.now, write: o.write, message: o.session.message}
	if o.c.Network == "udp" {
		o.session.repeat = o.c.Repeat
	}
	o.away.Store(nil)
	return nil
}

// counted counts the bytes that a connection is given.
type counted struct {
	net.Conn
	n *int64
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	*c.n += int64(n)
	return n, err
}

// secure begins TLS on a connection. What the collector sends is read, though a collector has nothing to say: alerts, tickets and its end.
func (o *Output) secure(conn net.Conn) (net.Conn, error) {
	c := o.c.TLS.Clone()
	if c.ServerName == "" {
		c.ServerName, _, _ = net.SplitHostPort(o.c.Address)
	}
	secured := tls.Client(counted{conn, &o.written}, c)
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	hungUp := &atomic.Pointer[error]{}
	o.hungUp, o.began = hungUp, o.now()
	go func() {
		_, err := io.Copy(io.Discard, secured)
		if err == nil {
			err = errClosed
		}
		hungUp.Store(&err)
	}()
	return secured, nil
}

var errClosed = errors.New("the collector has closed the connection")

// prepare has the kernel send messages over UDP without the mark that none on the path may cut them (without ICMP errors, a path that
// takes less would lose them all), and tell of each ICMP error, such as that the host is not there.
func prepare(network, _ string, c syscall.RawConn) error {
	if !strings.HasPrefix(network, "udp") {
		return nil
	}
	var err error
	ctl := c.Control(func(fd uintptr) {
		level, mtu, dont, errs := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DONT, unix.IP_RECVERR
		if network == "udp6" {
			level, mtu, dont, errs = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DONT, unix.IPV6_RECVERR
		}
		err = errors.Join(unix.SetsockoptInt(int(fd), level, mtu, dont), unix.SetsockoptInt(int(fd), level, errs, 1))
	})
	return errors.Join(ctl, err)
}

// write sends one message. Where it fails, the session is over: over TCP, a part of it may have been sent.
func (o *Output) write(message []byte) error {
	o.conn.SetWriteDeadline(o.now().Add(writeTimeout))
	n, err := o.conn.Write(message)
	o.written += int64(n)
	return err
}

// poll settles the deliveries that have arrived, or fails them all where the session has ended.
func (o *Output) poll() {
	if o.conn == nil {
		return
	}
	arrived, err := o.arrived()
	if err != nil {
		o.end(err)
		return
	}
	for len(o.way) > 0 && arrived(&o.way[0]) {
		s := o.take()
		s.d.Delivered(len(s.records))
	}
}

// arrived returns a function that says whether a delivery has, or the error that ended the session.
func (o *Output) arrived() (func(*sent) bool, error) {
	unacknowledged, failure := 0, 0
	var err error
	closed := false
	ctl := o.raw.Control(func(fd uintptr) {
		if failure, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR); err != nil || failure != 0 || o.c.Network == "udp" {
			return
		}
		if o.hungUp == nil {
			var b [1]byte // a collector sends nothing, but may close
			n, _, peek := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
			closed = peek == nil && n == 0
		}
		unacknowledged, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
	})
	switch err := errors.Join(ctl, err); {
	case err != nil:
		return nil, err
	case failure != 0:
		return nil, unix.Errno(failure)
	case closed:
		return nil, errClosed
	}
	if o.hungUp != nil {
		if why := o.hungUp.Load(); why != nil {
			return nil, *why
		}
		if o.now().Sub(o.began) < refusedByTLS {
			return func(*sent) bool { return false }, nil
		}
	}
	if o.c.Network == "udp" {
		before := o.now().Add(-refusedWithin)
		return func(s *sent) bool { return !s.at.After(before) }, nil
	}
	acknowledged := o.written - int64(unacknowledged)
	return func(s *sent) bool { return s.end <= acknowledged }, nil
}

// take takes the oldest delivery off those that are on their way.
func (o *Output) take() sent {
	s := o.way[0]
	o.way[0] = sent{}
	o.way = o.way[1:]
	o.held -= s.d.Size()
	return s
}

// end ends the session. What has not arrived fails, and is sent again.
func (o *Output) end(cause error) {
	o.conn.Close()
	o.conn, o.raw = nil, nil
	cause = o.fail(cause)
	for len(o.way) > 0 {
		s := o.take()
		for _, i := range s.records {
			s.d.Failed(i, cause)
		}
	}
}

// fail notes why there is no session, and has the next attempt wait.
func (o *Output) fail(cause error) error {
	if errors.Is(cause, collect.ErrStopped) {
		return cause
	}
	if errors.Is(cause, syscall.ECONNREFUSED) {
		cause = fmt.Errorf("%w; is the collector of IPFIX running, and is this its port and protocol?", cause)
	}
	cause = fmt.Errorf("%s %s: %w", o.c.Network, o.c.Address, cause)
	o.retry = o.now().Add(connectAfter)
	o.away.Store(&cause)
	return cause
}

// Flush waits until all that was sent has arrived, or until ctx ends.
func (o *Output) Flush(ctx context.Context) {
	for o.poll(); len(o.way) > 0; o.poll() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollEvery):
		}
	}
}

// Close ends the session.
func (o *Output) Close() error {
	if o.conn != nil {
		o.end(collect.ErrStopped)
	}
	return nil
}
