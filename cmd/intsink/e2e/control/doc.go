// Package control tests what changes a running sink: reload, trial, upgrade, mode; and what it does about faults of its own.
package control
