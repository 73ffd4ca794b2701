// Package fast passes the packets that are like others before them: their headers have a
// shape that the parser has seen, and their INT says what their flow's last packet said.
//
// A Template says of such a shape which bytes a packet of it has, and where everything
// stands that is read or changed. Learn makes it of a packet that was parsed; nothing else
// does. What follows is one loop over the burst each: which template, key and hash
// (match.c, streak.h), which flow (lookup.c), whether the packet gives no event (compare.h), and INT out (pass.c,
// strip.h). No loop asks what the headers are called.
//
// The loops are in C, and in Go with the same result to the byte: for builds without cgo,
// processors without AVX2, and tests. A State belongs to one worker.
package fast
