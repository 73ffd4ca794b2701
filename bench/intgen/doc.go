// Package intgen builds packets and puts In-band Network Telemetry into them,
// as an INT source and its transit hops do (INT 2.1). It shares no code with the
// engine, so that the two check each other.
package intgen
