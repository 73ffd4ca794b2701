// Stamps generated hops with timestamps, on links that get slower; checks the flags of
// timestamps.

package gen

import (
	"errors"
	"fmt"
	"time"

	"intsink/engine/wire/intgen"
)

// timestampBits ask each hop for when it received the packet and when it sent it
// (INT 2.1, section "INT-MD Metadata Header Format", bits 4 and 5).
const timestampBits = 0x0c00

// linkStep is how much slower a link gets with each step of --link-step-every.
const linkStep = 100_000

// maxLinkLatency is the longest link latency that fits a report.
const maxLinkLatency = time.Second

// bitmap is what the source asks the hops for.
func (f *Flags) bitmap() uint16 {
	if f.timestamps {
		return intgen.DefaultBitmap | timestampBits
	}
	return intgen.DefaultBitmap
}

// checkTimestamps checks the flags of timestamps, and of the links between hops.
func (f *Flags) checkTimestamps() error {
	switch {
	case !f.timestamps && (f.Given("link-latency") || f.linkStepEvery != 0):
		return errors.New("--link-latency and --link-step-every need --timestamps: a link's latency is the difference of two")
	case !f.timestamps:
		return nil
	case f.kind != "md":
		return fmt.Errorf("--timestamps needs --type md: headers of type %s carry no metadata of hops", f.kind)
	case f.format == "2016":
		return errors.New("--timestamps needs --format 2 or 1: in 2016 hops did not tell when they sent a packet")
	case f.linkLatency < 0 || f.linkLatency > maxLinkLatency:
		return fmt.Errorf("--link-latency %v: must be 0s to %v", f.linkLatency, maxLinkLatency)
	case f.linkStepEvery != 0 && f.hops < 2:
		return errors.New("--link-step-every is of the link between hops 1 and 2: --hops must be 2 or more")
	}
	return nil
}

// stampHops fills in when each hop, the newest first, received and sent the packet
// that the sink receives at at. Each spends its hop latency in between; link tells
// how long the packet was on the way from hop number hop to the next, or to the
// sink.
func stampHops(hops []intgen.Hop, at uint64, link func(hop int) uint64) {
	for i := range hops {
		h := &hops[i]
		h.EgressTimestamp = at - link(len(hops)-i)
		h.IngressTimestamp = h.EgressTimestamp - uint64(h.LatencyNs)
		at = h.IngressTimestamp
	}
}
