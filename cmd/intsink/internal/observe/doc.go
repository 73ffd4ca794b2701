// Package observe is the HTTP endpoint of a running appliance: metrics, health, profiles
// and the API of package flowapi.
//
// The appliance fills in a Source; server.go serves it. To add a metric: a line in
// metriclist.go, the same help in a line of docs/metrics.md, and an add in metrics.go,
// metrics_ports.go or metrics_control.go; tests fail while one of the three is missing. A
// number that a worker counts is a field of engine.Counters or LinkCounters
// (engine/counters.go: Add sums links, copyFrom copies what is not a plain number), which only
// the worker writes; metrics.go gets it by Worker.Snapshot. Numbers of others come by Source.
package observe
