package livecapture

import (
	"bytes"
	"errors"
	"testing"

	"intsink/engine/aside/capture"
)

// limited takes so many bytes, and then no more.
type limited struct {
	bytes.Buffer
	room int
}

var errNoRoom = errors.New("no room")

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.room)
	l.room -= n
	l.Buffer.Write(b[:n])
	if n < len(b) {
		return n, errNoRoom
	}
	return n, nil
}

// TestRoomForPartOfACapture: wherever the room ends, it is told how many packets are written
// whole, and how many bytes they are.
func TestRoomForPartOfACapture(t *testing.T) {
	var records []capture.Record
	for i := range 3 {
		records = append(records, capture.Record{Data: make([]byte, 60+i), Len: 60 + i, Time: int64(i)})
	}
	ends := []int{len(written(t))} // behind the header, and behind each packet
	for i := range records {
		ends = append(ends, len(written(t, records[:i+1]...)))
	}
	whole := written(t, records...)
	for room := range len(whole) {
		w := &limited{room: room}
		o := &output{w: w}
		readErr, writeErr := transfer(o, bytes.NewReader(whole), nil)
		writeErr = o.close(writeErr)
		packets := 0
		for packets < 3 && room >= ends[packets+1] {
			packets++
		}
		if readErr != nil || !errors.Is(writeErr, errNoRoom) || o.packets != packets || o.size > int64(room) || room >= ends[0] && o.size != int64(ends[packets]) {
			t.Fatalf("room for %d bytes: %v %v, %d packets, %d bytes; want %d packets", room, readErr, writeErr, o.packets, o.size, packets)
		}
	}
}
