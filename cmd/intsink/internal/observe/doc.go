// Package observe is the HTTP endpoint of a running appliance: metrics, health, profiles
// and the API of package flowapi.
//
// The appliance fills in a Source; server.go serves it. To add a metric: a line in
// metriclist.go, a line in docs/metrics.md, and an add in metrics.go, metrics_ports.go or metrics_control.go; tests
// fail where one of the three is missing.
package observe
