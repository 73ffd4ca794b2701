// Package inspect answers questions about what a worker knows: its flows, paths,
// queues, interfaces and links.
//
// Whoever asks makes a Query, with all the memory that the answer may take. The
// worker serves it between bursts, a Step of bounded work at a time, and neither
// allocates nor waits. A Query belongs to the worker until its last Step, then to
// whoever asked.
package inspect
