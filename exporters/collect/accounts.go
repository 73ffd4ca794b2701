// Declares Accounts of an output, which add up, and the closed lists of reasons why records
// are dropped and datagrams are refused.

package collect

// Reason says why a record was dropped at an output.
type Reason uint8

const (
	QueueFull    Reason = iota // the log in memory is full, and there is no spool
	SpoolFailed                // the spool could not be written
	SpoolFull                  // the spool was full: its oldest segment was dropped
	SpoolCorrupt               // a segment is missing, or cannot be read back as it was written
	TooLarge                   // larger than the receiver takes
	NoFlow                     // of no flow, and the output takes flows alone
	NotDelivered               // in memory when the collector stopped
	NumReasons
)

var reasons = [NumReasons]struct{ label, doc string }{
	QueueFull:    {"queue_full", "the log in memory was full, there is no spool, and its oldest segment went; gap records say what was in it"},
	SpoolFailed:  {"spool_failed", "the spool could not be written, and memory was full; gap records say what it was"},
	SpoolFull:    {"spool_full", "the spool was full and its oldest segment went; gap records say what was in it"},
	SpoolCorrupt: {"spool_corrupt", "a part of the spool could not be read, or was missing; gap records say what was in it"},
	TooLarge:     {"too_large", "the receiver does not take a record of this size"},
	NoFlow:       {"no_flow", "a gap, sums, an episode, or a report without a packet: an output `ipfix` takes packets of flows alone"},
	NotDelivered: {"not_delivered", "not delivered when `collect` stopped, and there is no spool, or it could not be written"},
}

// String returns the reason's label in metrics.
func (r Reason) String() string { return reasons[r].label }

// Doc says in words what the label means.
func (r Reason) Doc() string { return reasons[r].doc }

// Accounts counts the records of one output: Taken + Restored = Delivered + the sum of Dropped
// + Queued + Waiting.
type Accounts struct {
	Taken     uint64 // came since the start
	Restored  uint64 // were in the log at the start
	Delivered uint64
	Dropped   [NumReasons]uint64
	Queued    uint64 // the output was sent, or is to be sent next, and has not settled
	Waiting   uint64 // in the log: on disk, or in memory without a spool
}

// Balanced reports whether the accounts add up.
func (a *Accounts) Balanced() bool {
	sum := a.Delivered + a.Queued + a.Waiting
	for _, n := range a.Dropped {
		sum += n
	}
	return a.Taken+a.Restored == sum
}

// Refusal says why a datagram was not taken.
type Refusal uint8

const (
	NotAllowed     Refusal = iota // the source is in no allow list
	OverLimit                     // the exporter sends more than its limit
	NotReport                     // not a report packet
	Undecodable                   // no report in it can be read
	TooManyStreams                // it would begin a stream beyond the limit
	NumRefusals
)

var refusals = [NumRefusals]struct{ label, doc string }{
	NotAllowed:     {"not_allowed", "the source address is not in `allow`"},
	OverLimit:      {"over_limit", "the exporter sent more than `exporter_limit` report packets a second"},
	NotReport:      {"not_report", "too short for a report packet, of an unknown version, or with more than 2048 reports; with `listen.ipfix`: no message of IPFIX, or one with more than 2048 data records"},
	Undecodable:    {"undecodable", "a report packet in which not one report can be read, or the first one of a stream in which the first report cannot"},
	TooManyStreams: {"too_many_streams", "there is no room for one more stream"},
}

// String returns the refusal's label in metrics.
func (r Refusal) String() string { return refusals[r].label }

// Doc says in words what the label means.
func (r Refusal) Doc() string { return refusals[r].doc }
