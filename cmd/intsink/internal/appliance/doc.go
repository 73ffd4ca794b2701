// Package appliance is the command run: it makes a sink of a configuration, and takes it apart again.
//
// A sink is a list of parts, which start in its order and stop in reverse: appliance.go has the list. Each part
// has a file, or a package: startdpdk.go and pools.go what packets live in; ports.go what they come from, and what
// takes reports away; workers.go makes the workers, polling.go runs them; observed.go is the HTTP endpoint, and what
// is looked at for it; features.go has those that stand by themselves; modecontroller.go and service.go are the rest.
// run.go is the life between signals. Package inforce changes what is in force; upgrade.go is the sink's side of
// another program; bypass.go is the switch, whose watchdog lives longer than the parts.
package appliance
