// Package strip takes INT out of a packet and restores what its insertion
// changed, so that the packet leaves as it was sent.
//
// The bytes in front of INT move forward over it; the payload is not copied.
// Checksums are updated incrementally (RFC 1624) over everything that goes, so
// that a wrong checksum stays wrong.
package strip
