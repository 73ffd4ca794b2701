// Package appliance is the command run: it assembles DPDK, the workers, the exporters
// and the HTTP endpoint from a configuration, and takes them apart again.
//
// Run (run.go) is its life between signals, Start and Stop (appliance.go) the order of things. Each part has a file: startdpdk.go and
// memory.go start DPDK, pools.go and openports.go open what packets live in and come from,
// workers.go makes the workers and polling.go runs them, exporters.go and reportports.go
// take the reports away, gauges.go reads the load of ports for the sink's own metadata,
// observed.go fills in what the HTTP endpoint shows, reload.go adopts a new configuration.
package appliance
