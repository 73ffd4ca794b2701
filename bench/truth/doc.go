// Package truth compares the reports of the engine with those of a second model of the events. A
// Trace plays scenes from a seed: flows with planted events, and flows without any. Model computes
// from the same packets which events each must be reported for; it is slow and simple, and shares
// no code with engine/event, so that the two check each other. Run plays a Trace to both and
// counts reports that are missing and reports that are wrong (score.go).
package truth
