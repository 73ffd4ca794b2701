// Package problem knows what is wrong with the sink and the network behind it, since when, and what was wrong
// in the last day. It is the one place where a trouble begins and ends: the log, the API, the page, the metric, the
// event stream and the webhooks all tell of the same problems.
//
// Each second somebody looks and lists signs (Sign): counters that should not grow, and states that should not be. A List
// makes problems of them (problemlist.go, each with its own hysteresis in count.go and standing.go). Signs of
// the sink itself come from package status; signs of the network come from package network. Those that have ended are kept for a day, and over a restart (keep.go).
//
// To add a kind: a row in problemkinds.go and in docs/run.md (Problems), and whoever sees it makes a Sign of it.
package problem
