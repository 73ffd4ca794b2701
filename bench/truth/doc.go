// Package truth measures what the engine reports against what it should. A Trace
// plays scenes from a seed: flows with known events, and known silence. Model
// computes from the same packets which events each must be reported for; it is slow
// and obvious and shares no code with engine/event, so that the two check each
// other. Score runs both and counts what is missing and what is too much.
package truth
