package eal

import (
	"sync/atomic"
	"time"
)

// WallClock follows the steps of the wall clock that Nanotime does not: NTP after a start
// with a wrong clock, a virtual machine that was suspended, an operator.
type WallClock struct {
	offset atomic.Int64
	read   func() (wall, own int64)
}

// NewWallClock compares the clocks that read reads at once; nil: the wall clock and
// Nanotime.
func NewWallClock(read func() (wall, own int64)) *WallClock {
	if read == nil {
		read = func() (wall, own int64) {
			now := time.Now()
			return now.UnixNano(), wallStart + int64(now.Sub(started))
		}
	}
	c := &WallClock{read: read}
	c.Renew()
	return c
}

// Offset is the wall clock less the sink's own, nanoseconds. Safe from any goroutine.
func (c *WallClock) Offset() int64 { return c.offset.Load() }

// A reading may be interrupted between the two clocks: of some the smallest change counts,
// and changes below a microsecond, which are none of the clock's, do not.
const (
	wallReadings = 5
	wallNoise    = 1000
)

// Renew reads both clocks. It is to be called a few times a second by one goroutine.
func (c *WallClock) Renew() {
	was := c.offset.Load()
	var least int64
	for i := range wallReadings {
		wall, own := c.read()
		if change := wall - own - was; i == 0 || max(change, -change) < max(least, -least) {
			least = change
		}
	}
	if max(least, -least) >= wallNoise {
		c.offset.Store(was + least)
	}
}
