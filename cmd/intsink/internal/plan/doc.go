// Package plan is the command plan: the report rate that a configuration would give.
// planner.go takes a capture through a worker between ports in memory (memport.go) and
// counts second by second, result.go is what comes out, text.go its tables.
package plan
