package udp

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/ipv4"

	"intsink/dpdk/ring"
)

// timed is a socket that takes a while for each batch and notes the times of its calls.
type timed struct {
	failing
	start            time.Time
	looks, deadlines []time.Duration
	sent             []int
}

// perBatch is how long timed takes for a batch.
const perBatch = 300 * time.Millisecond

func (c *timed) WriteBatch(ms []ipv4.Message, _ int) (int, error) {
	time.Sleep(perBatch)
	c.sent = append(c.sent, len(ms))
	return len(ms), nil
}

func (c *timed) SetWriteDeadline(t time.Time) error {
	c.deadlines = append(c.deadlines, t.Sub(c.start))
	return nil
}

func (c *timed) answers(*answers) int {
	c.looks = append(c.looks, time.Since(c.start))
	return 0
}

// TestScheduleOfRun: while the rings are empty, Run asks every 50 ms for 5 s what came back, and again
// after the next packets; when it is stopped it sends what is left, with one deadline for all of it, and
// asks a last time. The clock is the test's own.
func TestScheduleOfRun(t *testing.T) {
	a, r := setup(t)
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{Rings: []*ring.Ring{r}, Pool: a})
		c := &timed{start: time.Now()}
		e.conn = c
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { e.Run(ctx); close(done) }()

		const between = idleSleep / 2 // the test acts while Run sleeps
		time.Sleep(10*time.Second + between)
		fill(t, a, r, 3, 50)
		time.Sleep(10 * time.Second)
		fill(t, a, r, 65, 50) // a burst and one more
		cancel()
		<-done

		var looks []time.Duration
		schedule := func(from time.Duration) {
			for at := 50 * time.Millisecond; at <= 5*time.Second; at += 50 * time.Millisecond {
				looks = append(looks, from+at-idleSleep)
			}
		}
		first, stop := 10*time.Second+idleSleep, 20*time.Second+idleSleep
		schedule(0)
		looks = append(looks, first+perBatch)
		schedule(first + perBatch)
		looks = append(looks, stop+perBatch, stop+2*perBatch, stop+2*perBatch) // with each batch, and at last
		if !slices.Equal(c.looks, looks) {
			t.Errorf("it asks at\n%v, want\n%v", c.looks, looks)
		}
		if want := []time.Duration{first + sendPatience, stop + sendPatience, stop + sendPatience}; !slices.Equal(c.deadlines, want) {
			t.Errorf("deadlines %v, want %v", c.deadlines, want)
		}
		if want := []int{3, 64, 1}; !slices.Equal(c.sent, want) || e.Packets.Load() != 68 || e.Bytes.Load() != 68*50 || a.InUse() != 0 {
			t.Errorf("batches of %v, want %v; %d packets, %d bytes, %d mbufs in use", c.sent, want, e.Packets.Load(), e.Bytes.Load(), a.InUse())
		}
		if !c.closed || e.conn != nil {
			t.Errorf("the socket is closed: %v", c.closed)
		}
	})
}
