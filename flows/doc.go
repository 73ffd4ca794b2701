// Package flows is the sink's flow table: exact keys, fixed memory outside the
// Go heap, one owner, no locks.
//
// Keys with their hashes enter (Table.LookupBurst), flows leave:
//
//	table.go, flow.go, cold.go      the table; a flow's state, and what few flows have
//	key.go, hash.go, keyheaders.go  the 5-tuple; its hash; headers made from it, for reports
//	bucket.go, lookup.go            buckets of the cuckoo table, and the search in them; all flows, in slices
//	insert.go, age.go               new flows, flows that make room, flows that are silent
//	slab.go                         memory of flows
//	smalltable.go                   Small: a table of queues, links or interfaces
//	flowlayout.go                   offsets and sizes that package fast reads
package flows
