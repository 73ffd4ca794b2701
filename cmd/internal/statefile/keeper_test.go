package statefile

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeeper: what is changed is written before Changed returns, what changes all the time every so often; what cannot be
// written is tried again; Stop writes a last time.
func TestKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var written atomic.Int32
		var fail atomic.Bool
		save := func() error {
			if fail.Load() {
				return errors.New("no space left on device")
			}
			written.Add(1)
			return nil
		}
		k := Keep("the test", save)
		expect := func(what string, want int32) {
			t.Helper()
			synctest.Wait()
			if n := written.Swap(0); n != want {
				t.Errorf("%s: written %d times, want %d", what, n, want)
			}
		}
		k.Changed()
		expect("changed", 1)
		time.Sleep(time.Hour)
		expect("not changed", 0)
		fail.Store(true)
		k.Changed()
		fail.Store(false)
		time.Sleep(tryAgain + time.Second)
		expect("after a failure", 1)
		if !k.Stop() {
			t.Error("save is said to be called yet")
		}
		expect("stop", 0)
		k = KeepEvery(time.Minute, "the test", save)
		time.Sleep(5*time.Minute + time.Second)
		expect("in five minutes, and at once", 6)
		k.Stop()
		expect("stop", 1)
		if k = nil; !k.Stop() {
			t.Error("a nil Keeper")
		}
	})
}

// TestKeeperHangs: a disk that hangs holds up who changes something for keepPatience, and the stop for stopPatience.
func TestKeeperHangs(t *testing.T) {
	defer hangs.Store(false)
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		k := KeepEvery(time.Minute, "the test", func() error { <-hang; return nil })
		began := time.Now()
		for range 200 { // more than there is room for
			k.Changed()
		}
		if d := time.Since(began); d > 200*keepPatience {
			t.Errorf("200 changes took %s", d)
		}
		began = time.Now()
		if k.Stop() || time.Since(began) != stopPatience {
			t.Errorf("the stop took %s, or it is said that nothing hangs", time.Since(began))
		}
		close(hang)
		synctest.Wait()
	})
}

// TestStopWaitsOnceForADiskThatHangs, however many files there are.
func TestStopWaitsOnceForADiskThatHangs(t *testing.T) {
	defer hangs.Store(false)
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		var all []*Keeper
		for range 7 {
			all = append(all, KeepEvery(time.Minute, "the test", func() error { <-hang; return nil }))
		}
		began := time.Now()
		for _, k := range all {
			k.Stop()
		}
		if d := time.Since(began); d != stopPatience+6*restPatience {
			t.Errorf("the stop took %s", d)
		}
		close(hang)
		synctest.Wait()
	})
}

// told is a log that several goroutines write to.
type told struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *told) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *told) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// TestADiskThatHangsIsTold in the log while the sink runs, and that it answers again.
func TestADiskThatHangsIsTold(t *testing.T) {
	var log told
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		k := KeepEvery(time.Hour, "the test", func() error { <-hang; return nil })
		time.Sleep(tellAfter - 1)
		synctest.Wait()
		if log.String() != "" {
			t.Errorf("too early: %s", &log)
		}
		time.Sleep(time.Minute)
		if synctest.Wait(); strings.Count(log.String(), "has not answered for 10 s") != 1 {
			t.Errorf("not told once: %s", &log)
		}
		close(hang)
		if synctest.Wait(); strings.Count(log.String(), "kept over a restart again") != 1 {
			t.Errorf("not told: %s", &log)
		}
		k.Stop()
	})
}
