// Package rules turns a configuration into what the workers of package engine are made
// from: Of gives the rules that a reload can change, Flows, PortID and others the rest; NeedsRestart
// says which changes a reload cannot make.
package rules
