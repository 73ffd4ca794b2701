package collect

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/exporters/collect/spool"
	"intsink/internal/loopback"
)

// TestSpoolThatComesLater: while the folder cannot be opened, records pass through memory. Once it can, an output gets what an earlier
// process left there, counted as restored, and goes on with what comes.
func TestSpoolThatComesLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	o := spool.Options{Directory: dir, Size: 1 << 30}
	before, err := spool.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	before.Reader("out")
	before.Append([]spool.Entry{entryOf(0, 2), entryOf(1, 2)})
	b := feedBedOn(t, o) // the other one has the folder
	b.push(2, 2)
	b.steps(time.Now())
	if len(b.out.sent) != 1 {
		t.Fatalf("%d deliveries without the folder", len(b.out.sent))
	}
	b.out.sent[0].Delivered(2)
	if err := b.c.AttachSpool(); err == nil || !strings.Contains(err.Error(), "another process has it") || b.c.o.Spool.Failing() == nil {
		t.Errorf("attached to a folder that another one has: %v", err)
	}
	if err := b.c.keepState(false); err != nil {
		t.Errorf("the numbers are written into another one's folder: %v", err)
	}
	before.Close()
	for range 2 { // the second one has nothing to do
		if err := b.c.AttachSpool(); err != nil || b.c.o.Spool.Failing() != nil {
			t.Fatal(err, b.c.o.Spool.Failing())
		}
	}
	b.want(Accounts{Taken: 2, Restored: 4, Delivered: 2, Waiting: 4})
	b.push(3, 2)
	b.steps(time.Now())
	records := 0
	for _, d := range b.out.sent[1:] {
		records += d.Len()
		d.Delivered(d.Len())
	}
	if records != 6 {
		t.Errorf("%d records, want 4 of before and 2", records)
	}
	b.want(Accounts{Taken: 4, Restored: 4, Delivered: 8})
}

// TestStopDuringAnAttach: a collector that stops lets go of the folder that it has just opened.
func TestStopDuringAnAttach(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	o := spool.Options{Directory: dir, Size: 1 << 30}
	other, err := spool.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	b := feedBedOn(t, o)
	other.Close()
	b.c.stopping = true
	if err := b.c.AttachSpool(); err != nil || !b.c.o.Spool.Detached() {
		t.Errorf("%v, detached: %v", err, b.c.o.Spool.Detached())
	}
	free, err := spool.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
}

// TestAddressThatComesLater: one address that is taken keeps the other from nothing; it is received there as soon as it is free.
func TestAddressThatComesLater(t *testing.T) {
	open, taken := loopback.Address(t), loopback.Address(t)
	holder, err := net.ListenPacket("udp", taken)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	state := filepath.Join(t.TempDir(), "streams.json")
	c, _ := collectorBed(t, Options{State: state, Listens: []Listen{
		{Name: "open", Address: open, Sockets: 1, Buffer: 1 << 20, Streams: 1}, {Name: "taken", Address: taken, Sockets: 2, Buffer: 1 << 20, Streams: 1}, {Name: "away", Address: "192.0.2.1:1", Sockets: 1, Buffer: 1 << 20, Streams: 1},
	}}, 0)
	receives := func(listen int) {
		t.Helper()
		conn, err := net.Dial("udp", c.Addresses()[listen].String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.Write([]byte("x"))
		until(t, "a datagram is taken", func() bool { return c.Snapshot().Listens[listen].Datagrams == 1 })
	}
	receives(0)
	c.OpenListens()
	if l := c.Snapshot().Listens; l[0].Why != nil || l[1].Why == nil || l[2].Why == nil || !strings.Contains(l[2].Why.Error(), "an address of this machine") || l[1].Sockets != 0 {
		t.Errorf("%+v", l)
	}
	holder.Close()
	c.OpenListens()
	if l := c.Snapshot().Listens; l[1].Why != nil || l[1].Sockets != 2 || l[1].Buffer == 0 {
		t.Errorf("%+v", l[1])
	}
	receives(1)
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if c.OpenListens(); c.Snapshot().Listens[2].Sockets != 0 {
		t.Error("an address is opened after the stop")
	}
	if _, err := os.Stat(state); err != nil {
		t.Error(err)
	}
}
