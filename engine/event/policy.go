package event

// Policy is what one watch wants to hear of.
type Policy struct {
	Events       Set
	Sample       uint32 // one packet in Sample; 0: none
	SampleByFlow bool   // all packets of one flow in Sample instead
	Thresholds   Thresholds

	quiet bool // Quiet may answer for it
}

// Thresholds as EVENTS names them; times in nanoseconds.
type Thresholds struct {
	NewFlowRate int // per second and worker; 0: no limit

	Paths       int   // remembered per flow, at most flows.MaxPaths
	PathMemory  int64 // how long a path that is not current is remembered
	PathRate    int   // reports per flow and second; 0: no limit
	ReportKnown bool  // a known path coming back is reported too

	LatencyAbsolute uint32
	LatencyRelative float64
	LatencyK        int
	LatencyN        int // at most 8
	LatencyInterval int64

	RefreshEvery  int64
	RefreshJitter float64
}
