package recorder_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"intsink/engine/aside/capture"
	"intsink/engine/aside/recorder"
	"intsink/engine/burst"
	"intsink/engine/burst/bursttest"
	"intsink/engine/event"
	"intsink/engine/watch"
)

// bed is a burst and the recorder of its worker.
type bed struct {
	*bursttest.Bed
	*recorder.Recorder
	count recorder.Counters
}

func newBed(t testing.TB, memory int) *bed {
	b := &bed{Bed: bursttest.New(t, bursttest.ByPort())}
	b.Watched = true
	b.Recorder = recorder.New(memory, b.Now, b.Detector, &b.count)
	b.Adopt([]watch.Watch{{Name: "all"}})
	t.Cleanup(b.Recorder.Close)
	return b
}

// come makes frames the burst at hand, of which those are reported whose bit is set.
func (b *bed) come(reported uint64, set event.Set, frames ...[]byte) {
	b.Parse(frames...)
	b.Resolve()
	b.Reportable = reported & (1<<len(frames) - 1)
	for j := range frames {
		b.Cause[j] = burst.CauseOf(set, 0, false)
	}
	b.Recorder.Burst(b.Bed.Burst)
}

// all reads what the recorder has, from a time on.
func (b *bed) all(since int64) (out []capture.Record) {
	var p capture.Record
	for x := b.Read(since); x.Next(&p); {
		p.Data = bytes.Clone(p.Data)
		out = append(out, p)
	}
	return out
}

// TestReportedPacketsComeBack: as they came, with INT, in their order, with what is known of them; others do not.
func TestReportedPacketsComeBack(t *testing.T) {
	b := newBed(t, recorder.LeastMemory)
	if got := b.all(0); len(got) != 0 {
		t.Fatalf("%d packets before any came", len(got))
	}
	var frames [][]byte
	for n := range 4 {
		frames = append(frames, bursttest.WithINT(t, bursttest.Plain(n), nil))
	}
	b.Detector.Wall = 50
	b.come(0b1010, event.HopLatency.Set(), frames...)
	b.Detector.Wall = 0
	got := b.all(b.Now)
	if len(got) != 2 {
		t.Fatalf("%d packets, want 2", len(got))
	}
	for i, p := range got {
		want := frames[1+2*i]
		if !bytes.Equal(p.Data, want) || p.Len != len(want) || p.Time != b.Now+50 || p.Events != event.HopLatency.Set() || p.Watch != "all" || p.Host || p.Out || p.ToNetwork || p.Dropped || p.Episode != 0 {
			t.Errorf("packet %d: %+v, want\n%x", i, p, want)
		}
	}
	if got := b.all(b.Now + 1); len(got) != 0 {
		t.Errorf("%d packets of the future", len(got))
	}
	if b.count.Packets != 2 {
		t.Errorf("%+v", b.count)
	}
}

// TestLongPacketsAreSnapped behind their INT, not in it.
func TestLongPacketsAreSnapped(t *testing.T) {
	b := newBed(t, recorder.LeastMemory)
	plain := append(bursttest.Plain(1), make([]byte, 1000)...)
	long := bursttest.WithINT(t, bursttest.Plain(1), nil)
	long = append(long, plain[len(bursttest.Plain(1)):]...)
	b.come(1, event.Sample.Set(), long)
	got := b.all(0)
	if len(got) != 1 || len(got[0].Data) < recorder.Snap || len(got[0].Data) > recorder.Snap+recorder.Behind || got[0].Len != len(long) || !bytes.HasPrefix(long, got[0].Data) {
		t.Errorf("%+v", got)
	}
}

// TestLeftPackets are recorded with why they were dropped; those that a port refused, as they would have left.
func TestLeftPackets(t *testing.T) {
	b := newBed(t, recorder.LeastMemory)
	b.Parse(bursttest.WithINT(t, bursttest.Plain(1), nil))
	b.Recorder.Left(b.Bed.Burst, event.Drop.Set(), &burst.Left{Frame: b.Vec[0], Event: burst.NoEvent, Dropped: true, Why: burst.DropRule})
	b.Recorder.Left(b.Bed.Burst, event.Drop.Set(), &burst.Left{Frame: b.Vec[0], Event: burst.NoEvent, Dropped: true, Why: burst.DropTxDown})
	got := b.all(0)
	if len(got) != 2 || !got[0].Dropped || got[0].Reason != uint8(burst.DropRule) || got[0].Out || !got[1].Out || !got[1].Host {
		t.Errorf("%+v", got)
	}
}

