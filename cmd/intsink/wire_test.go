package main

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"

	"intsink/internal/wire"
)

// openWire opens one end of a veth pair of the test's network namespace.
func openWire(t testing.TB, name string) *wire.Interface {
	t.Helper()
	i, err := wire.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// framesAt returns a channel with copies of the frames that arrive at i, until end closes it or
// the test ends. It holds 1000; more frames are lost.
func framesAt(t testing.TB, i *wire.Interface) (frames <-chan []byte, end func()) {
	arrived := make(chan []byte, 1000)
	var stop atomic.Bool
	var receiving sync.WaitGroup
	receiving.Go(func() {
		i.Receive(&stop, func(b []byte) {
			select {
			case arrived <- bytes.Clone(b):
			default:
			}
		})
	})
	end = sync.OnceFunc(func() {
		stop.Store(true)
		receiving.Wait()
		close(arrived)
	})
	t.Cleanup(end)
	return arrived, end
}
