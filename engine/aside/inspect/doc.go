// Package inspect answers questions about what a worker knows: its flows, paths,
// queues, interfaces and links.
//
// Whoever asks makes a Query, with all the memory that the answer may take. The
// worker serves it between bursts, a Step of bounded work at a time, and neither
// allocates nor waits. A Query belongs to the worker until its last Step, then to
// whoever asked.
//
//	query.go                         what can be asked, and a Step of the answer
//	flowcopy.go, filter.go, topn.go  a copy of a flow; which flows; the first N of an order
//	pathtotals.go, id.go             paths, their hops, sums of flows by path; ids as text
//	aside.go, ask.go                 a question on its way to a worker and back
//	feed.go                          notices of reports, for readers of /api/v1/events
package inspect
