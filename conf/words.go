// Declares the attributes of block int that take one of a few words, each a type with its values as
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
