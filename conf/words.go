// Declares the attributes that take one of a few words, each a type with its values as
// constants.

package conf

// TCPOptions is int.tcp_options: where INT stands relative to the TCP options.
type TCPOptions string

// The values of int.tcp_options.
const (
	INTAfterOptions  TCPOptions = "after"
	INTBeforeOptions TCPOptions = "before"
)

// INT1Dialect is int.int1_dialect: how INT 1.0 is written.
type INT1Dialect string

// The values of int.int1_dialect.
const (
	StandardINT1 INT1Dialect = "standard"
	GEANTINT1    INT1Dialect = "geant"
)

// ShimLength is int.shim_length: whether Length of a 2.x shim counts the shim.
type ShimLength string

// The values of int.shim_length.
const (
	ShimExclusive ShimLength = "exclusive"
	ShimInclusive ShimLength = "inclusive"
)

// ChecksumPolicy is int.checksum: what becomes of the TCP or UDP checksum in front of INT.
type ChecksumPolicy string

// The values of int.checksum.
const (
	UpdateChecksum ChecksumPolicy = "update"
	KeepChecksum   ChecksumPolicy = "keep"
)

// MalformedPolicy is int.malformed: what becomes of packets with unsound INT.
type MalformedPolicy string

// The values of int.malformed.
const (
	ForwardMalformed MalformedPolicy = "forward"
	DropMalformed    MalformedPolicy = "drop"
)

// CopyPolicy is int.ifa.copies: what becomes of packets with I = 0.
type CopyPolicy string

// The values of int.ifa.copies.
const (
	DropCopies  CopyPolicy = "drop"
	StripCopies CopyPolicy = "strip"
)

// LeakPolicy is int.leak: what becomes of INT that hosts send.
type LeakPolicy string

// The values of int.leak.
const (
	ForwardLeaks LeakPolicy = "forward"
	StripLeaks   LeakPolicy = "strip"
	DropLeaks    LeakPolicy = "drop"
)

// MarkPolicy is int.leak_mark: what becomes of packets of hosts that bear the mark of INT and have none.
type MarkPolicy string

// The values of int.leak_mark.
const (
	ClearMarks   MarkPolicy = "clear"
	DropMarks    MarkPolicy = "drop"
	ForwardMarks MarkPolicy = "forward"
)

// LayerPolicy is int.layer: which layers of a packet in tunnels INT is taken out of.
type LayerPolicy string

// The values of int.layer.
const (
	AllLayers LayerPolicy = "all"
	Outermost LayerPolicy = "outer"
)

// FragmentPolicy is int.fragments: what becomes of first fragments with INT.
type FragmentPolicy string

// The values of int.fragments.
const (
	PassFragments  FragmentPolicy = "pass"
	StripFragments FragmentPolicy = "strip"
)

// Scope is instruction.scope: who adds the metadata of a domain's instruction.
type Scope string

// The values of instruction.scope.
const (
	EachHop        Scope = "hop"
	SourceOnly     Scope = "source-only"
	SourceInserted Scope = "source-inserted"
)

// Role is instruction.role: what the value of a domain's instruction is for.
type Role string

// The values of instruction.role; empty: none is written.
const (
	OpaqueRole   Role = "opaque"
	DeviceIDRole Role = "device_id"
	SequenceRole Role = "sequence"
	TTLRole      Role = "ttl"
)

// Layer is watch.match.flow: which headers the addresses and ports of a match are about.
type Layer string

// The values of watch.match.flow.
const (
	AnyLayer   Layer = "any"
	OuterLayer Layer = "outer"
	InnerLayer Layer = "inner"
)

// FlowKey is flows.key: which headers flows are told apart by, where there are tunnels.
type FlowKey string

// The values of flows.key.
const (
	OwnKey   FlowKey = "own"
	InnerKey FlowKey = "inner"
)

// SampleBy is watch.sample_by: whether one packet in so many is a sample, or all packets of
// one flow in so many.
type SampleBy string

