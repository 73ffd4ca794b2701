// Package observe is the HTTP endpoint of a running appliance: metrics, health, profiles
// and the API of package flowapi.
//
// The appliance fills in a Source; server.go serves it.
//
// To add a metric: a line in metriclist.go, the same help in a line of docs/metrics.md, and an
// add in metrics.go, metrics_ports.go or metrics_control.go; tests fail while one of the three
// is missing. A name that ends in _total makes a counter, one that is in the list histograms of
// metriclist.go, too, a histogram, any other a gauge. Users read of it in CHANGELOG.md.
//
// A number that a worker counts is a field of the counters of the package that counts it:
// engine.LinkCounters and engine.Counters (engine/counters.go), event.Counters
// (engine/event/event.go), reporting.Counters and CollectorCounters
// (engine/reporting/counters.go), engine.Pace (engine/pace.go). Only the worker writes
// them. engine.Counters holds all, and metrics.go gets it by Worker.Snapshot: in engine/counters.go
// Add sums links, and copyFrom copies what is not a plain number. Numbers of others come by
// Source.
package observe
