package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
)

// sequences are the numbers of the reports in lines; each line is one JSON object.
func sequences(t *testing.T, lines string) (all []uint64) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var r struct {
			Type     string
			Sequence uint64
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if r.Type == "report" {
			all = append(all, r.Sequence)
		}
	}
	return all
}

// wantAll: two reports of each of n packets, in order.
func wantAll(t *testing.T, all []uint64, n int) {
	t.Helper()
	if len(all) != 2*n {
		t.Errorf("%d reports, want %d", len(all), 2*n)
	}
	for i, s := range all {
		if s != uint64(i/2) {
			t.Fatalf("report %d has number %d", i, s)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func idle(b *collecttest.Bed) func() bool {
	return func() bool { o := b.C.Snapshot().Outputs[0]; return o.Live && o.Queued == 0 && o.Waiting == 0 }
}

// TestFile: a line that an earlier process could not finish is cut, and what comes
// follows the whole ones.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reports.jsonl")
	os.WriteFile(path, []byte("{\"type\":\"other\"}\n{\"type\":\"rep"), 0o600)
	b := collecttest.New(t, collect.Options{}, 0, New(Config{Path: path}))
	b.Send(100)
	b.Stop()
	wantAll(t, sequences(t, read(t, path)), 100)
}

func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reports.jsonl")
	b := collecttest.New(t, collect.Options{}, 0, New(Config{Path: path, Rotate: 20000, Keep: 2}))
	b.Send(300)
	b.Stop()
	all := sequences(t, read(t, path+".2")+read(t, path+".1")+read(t, path))
	if len(all) < 50 || all[len(all)-1] != 299 {
		t.Errorf("%d reports, up to %d", len(all), all[len(all)-1])
	}
	for i := range all[1:] {
		if all[i+1] != all[i] && all[i+1] != all[i]+1 {
			t.Errorf("%d after %d", all[i+1], all[i])
		}
	}
	files, _ := filepath.Glob(path + "*")
	if len(files) != 3 {
		t.Errorf("files %v", files)
	}
	for _, f := range files {
		if s, _ := os.Stat(f); s.Size() > 20000 {
			t.Errorf("%s has %d bytes", f, s.Size())
		}
	}
}

// TestFullDisk: what does not fit waits in the spool, no line is cut, and all is there when
// there is room again.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128k"); err != nil {
		t.Fatalf("%v: this test mounts a small tmpfs and needs root", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	path := filepath.Join(dir, "reports.jsonl")
	b := collecttest.New(t, collect.Options{Recent: 20000}, 1<<30, New(Config{Path: path}))
	b.Send(500)
	b.Wait("the disk is full", func() bool { return b.C.Snapshot().Outputs[0].Retried > 0 })
	text := ""
	b.Wait("whole lines only stay", func() bool { // a part of one is there while it is tried
		b, err := os.ReadFile(path)
		text = string(b)
		return err == nil && strings.HasSuffix(text, "\n")
	})
	sequences(t, text)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=10m"); err != nil {
		t.Fatal(err)
	}
	b.Wait("all is written", func() bool { return strings.Count(read(t, path), "\n") >= 1000 })
	b.Stop()
	wantAll(t, sequences(t, read(t, path)), 500)
}

func TestStdout(t *testing.T) {
	var out lockedBuffer
	b := collecttest.New(t, collect.Options{}, 0, New(Config{Path: "-", Stdout: &out}))
	b.Send(20)
	b.Stop()
	wantAll(t, sequences(t, out.String()), 20)
}

// TestUnixSocket: a reader that goes away gets the rest when it is back. What it had not
// read when it went away is lost: a socket does not tell.
func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	b := collecttest.New(t, collect.Options{Recent: 10000}, 1<<30, New(Config{Path: "unix:" + path}))
	b.Send(100)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	seen := map[uint64]int{}
	accept := func(until int) {
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetReadDeadline(time.Now().Add(time.Minute))
		lines := bufio.NewScanner(conn)
		for len(seen) < until && lines.Scan() {
			for _, s := range sequences(t, lines.Text()) {
				seen[s]++
			}
		}
	}
	accept(100)
	b.Send(100)
	accept(200)
	b.Wait("all is written", idle(b))
	b.Stop()
	if len(seen) != 200 {
		t.Errorf("%d of 200 packets seen", len(seen))
	}
}

func TestSpecialFilesAreRefused(t *testing.T) {
	_, err := openFile(Config{Path: "/dev/null"})
	if want := `/dev/null is not a regular file; "-" is standard output, "unix:PATH" a socket`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestNoFileStaysOpen: what is opened and then refused is closed again.
func TestNoFileStaysOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openFile(Config{Path: path}); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Fatal(err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); to == path {
			t.Error("it is still open")
		}
	}
}

// TestReaderThatDoesNotRead: a write to a socket fails after writeTimeout, and another one has as
// much time again. The clock is the test's own.
func TestReaderThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _ := net.Pipe()
		s := stream{conn, conn}
		for range 2 {
			began := time.Now()
			if err := s.write([]byte("{}\n")); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != writeTimeout {
				t.Errorf("%v after %v", err, time.Since(began))
			}
			time.Sleep(time.Minute)
		}
	})
}

// brokenWriter fails each write, and counts how often it is closed.
type brokenWriter struct{ closed int }

func (w *brokenWriter) write([]byte) error { return errors.New("broken") }
func (w *brokenWriter) Close() error       { w.closed++; return nil }

// TestWhatFailsIsOpenedAnew: after a failed write the file or socket is closed, and the next delivery,
// which has the same records, opens it anew; one that cannot be opened is left alone for a second.
func TestWhatFailsIsOpenedAnew(t *testing.T) {
	hand := collecttest.NewHand(collect.JSON)
	b := collecttest.New(t, collect.Options{Flush: time.Nanosecond}, 0, hand)
	defer b.Stop()
	path := filepath.Join(t.TempDir(), "d", "f")
	broken := &brokenWriter{}
	o := New(Config{Path: path})
	o.w = broken
	b.Send(1)
	d := <-hand.Deliveries
	o.Send(d)
	if broken.closed != 1 || o.w != nil || !o.Room(1, 1) {
		t.Errorf("closed %d times, room %v", broken.closed, o.Room(1, 1))
	}
	before := time.Now()
	o.Send(<-hand.Deliveries) // there is no folder
	if o.retry.Before(before.Add(reopenAfter)) || o.retry.After(time.Now().Add(reopenAfter)) {
		t.Errorf("tried again in %v", time.Until(o.retry))
	}
	if o.retry = time.Now().Add(time.Hour); o.Room(1, 1) {
		t.Error("room before it is tried again")
	}
	os.Mkdir(filepath.Dir(path), 0o700)
	o.retry = time.Now()
	if !o.Room(1, 1) {
		t.Error("no room after a second")
	}
	o.Send(<-hand.Deliveries)
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	wantAll(t, sequences(t, read(t, path)), 1)
	if s := b.C.Snapshot().Outputs[0]; s.Delivered != 2 || s.Retried != 4 || s.Queued != 0 {
		t.Errorf("%+v", s)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}
