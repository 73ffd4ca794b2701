// Package observe is the HTTP endpoint of a running sink: it serves what parts bring (package part), whom
// package control lets in, and knows no part by its name. /metrics is of all parts, profiles are on a
// listener of their own.
//
// To add a metric:
//
//  1. A number that a worker counts is a field of the Counters of the package that counts it, and an
//     entry of the Metrics beside them, with its name, help text and samples: of burst, a stage or an
//     aside, by link (engine/stage/parse and so on); of event (engine/event/metrics.go) and reporting
//     (engine/reporting/counters.go). Only the worker writes such a number. That is all its way to a
//     scrape: engine/counters.go has the list, readers of snapshots sum them up (metric.Add).
//     A package that had no Metrics gets a line in LinkMetrics or SumMetrics there.
//  2. A number by worker (engine.Pace, the flow table) is copied by publish (engine/tick.go), and has an
//     entry in vitals/metrics.go; one of a port in vitals/portmetrics.go. A number of another part has one
//     beside the part's Metrics method (failopen/metrics.go and others).
//  3. The same help in a line of docs/metrics.md, and a panel in deploy/grafana/sink.json. A name that ends
//     in _total makes a counter, samples with buckets a histogram, any other name a gauge.
//  4. A line in CHANGELOG.md. Where it helps users or benchmarks: an alert in
//     deploy/prometheus/rules.yml with its case in rules_test.yml, docs/run.md, vitals/fill.go
//     (/api/v1/status), bench/internal/dut/scrape.go.
//
// `go test ./engine ./cmd/intsink/internal/vitals ./cmd/intsink/internal/observe ./internal/repotest` fails while
// one of these is missing.
//
// To add a route: in the Register method of its part, or RegisterShared where an answer costs something, and a line
// of its Paths; a case in openapi/document_test.go, and docs/api.md. A part that brings its first route gets a line in
// appliance/parts.go, and in server_test.go here, whose tests try each route with each right.
package observe
