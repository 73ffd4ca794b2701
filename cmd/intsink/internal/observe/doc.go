// Package observe is the HTTP endpoint of a running appliance: metrics, health, profiles
// and the API of package flowapi.
//
// The appliance fills in a Source; server.go serves it.
//
// To add a metric, in this order:
//
//  1. A number that a worker counts is a field of the Counters of the package that counts it, and a
//     line of its Add: of burst, a stage or an aside, by link (engine/stage/parse and so on);
//     event.Counters (engine/event/event.go), reporting.Counters and CollectorCounters
//     (engine/reporting/counters.go), engine.Pace (engine/pace.go). Only the worker writes them.
//     Numbers of others come by Source (source.go).
//  2. Its way to a scrape. engine.Counters (engine/counters.go) holds all that a worker counts, and
//     Worker.Snapshot returns them. publish (engine/tick.go) copies into it what the flow table, the
//     detector and the pace hold; copyFrom copies what is not a plain number. addEvents and
//     addSequences (metrics.go) sum event.Counters, addFlows and addPace write a sample per worker.
//  3. A line in metriclist.go, the same help in a line of docs/metrics.md, and an add in
//     metrics.go, metrics_ports.go or metrics_control.go; a panel in deploy/grafana/sink.json. A name that ends in _total makes a counter, one that is in the list
//     histograms of metriclist.go, too, a histogram, any other a gauge.
//  4. A line in CHANGELOG.md. Where it helps users or benchmarks: an alert in
//     deploy/prometheus/rules.yml with its case in rules_test.yml, docs/run.md, fillstatus.go
//     (/api/v1/status), bench/internal/dut/scrape.go.
//
// `go test ./engine ./cmd/intsink/internal/observe ./internal/repotest` fails while a part of 2
// or 3 is missing.
package observe
