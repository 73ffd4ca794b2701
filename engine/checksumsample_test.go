package engine

import (
	"bytes"
	"testing"

	"intsink/engine/aside/checksum"
)

// TestChecksumSamplesAreFew: one in so many INT packets, and one a second.
func TestChecksumSamplesAreFew(t *testing.T) {
	f := withINT(t, plain(1), nil)
	b := newBed(t, nil)
	for range 8 * checksum.EveryPackets / 32 {
		for range 32 {
			b.network.RX = append(b.network.RX, bytes.Clone(f))
		}
		b.Poll()
		b.host.TX = b.host.TX[:0]
	}
	b.step(2e6)
	if n := b.Snapshot().Links[0].Checksum.Checksums[checksum.Good][checksum.Good]; n != 8 {
		t.Errorf("%d samples of %d packets, want 8", n, 8*checksum.EveryPackets)
	}
	b.balance()
}
