// Package series keeps what was: the last ten minutes by seconds and the last day by minutes, of the latency and
// occupancy of queues, hops, segments and paths (Places), and of counters of the sink (Counts).
//
//	places.go   Places: the places that have tracks; sampled packets add to them, requests read them
//	track.go    track: one value of one place: counts of the second and minute at hand, points of those that are over
//	point.go    Point: median, 99th percentile and maximum in four bytes; classes of values
//	counts.go   Counts: by how much counters grew
//	save.go     what is kept over a restart
//	span.go     Span: which points an answer has, of which time
//
// The memory is fixed and outside the Go heap: pages that no place needs are never touched. A track is 9 KiB; a queue has
// two, any other place one. A sampled packet takes the lock of Places if nobody has it, else it is left out: no worker ever waits.
package series
