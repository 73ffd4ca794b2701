// Package aggregate keeps what Prometheus is shown of the records themselves: latencies of
// hops and links, occupancy of queues, events and drops. The number of series is bounded.
package aggregate
