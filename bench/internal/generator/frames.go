package generator

import (
	"encoding/binary"
	"fmt"
)

// stampLen is what a frame carries at its end: when it was sent, in nanoseconds,
// and in which trial.
const stampLen = 8 + 4

func stamp(frame []byte, at int64, trial uint32) {
	b := (*[stampLen]byte)(frame[len(frame)-stampLen:])
	binary.BigEndian.PutUint64(b[:8], uint64(at))
	binary.BigEndian.PutUint32(b[8:], trial)
}

func readStamp(frame []byte) (at int64, trial uint32) {
	if len(frame) < stampLen {
		return 0, 0
	}
	b := (*[stampLen]byte)(frame[len(frame)-stampLen:])
	return int64(binary.BigEndian.Uint64(b[:8])), binary.BigEndian.Uint32(b[8:])
}

// checkFrames finds frames that have no room for a stamp.
func checkFrames(frames [][]byte, headers int) error {
	for i, f := range frames {
		if len(f) < headers+stampLen {
			return fmt.Errorf("frame %d has %d bytes: its payload has no room for the %d bytes that tell when it was sent", i, len(f), stampLen)
		}
	}
	if len(frames) == 0 {
		return fmt.Errorf("no frames to send")
	}
	return nil
}