// TestOff: without memory nothing is kept, and nothing fails.
func TestOff(t *testing.T) {
	b := newBed(t, 0)
	b.come(1, event.Sample.Set(), bursttest.WithINT(t, bursttest.Plain(1), nil))
	b.Recorder.Left(b.Bed.Burst, event.Drop.Set(), &burst.Left{Frame: b.Vec[0]})
	since, over := b.Reach()
	if got := b.all(0); len(got) != 0 || b.On() || since != 0 || over || b.count.Packets != 0 {
		t.Errorf("%d packets, %+v", len(got), b.count)
	}
}

// TestOldOnesAreOverwritten: the latest packets stay, in their order, each byte of them; what is gone is counted, and since when
// the recorder has all is told.
func TestOldOnesAreOverwritten(t *testing.T) {
	b := newBed(t, recorder.LeastMemory)
	frame := bursttest.WithINT(t, bursttest.Plain(1), nil)
	begun := b.Now
	const n = 10_000
	for i := range n {
		b.Now += 100_000_000 // so rare that none is left out
		if b.come(1, event.Sample.Set(), frame); i == 100 {
			if since, over := b.Reach(); since != begun || over {
				t.Errorf("since %d, overwritten: %v", since, over)
			}
		}
	}
	got := b.all(0)
	for i, p := range got {
		if want := b.Now - int64(len(got)-1-i)*100_000_000; p.Time != want || !bytes.Equal(p.Data, frame) {
			t.Fatalf("packet %d of %d: %+v, want time %d", i, len(got), p, want)
		}
	}
	since, over := b.Reach()
	if !over || since != got[0].Time || b.count.Packets != n || len(got) < 1000 {
		t.Errorf("since %d, overwritten: %v; %d packets, %+v", since, over, len(got), b.count)
	}
	if late := b.all(b.Now - 500_000_000); len(late) != 6 || late[5].Time != b.Now {
		t.Errorf("%d of the last half second", len(late))
	}
}

// TestFloodsHaveTheirShare: a flood of one kind, over a minute, neither shortens how far the recorder reaches back nor takes the
// share of other kinds; one flow takes little of that of its kind.
func TestFloodsHaveTheirShare(t *testing.T) {
	b := newBed(t, recorder.LeastMemory)
	var flood [][]byte
	for n := range 8 {
		flood = append(flood, bursttest.WithINT(t, bursttest.Plain(n), nil))
	}
	rare := bursttest.WithINT(t, bursttest.Plain(999), nil)
	told := 0
	for i := range 25_000 { // 250 s
		b.Now += 10_000_000
		b.come(1<<64-1, event.Sample.Set(), flood...)
		if i%100 == 0 {
			b.come(1, event.PathChange.Set(), rare)
			told++
		}
	}
	since, over := b.Reach()
	if back := b.Now - since; !over || back < 45e9 {
		t.Errorf("it reaches %d ms back, overwritten: %v", back/1e6, over)
	}
	found := 0
	for _, p := range b.all(b.Now - 45e9) {
		if p.Events == event.PathChange.Set() {
			found++
		}
	}
	if found < 45 || b.count.LeftOut[recorder.RefusedShare] == 0 {
		t.Errorf("%d of the rare packets of 45 s, %d came in all; %+v", found, told, b.count)
	}

	b = newBed(t, 64<<20)
	b.Now = 1e18
	for range 1000 { // 1 s of one flow
		b.Now += 1_000_000
		b.come(1<<64-1, event.Sample.Set(), append([][]byte{flood[0], flood[0], flood[0]}, flood[1])...)
	}
	of := map[byte]int{}
	for _, p := range b.all(0) {
		of[p.Data[29]]++
	}
	if of[0] < 256 || of[0] > 400 || b.count.LeftOut[recorder.RefusedFlow] == 0 {
		t.Errorf("by flow %v, %+v", of, b.count)
	}
}

// TestReadersAndTheWorker at once: what is read is whole, in order, and never older than what was read before.
func TestReadersAndTheWorker(t *testing.T) {
	b := newBed(t, recorder.LeastMemory)
	var frames [][]byte
	for n := range 16 {
		frames = append(frames, bursttest.WithINT(t, bursttest.Plain(n), nil))
	}
	var readers sync.WaitGroup
	done, wrong := make(chan struct{}), make(chan string, 2)
	for range 2 {
		readers.Go(func() {
			for {
				var p capture.Record
				last := int64(0)
				for x := b.Read(0); x.Next(&p); {
					if p.Time < last || !bytes.Equal(p.Data, frames[p.Data[29]]) {
						wrong <- fmt.Sprintf("%+v after %d", p, last)
						return
					}
					last = p.Time
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range 10_000 {
		b.Now += 100_000_000
		b.come(1, event.Sample.Set(), frames[i%16])
	}
	close(done)
	readers.Wait()
	select {
	case text := <-wrong:
		t.Error(text)
	default:
	}
	if _, over := b.Reach(); !over {
		t.Error("nothing was overwritten")
	}
}
