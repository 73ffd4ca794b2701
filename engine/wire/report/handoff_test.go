package report

import (
	"bytes"
	"testing"
)

func TestHandoff(t *testing.T) {
	in := Handoff{Time: 1<<62 + 5, Entropy: 0xbeef, Reports: 9}
	b := append(make([]byte, HandoffLen), 1, 2, 3)
	in.Put(b)
	out, rest := TakeHandoff(b)
	if out != in || !bytes.Equal(rest, []byte{1, 2, 3}) {
		t.Errorf("%+v %x, want %+v", out, rest, in)
	}
}
