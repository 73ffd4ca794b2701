package file

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// faulty is a writer that fails at some of its writes.
type faulty struct {
	bytes.Buffer
	writes int
	fails  map[int]error
}

func (w *faulty) Write(b []byte) (int, error) {
	w.writes++
	if err := w.fails[w.writes]; err != nil {
		return 0, err
	}
	return w.Buffer.Write(b)
}

// TestFirstErrorIsKept: a capture with a hole is no success because there is room again,
// and nothing is written behind the hole.
func TestFirstErrorIsKept(t *testing.T) {
	full, other := errors.New("no space left"), errors.New("another")
	for fails := 1; fails <= 5; fails++ {
		w := &faulty{fails: map[int]error{fails: full, fails + 1: other}}
		c := NewCapture(w)
		for range 3 {
			c.Write(make([]byte, 60), 1_000_000_007)
		}
		if c.Err() == nil || !strings.HasSuffix(c.Err().Error(), full.Error()) || w.writes != fails {
			t.Errorf("write %d fails: %v after %d writes", fails, c.Err(), w.writes)
		}
	}
	w := &faulty{}
	c := NewCapture(w)
	c.Write(make([]byte, 60), 1_000_000_007)
	if c.Err() != nil || w.Len() != 24+16+60 {
		t.Errorf("%v, %d bytes", c.Err(), w.Len())
	}
}
