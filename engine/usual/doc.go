// Package usual knows what the network does when nothing is wrong: the latency and the occupancy that each
// queue, hop, segment and path usually has. A random sample of packets tells it (event.Detector, one packet
// in 256 and at most 10,000 a second); it forgets within a day what is no longer so.
//
//	usual.go        Usual, its places, and what a sampled packet tells of them
//	learn.go        what is learned of it, and what is not
//	value.go        how a place is asked for: what is usual, and whether that is being learned, doubtful or known
//	like.go         Like: what a place without a history is held against: its node, and nodes like it
//	measure.go      Measure: counts of one value in classes, of the minute at hand, the last hour, the last day
//	percentiles.go  Limits: the 99th percentiles that thresholds are made of, where C reads them too
//	slow.go         Slow: hops and segments that are far above what is usual, by their last samples
//	drift.go        Changed: places at which what is usual has changed
//	sources.go      how much one source may teach
//	typical.go      what most places of a kind usually do
//	save.go         the state as a file holds it
//
// One Usual serves all workers of a sink, so that there is nothing to add up when somebody asks. A sampled
// packet takes its lock if nobody has it, else its values are not learned: no worker ever waits.
package usual
