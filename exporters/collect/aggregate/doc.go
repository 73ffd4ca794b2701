// Package aggregate sums records up into metrics for Prometheus: latencies of hops and links,
// occupancy of queues, events and drops. The number of series is bounded.
package aggregate
