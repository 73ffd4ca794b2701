// Package appliance is the command run: it makes a sink of a configuration, and takes it apart again.
//
// A sink is a list of parts, which start in its order and stop in reverse: appliance.go has the list. Each part
// has a file, or a package: startdpdk.go and pools.go what packets live in; ports.go what they come from, and what
// takes reports away; workers.go makes the workers, polling.go runs them; parts.go lists those that stand by themselves (package part), the
// HTTP endpoint and the modes among them; service.go is what systemd hears.
// run.go is the life between signals. Package inforce changes what is in force; upgrade.go is the sink's side of
// another program.
package appliance
