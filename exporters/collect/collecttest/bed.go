// For tests of outputs: a collector on loopback, and report packets to send to it.

// Package collecttest runs a collector on loopback, for the tests of outputs.
package collecttest

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"intsink/exporters/collect"
	"intsink/exporters/collect/spool"
	"intsink/exporters/record"
)

// countDecoder makes as many records of a packet as its ninth byte says.
type countDecoder struct{ r record.Record }

// Records implements collect.Decoder.
func (d *countDecoder) Records(p []byte, o *record.Origin, yield func(*record.Record)) (int, error) {
	if len(p) < 9 || p[8] == 0 {
		return 0, errors.New("nothing in it")
	}
	for i := range p[8] {
		d.r.Reset(record.Report)
		d.r.Exporter, d.r.Received, d.r.Time, d.r.Start, d.r.Sequence = o.Exporter, o.Received, o.Received, o.Start, o.Sequence
		d.r.Version = record.Version20
		d.r.NodeID, d.r.HwID, d.r.Index = binary.BigEndian.Uint32(p[4:]), uint8(binary.BigEndian.Uint16(p)>>6&0x3f), uint16(i)
		d.r.Known = record.KnownNode | record.KnownAddresses | record.KnownPorts
		n := binary.BigEndian.Uint32(p) % Flows
		d.r.Protocol = 17
		d.r.Source, d.r.SourcePort = netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), 40000
		d.r.Destination, d.r.DestinationPort = netip.AddrFrom4([4]byte{10, 1, 0, 1}), 80
		if i%2 == 1 { // every other packet is of the flow's other direction
			d.r.Source, d.r.Destination = d.r.Destination, d.r.Source
			d.r.SourcePort, d.r.DestinationPort = d.r.DestinationPort, d.r.SourcePort
		}
		yield(&d.r)
	}
	return int(p[8]), nil
}

// Flows is the number of flows of the packets that Send sends: packet n is of flow n % Flows.
const Flows = 64

// Packet returns a report packet of node 3 and hw_id 5 with sequence number n and so many
// reports, which alternate between the two directions of a flow.
func Packet(n uint32, reports byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, 2<<28|5<<22|n&0x3fffff)
	return append(binary.BigEndian.AppendUint32(b, 3), reports, 0, 0, 0)
}

// Bed is a collector on loopback.
type Bed struct {
	C    *collect.Collector
	Next uint32 // number of the next packet

	t    testing.TB
	s    *spool.Spool
	dir  string
	conn net.Conn
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// New starts a collector with outputs named out0, out1 and so on, and with a spool of size
// bytes, 0 for none.
func New(t testing.TB, o collect.Options, size int64, outputs ...collect.Output) *Bed {
	b := &Bed{t: t, dir: t.TempDir()}
	b.Start(o, size, outputs...)
	return b
}

// Start starts a collector again after Stop, on the same spool.
func (b *Bed) Start(o collect.Options, size int64, outputs ...collect.Output) {
	b.t.Helper()
	var err error
	if size > 0 {
		if b.s, err = spool.Open(spool.Options{Directory: b.dir, Size: size}); err != nil {
			b.t.Fatal(err)
		}
		o.Spool, o.State = b.s, filepath.Join(b.dir, "streams.json")
	}
	for i, out := range outputs {
		o.Outputs = append(o.Outputs, collect.NamedOutput{Name: fmt.Sprint("out", i), Output: out})
	}
	o.Stats = cmp.Or(o.Stats, time.Hour) // none but what a test asks for
	if o.Flush == 0 {
		o.Flush = 20 * time.Second
	}
	if o.Log == nil {
		o.Log = collect.NewLog(quiet())
	}
	if o.Decoder == nil {
		o.Decoder = func() collect.Decoder { return &countDecoder{} }
	}
	if o.Listens == nil {
		o.Listens = []collect.Listen{{Name: "reports", Address: "127.0.0.1:0", Sockets: 2, Buffer: 4 << 20, Streams: 100}}
	}
	b.C = collect.Start(o)
	for _, l := range b.C.Snapshot().Listens {
		if l.Why != nil {
			b.t.Fatal(l.Why)
		}
	}
	b.conn, err = net.Dial("udp", b.Address())
	if err != nil {
		b.t.Fatal(err)
	}
}

// Address returns the address that the collector listens on.
func (b *Bed) Address() string { return b.C.Addresses()[0].String() }

// Stop stops the collector and closes the spool.
func (b *Bed) Stop() {
	b.t.Helper()
	b.conn.Close()
	if err := b.C.Stop(); err != nil {
		b.t.Error(err)
	}
	if b.s != nil {
		if err := b.s.Close(); err != nil {
			b.t.Error(err)
		}
	}
	b.Balanced()
}

// Send sends n report packets of two reports each, and waits until they are taken.
func (b *Bed) Send(n int) {
	b.t.Helper()
	for range n {
		b.Write(Packet(b.Next, 2))
		b.Next++
	}
}

// Write sends one datagram and waits until it is accepted or refused.
func (b *Bed) Write(p []byte) {
	b.t.Helper()
	before := b.C.Snapshot().Listens[0].Datagrams
	if _, err := b.conn.Write(p); err != nil {
		b.t.Fatal(err)
	}
	b.Wait("a datagram is taken", func() bool { return b.C.Snapshot().Listens[0].Datagrams > before })
}

// Wait waits until done returns true, or fails the test, and checks that the accounts add up.
func (b *Bed) Wait(what string, done func() bool) {
	b.t.Helper()
	for end := time.Now().Add(5 * time.Minute); !done(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			b.t.Fatalf("waited for: %s\n%+v", what, b.C.Snapshot())
		}
	}
	b.Balanced()
}

// Balanced fails the test unless the accounts of every output add up.
func (b *Bed) Balanced() {
	b.t.Helper()
	s := b.C.Snapshot()
	for _, l := range s.Listens {
		sum := l.Packets
		for _, n := range l.Refused {
			sum += n
		}
		if sum != l.Datagrams {
			b.t.Fatalf("datagrams do not add up: %+v", l)
		}
	}
	var made uint64
	for _, n := range s.Records {
		made += n
	}
	for _, o := range s.Outputs {
		if !o.Balanced() {
			b.t.Fatalf("accounts do not add up: %+v", o)
		}
		if o.Taken < made {
			b.t.Fatalf("%d records made, %d taken", made, o.Taken)
		}
	}
}
