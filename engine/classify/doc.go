// Package classify finds which of many rules a packet fits, one field after the other
// (Lakshman and Stiliadis, SIGCOMM 1998). Watches (engine/watch) and rules of mitigation and captures
// (engine/selector) are compiled with it: New makes an Index of the Spans that each rule
// accepts of one field; At returns the set of rules that a value fits; whoever asks
// intersects the sets of all fields.
//
//	index.go  Index, Point, Span
//	spans.go  from lists of a rule (prefixes, ranges, numbers) to Spans
package classify
