// Package observe is the HTTP endpoint of a running appliance: metrics, health, profiles
// and the API of package flowapi.
//
// The appliance fills in a Source; server.go serves it.
//
// To add a metric:
//
//  1. A number that a worker counts is a field of the Counters of the package that counts it, and an
//     entry of the Metrics beside them, with its name, help text and samples: of burst, a stage or an
//     aside, by link (engine/stage/parse and so on); of event (engine/event/metrics.go) and reporting
//     (engine/reporting/counters.go). Only the worker writes such a number. That is all its way to a
//     scrape: engine/counters.go has the list, readers of snapshots sum them up (metric.Add).
//     A package that had no Metrics gets a line in LinkMetrics or SumMetrics there.
//  2. A number by worker (engine.Pace, the flow table) is copied by publish (engine/tick.go), and added by
//     addFlows or addPace (metrics.go). Numbers of others come by Source (source.go), and are added in
//     metrics.go, metrics_ports.go or metrics_control.go. Both have a line of own (metriclist.go), behind
//     the metric that /metrics has in front of them.
//  3. The same help in a line of docs/metrics.md, and a panel in deploy/grafana/sink.json. A name that ends
//     in _total makes a counter, one that is in the list histograms of metriclist.go, too, a histogram,
//     any other a gauge.
//  4. A line in CHANGELOG.md. Where it helps users or benchmarks: an alert in
//     deploy/prometheus/rules.yml with its case in rules_test.yml, docs/run.md, fillstatus.go
//     (/api/v1/status), bench/internal/dut/scrape.go.
//
// `go test ./engine ./cmd/intsink/internal/observe ./internal/repotest` fails while one of these is
// missing.
package observe
