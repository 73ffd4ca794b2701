// Package doctor looks at the machine that a configuration is for, and says what is
// wrong or slow there, each with the command that mends it. host.go reads sysfs and
// procfs below a root that tests replace; memory.go, cpu.go, clock.go, unit.go, ports.go, routed.go, rxqueues.go and
// collectors.go hold the checks, a function each.
package doctor
