package inspect

import (
	"sync"
	"testing"

	"intsink/engine/event"
	"intsink/flows"
)

// flowOn is a flow on the path with the given hash, which paths describes as two nodes.
func flowOn(paths *Paths, hash uint64) *flows.Flow {
	p, _ := paths.Get(1, [2]uint64{hash})
	p.ID, p.Hops, p.Way[0].Node, p.Way[1].Node = hash<<8, 2, 101, 102
	return &flows.Flow{PathHash: hash}
}

func TestFeedGivesWhatWasPut(t *testing.T) {
	paths, f := NewPaths(1), new(Feed)
	f.Put(1, event.Sample.Set(), nil, paths)
	f.Want(event.AllEvents) // what was put before is skipped
	f.Put(2, event.Malformed.Set(), nil, paths)
	f.Put(3, event.PathChange.Set(), flowOn(paths, 7), paths)
	f.Put(4, event.Sample.Set(), &flows.Flow{PathHash: 8}, paths) // a path without description
	got, missed := f.Take(nil, 10)
	if len(got) != 3 || missed != 0 {
		t.Fatalf("%d notices, %d missed", len(got), missed)
	}
	if n := got[0]; n.Time != 2 || n.Events != event.Malformed.Set() || n.Tracked || n.Known {
		t.Errorf("without a flow: %+v", n)
	}
	if n := got[1]; n.Time != 3 || !n.Tracked || !n.Known || n.Path.ID != 7<<8 || n.Path.Way[1].Node != 102 {
		t.Errorf("of a flow: %+v", n)
	}
	if n := got[2]; !n.Tracked || n.Known {
		t.Errorf("without a described path: %+v", n)
	}
	if paths.Find([2]uint64{8}) != nil {
		t.Error("a look-up made an entry")
	}
}

// TestFeedGivesWhatIsWanted: reports of other events are no notice; of a path change the path that the flow left last is
// told, where it is described.
func TestFeedGivesWhatIsWanted(t *testing.T) {
	paths, f := NewPaths(1), new(Feed)
	f.Want(event.PathChange.Set())
	f.Put(1, event.Refresh.Set(), nil, paths)
	f.Put(2, event.PathChange.Set()|event.Refresh.Set(), flowOn(paths, 7), paths)
	flowOn(paths, 5)
	moved := flowOn(paths, 6)
	moved.NumPaths = 3
	c := moved.Cold()
	c.Paths[0], c.Paths[1] = flows.LeftPath(4, 10, 0), flows.LeftPath(5, 11, 0)
	f.Put(3, event.PathChange.Set(), moved, paths)
	f.Want(0)
	f.Put(4, event.PathChange.Set(), moved, paths)
	got, missed := f.Take(nil, 10)
	if len(got) != 2 || missed != 0 || got[0].Time != 2 || got[0].WasOn || !got[1].WasOn || got[1].Was.ID != 5<<8 || got[1].Path.ID != 6<<8 {
		t.Errorf("%d missed, %+v", missed, got)
	}
}

func TestFeedCountsWhatFindsNoRoom(t *testing.T) {
	paths, f := NewPaths(1), new(Feed)
	f.Want(event.AllEvents)
	for i := range feedRoom + 5 {
		f.Put(int64(i), event.Sample.Set(), nil, paths)
	}
	first, missed := f.Take(nil, 100)
	rest, again := f.Take(nil, feedRoom)
	if len(first) != 100 || len(rest) != feedRoom-100 || rest[0].Time != 100 || missed != 5 || again != 0 {
		t.Errorf("%d and %d notices, %d and %d missed", len(first), len(rest), missed, again)
	}
}

// TestFeedBetweenThreads: every notice is taken once, in order, or counted as missed.
func TestFeedBetweenThreads(t *testing.T) {
	paths, f := NewPaths(1), new(Feed)
	f.Want(event.AllEvents)
	const n = 50000
	var worker sync.WaitGroup
	worker.Go(func() {
		for i := range n {
			f.Put(int64(i), event.Sample.Set(), nil, paths)
		}
	})
	done := make(chan struct{})
	go func() { worker.Wait(); close(done) }()
	var taken, missed uint64
	last := int64(-1)
	for ended := false; ; {
		got, m := f.Take(nil, 64)
		for i := range got {
			if got[i].Time <= last {
				t.Fatalf("notice %d after %d", got[i].Time, last)
			}
			last = got[i].Time
		}
		taken, missed = taken+uint64(len(got)), missed+m
		if ended && len(got) == 0 {
			break
		}
		select {
		case <-done:
			ended = true
		default:
		}
	}
	if taken+missed != n {
		t.Errorf("%d taken, %d missed, of %d", taken, missed, n)
	}
}
