// Package appliance is the command run: it makes a sink of a configuration, and takes it apart again.
//
// A sink is a list of parts, which start in its order and stop in reverse: appliance.go has the list. Each part
// has a file: startdpdk.go, pools.go and openports.go what packets live in and come from; exporters.go and
// reportports.go what takes reports away; workers.go makes the workers, polling.go runs them; observed.go is the
// HTTP endpoint, and what is looked at for it; gauges.go the load of ports, for the sink's own metadata;
// collectornames.go and slot.go try again what was not there; features.go has those that stand by
// themselves; modecontroller.go and service.go are the rest. run.go is the life between signals. reload.go and trial.go change what is in force, bypass.go the switch, whose
// watchdog lives longer than the parts.
package appliance