// The values of watch.sample_by.
const (
	SamplePackets SampleBy = "packet"
	SampleFlows   SampleBy = "flow"
)

// ECMP is path_change.ecmp: whether a known path that comes back is reported.
type ECMP string

// The values of path_change.ecmp.
const (
	IgnoreECMP ECMP = "ignore"
	ReportECMP ECMP = "report"
)

// Clock is end_to_end.clock: what makes the end-to-end latency.
type Clock string

// The values of end_to_end.clock.
const (
	NoClock  Clock = "none" // the sum of the hops' latencies
	PTPClock Clock = "ptp"  // the sink's time less the source's
)

// TimestampEpoch is node_model.timestamp_epoch: what timestamps of a node count from.
type TimestampEpoch string

// The values of node_model.timestamp_epoch.
const (
	UnixEpoch TimestampEpoch = "unix"
	NoEpoch   TimestampEpoch = "none"
)

// ReportVersion is report.version: the version of Telemetry Report.
type ReportVersion string

// The values of report.version.
const (
	Report20 ReportVersion = "2.0"
	Report10 ReportVersion = "1.0"
	Report05 ReportVersion = "0.5"
)

// ReportLayout is report.layout: which RepMdBits reports of version 1.0 have.
type ReportLayout string

// The values of report.layout.
const (
	StandardLayout ReportLayout = "standard"
	Layout2018     ReportLayout = "2018"
)

// ReportProfile is report.profile; empty: none.
type ReportProfile string

// TransparentSecurity is the profile of Telemetry Report 2.0 of that name.
const TransparentSecurity ReportProfile = "transparent-security"

// Inner is report.inner: what a report's fragment begins with.
type Inner string

// The values of report.inner.
const (
	InnerIP       Inner = "ip"
	InnerEthernet Inner = "ethernet"
)

// SourcePortMode says what the UDP source port of reports is.
type SourcePortMode string

// What collector.source_port stands for.
const (
	AnySourcePort    SourcePortMode = "any"   // the kernel chooses
	FixedSourcePort  SourcePortMode = "fixed" // Collector.SourcePort, 0 included, is on the wire
	HashedSourcePort SourcePortMode = "hash"  // of the flow
)

// Hugepages is dpdk.hugepages.
type Hugepages string

// The values of dpdk.hugepages.
const (
	AutoHugepages Hugepages = "auto" // where there are some
	WithHugepages Hugepages = "on"
	NoHugepages   Hugepages = "off"
)

// OverloadMode is overload.mode: how far the sink goes when workers cannot keep up. Each mode
// includes those before it.
type OverloadMode string

// The values of overload.mode.
const (
	NeverDegrade    OverloadMode = "off"
	DegradeToStrip  OverloadMode = "strip"  // INT is removed; no flows, events and reports
	DegradeToPass   OverloadMode = "pass"   // packets leave as they came
	DegradeToBypass OverloadMode = "bypass" // the bypass switch leads traffic past the sink
)

// EventProfile is events.profile: which defaults thresholds have.
type EventProfile string

// The values of events.profile.
const (
	DataCenter EventProfile = "dc"
	WAN        EventProfile = "wan"
)

// TokenRole is http.token.role: what the bearer of a token may do.
type TokenRole string

// The values of http.token.role.
const (
	ReadRole  TokenRole = "read"
	WriteRole TokenRole = "write" // and read
)

// LogFormat is log.format: how lines of the log are written.
type LogFormat string

// The values of log.format.
const (
	AutoLog    LogFormat = "auto" // journal where systemd reads it, else text, or json of services
	TextLog    LogFormat = "text"
	JSONLog    LogFormat = "json"
	JournalLog LogFormat = "journal"
)

// LogLevel is log.level: lines below it are not written.
type LogLevel string

// The values of log.level.
const (
	DebugLog LogLevel = "debug"
	InfoLog  LogLevel = "info"
	WarnLog  LogLevel = "warn"
	ErrorLog LogLevel = "error"
)
