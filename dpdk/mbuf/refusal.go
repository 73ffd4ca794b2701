package mbuf

// Refusal is why a port did not take an mbuf that it was to transmit.
type Refusal uint8

const (
	// RefusedFull: its queue is full; the mbuf may be offered again.
	RefusedFull Refusal = iota
	// RefusedTooLong: the frame is longer than the port's MTU allows. Those behind it may be
	// taken.
	RefusedTooLong
	// RefusedDown: the port's link is down, or its device is gone: it takes nothing.
	RefusedDown
	// RefusedFrame: the kernel does not take this frame. Those behind it may be taken.
	RefusedFrame
)
