package statefile

import (
	"errors"
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
