// Declares Config: every block and attribute of the sink's configuration as typed structs;
// Dump, and without secrets.

package conf

import (
	"math/bits"
	"net/netip"
	"slices"
	"strings"
	"time"

	"intsink/conf/schema"
)

// Config is the whole configuration, defaults filled in and validated.
// It is never changed after Load returned it; any goroutine may read it.
type Config struct {
	Node       Node
	DPDK       DPDK
	Ports      []Port
	Links      []Link
	Taps       []Tap
	INT        INT
	NodeModels []NodeModel
	Names      Names
	Flows      Flows
	Recorder   Recorder
	Watches    []Watch
	Events     Events
	Report     Report
	Collectors []Collector
	Overload   Overload
	Bypass     Bypass
	HTTP       HTTP
	Notify     []Notify
	Log        Log
}

// Overload says when workers that cannot keep up do less with packets.
type Overload struct {
	Mode       OverloadMode  // how far
	Busy       float64       // share of a worker's time behind polls that found packets; 0: not looked at
	PollGap    time.Duration // time between two polls; 0: not looked at
	FullBursts float64       // share of polls that found a full burst, so that more waited; 0: not looked at
	Enter      time.Duration // how long a value is above its limit before the next step
	Clear      time.Duration // how long all are far below before the step back
}

// Bypass is a switch that takes packets around the sink.
type Bypass struct {
	Command   []string      // run with "bypass", "inline" or "heartbeat" behind it; empty: there is no switch
	Heartbeat time.Duration // how often "heartbeat" is run while all workers poll; 0: never
	After     time.Duration // without a poll of some worker, "bypass" is run
	Timeout   time.Duration // that a command may take
}

// Node identifies the sink in its reports (Telemetry Report 2.0, group header).
type Node struct {
	ID       uint32
	HwIDBase uint8 // worker w reports as hw_id HwIDBase+w, 6 bits
}

// DPDK says what EAL starts with.
type DPDK struct {
	Lcores    []int         // one worker per lcore, in order
	Hugepages Hugepages     // "auto" | "on" | "off"
	Mbufs     int           // mbufs in the packet pool
	MbufSize  int           // bytes of a frame that one mbuf holds
	IdleSleep time.Duration // how long an idle worker sleeps between polls; 0: it polls without pause
	Telemetry bool          // DPDK's own telemetry, on a socket of its runtime directory
	EALArgs   []string
}

// Port is a NIC of DPDK by its PCI address, a vdev of DPDK, or a kernel interface.
type Port struct {
	Name   string
	Device string
	ID     uint16 // interface id in the sink's own report metadata; default: place in the file, from 1
	RxDesc uint16 // power of two, 64..4096
	TxDesc uint16
	MTU    uint16 // 0: leave the driver's
}

// Link joins a network side, where INT arrives, and a host side.
type Link struct {
	Name, Network, Host string
	Mitigation          bool // rules of mitigation may drop packets on their way to the host
	INT                 *INT // in place of Config.INT; nil: that
}

// Mitigation tells whether some link has it.
func (c *Config) Mitigation() bool {
	return slices.ContainsFunc(c.Links, func(l Link) bool { return l.Mitigation })
}

// InLink tells whether a link has the port.
func (c *Config) InLink(port string) bool {
	return slices.ContainsFunc(c.Links, func(l Link) bool { return l.Network == port || l.Host == port })
}

// Tap is a port that is only watched; what it receives is freed.
type Tap struct {
	Name, Port string
	INT        *INT // in place of Config.INT; nil: that
}

// LinkNames returns the names of links, then of taps, in the order of the workers' indices.
func (c *Config) LinkNames() (names []string) {
	for _, l := range c.Links {
		names = append(names, l.Name)
	}
	for _, t := range c.Taps {
		names = append(names, t.Name)
	}
	return names
}

// INTs are all blocks int: that of the whole file, then those of links and taps.
func (c *Config) INTs() []*INT {
	all := []*INT{&c.INT}
	for i := range c.Links {
		if own := c.Links[i].INT; own != nil {
			all = append(all, own)
		}
	}
	for i := range c.Taps {
		if own := c.Taps[i].INT; own != nil {
			all = append(all, own)
		}
	}
	return all
}

// INT says which packets carry INT. A nil pointer means: not configured.
type INT struct {
	UDPPort     *uint16
	DSCP        []DSCP
	TCPOptions  TCPOptions // "after" | "before": where INT stands relative to the TCP options
	ProbeMarker *uint64
	ProbePorts  []PortRange // limits the probe marker to these TCP/UDP destination ports; empty: all
	GREProtocol *uint16
	VXLANGPE    *VXLANGPE
	Geneve      *Geneve
	Formats                     // telemetry that is not INT
	Versions    []string        // subset of "2", "1", "0"
	INT1Dialect INT1Dialect     // "standard" | "geant": how INT 1.0 is written
	Types       []string        // subset of "md", "mx", "destination"
	ShimLength  ShimLength      // "exclusive" | "inclusive": whether Length of a 2.x shim counts the shim
	Checksum    ChecksumPolicy  // "update" | "keep": the TCP or UDP checksum in front of INT
	Malformed   MalformedPolicy // "forward" | "drop"
	Leak        LeakPolicy      // "forward" | "strip" | "drop": INT from the host side
	LeakMark    MarkPolicy      // "clear" | "drop" | "forward": its mark without INT from there
	Verify      int             // one INT packet in so many has its checksums verified; 0: none
	Layer       LayerPolicy     // "all" | "outer": INT inside of tunnels is the sink's, or others'
	Fragments   FragmentPolicy  // "pass" | "strip"
	Match       *INTMatch       // which packets may carry INT; nil: all
	Domains     []Domain
}

// INTMatch says which packets may carry INT, by their outermost headers; an empty list takes all.
type INTMatch struct {
	VLAN   []PortRange
	Prefix []netip.Prefix // of source or destination
}

// DSCP marks INT when (dscp & Mask) == Value & Mask.
type DSCP struct {
	Value, Mask uint8
	Restore     *uint8 // what the packet leaves with where its shim carries no DSCP; nil: without the bits of Mask
}

// marks reports whether a packet with that DSCP is taken for INT.
func (d *DSCP) marks(dscp uint8) bool { return dscp&d.Mask == d.Value&d.Mask }

// VXLANGPE marks INT in VXLAN-GPE: the UDP destination port, and the next
// protocol that says INT.
type VXLANGPE struct {
	Port         uint16
	NextProtocol uint8
}

// Geneve marks INT in Geneve: the UDP destination port, and the option class.
type Geneve struct {
	Port        uint16
	OptionClass uint16
}

// Domain is the layout of domain specific metadata (INT 2.1, DS Instruction).
type Domain struct {
	Name         string
	ID           uint16
	Instructions []Instruction
}

// Instruction is one bit of DS Instruction and the metadata that it asks for.
type Instruction struct {
	Name   string
	Bit    uint8  // 0 = most significant of DS Instruction
	Length uint16 // bytes, multiple of 4
	Scope  Scope  // "hop" | "source-only" | "source-inserted"
	Role   Role   // "" | "opaque" | "device_id" | "sequence"
}

// Flows sizes the flow tables.
type Flows struct {
	Capacity    int // per worker, at least
	IdleTimeout time.Duration
	Key         FlowKey // "own" | "inner"
}

// Recorder sizes the flight recorder.
type Recorder struct {
	Memory int64 // bytes of each worker; 0: it is off
}

// Places is how many flows the table of a worker has room for: the next power of two.
func (f *Flows) Places() int { return 1 << bits.Len(uint(max(f.Capacity, 16)-1)) }

// Watch selects flows and says what is reported of them; first match wins.
type Watch struct {
	Name       string
	Match      *Match // nil: everything
	Events     []string
	Sample     uint32   // one packet in Sample; 0: none
	SampleBy   SampleBy // "packet" | "flow"
	Collectors []string
	Override   *Events // events with events_override applied; nil: none
}

// Match selects flows: every list that is not empty must have an entry that
// fits.
type Match struct {
	Source, Destination         []netip.Prefix
	Protocol                    []uint8
	SourcePort, DestinationPort []PortRange
	Flow                        Layer // "any" | "outer" | "inner": which headers the lists above are about
	VLAN                        []PortRange
	DSCP                        []uint8
	VNI                         []VNIRange
	Device                      []uint64
	Link, Port                  []string // names: by which packets arrive
}

// PortRange is a range of ports, or of VLAN ids.
type PortRange = schema.Range[uint16]

// VNIRange is a range of VXLAN or Geneve network identifiers.
type VNIRange = schema.Range[uint32]

// Deadband is the test of a latency event (EVENTS.md, hop_latency).
type Deadband struct {
	Clock    Clock // end_to_end only: "none" | "ptp"
	Absolute time.Duration
	Relative float64
	K, N     int
	Interval time.Duration

	ClockOffset time.Duration // end_to_end only: subtracted from the difference of the clocks, may be negative
}

// Events holds every threshold; defaults depend on Profile.
type Events struct {
	Profile EventProfile
	NewFlow struct {
		Rate         int
		AfterRestart time.Duration // none is reported for so long
	}
	PathChange    PathChange
	HopLatency    Deadband
	EndToEnd      Deadband
	LinkLatency   Deadband
	Congestion    Congestion
	TxUtilization struct {
		Raise, Clear uint32
		Hold         time.Duration
	}
	Refresh struct {
		Every  time.Duration
		Jitter float64
		Most   time.Duration
	}
	Loss struct {
		Window            int
		Timeout, Interval time.Duration
	}
	Drop        struct{ Interval time.Duration }
	HopLimit    struct{ Rearm time.Duration }
	MTUExceeded struct{ Rearm time.Duration }
}

// PathChange holds the thresholds of path_change.
type PathChange struct {
	Paths  int
	Memory time.Duration
	Rate   int
	ECMP   ECMP // "ignore" | "report"
}

// Congestion holds the thresholds of congestion; Raise and Clear are queue
// occupancies as the wire carries them, or in the unit of the node's model.
type Congestion struct {
	Raise, Clear uint32        // Raise may be AutoRaise
	Factor       uint32        // with AutoRaise: so many times what is usual in a queue begins an episode
	RaiseLatency time.Duration // with AutoRaise: the least latency that does
	Quota        int
	Timeout      time.Duration
}

// Report says what a report holds.
type Report struct {
	Version  ReportVersion // "2.0" | "1.0" | "0.5"
	Layout   ReportLayout  // "standard" | "2018", of version 1.0
	Profile  ReportProfile // "" | "transparent-security", of version 2.0
	Metadata []string      // subset, in this order, of: interfaces hop_latency queue ingress_timestamp egress_timestamp ...
	Fragment int           // bytes of the original packet, INT included; 0: none (InType 0); WholeINT
	IPv6     int           // the same of IPv6 packets; 0: as of others
	Inner    Inner         // "ip" (InType 4/5) | "ethernet" (InType 3)
	Explain  bool          // totals and counts of reports without a packet of their own go into a TLV
	Domain   uint16        // Domain Specific ID of all reports; 0: that of the packet
	Coalesce Coalesce
}

// WholeINT in place of Report.Fragment: headers, all INT and the L4 header behind it.
const WholeINT = -1

// LeastFragment is what a fragment of WholeINT has at least.
const LeastFragment = 128

// fragment is how many bytes of a packet have to fit a report.
func (r *Report) fragment() int {
	if r.Fragment == WholeINT {
		return max(LeastFragment, r.IPv6)
	}
	return max(r.Fragment, r.IPv6)
}

// Coalesces tells whether reports of this version can share a packet.
func (r *Report) Coalesces() bool { return r.Version == Report20 }

// Coalesce says when a report packet is full or old enough to be sent.
type Coalesce struct {
	MaxBytes   int // the whole frame, Ethernet header to end
	MaxReports int // 0: as many as fit
	MaxDelay   time.Duration
}

// Collector is where report packets go, and from where.
type Collector struct {
	Name           string
	Address        netip.AddrPort // resolved
	Host           string         // name that Address was resolved from; "": the file has an address
	Source         netip.Addr     // zero value: the kernel chooses
	SourcePort     uint16
	SourcePortMode SourcePortMode // "any": the kernel chooses | "fixed": SourcePort, 0 included, is on the wire | "hash": of the flow
	DSCP, TTL      uint8          // of report packets; TTL is the hop limit of IPv6, too
	Port           string         // the DPDK port that reports leave by; "": the kernel sends them
	VLAN           uint16         // with Port: 802.1Q VLAN id; 0: no tag
	Gateway        netip.Addr     // with Port: whose MAC address is asked for; with GatewayMAC, and without Port, the zero Addr
	GatewayMAC     [6]byte        // with Port: zero: unknown
	Budget         Budget

	unresolved *unresolved // until resolveCollectors has run
}

// Budget limits what one collector is sent per second; 0: no limit.
type Budget struct {
	Packets, Bits uint64
	Reports       uint64
	Burst         time.Duration
}

// Notify is an HTTP server that is told what begins and ends to be wrong.
type Notify struct {
	Name    string
	URL     string        // may be a secret
	Timeout time.Duration // of one request
}

// Log is how a running sink writes its log, to stderr.
type Log struct {
	Format LogFormat
	Level  LogLevel
}

// HTTP is the endpoint for metrics, health, the API and the page.
type HTTP struct {
	Listen string // "" = off
	Socket string // path of the unix socket; "auto": see SocketPath; "" = off
	Pprof  string // address of Go's profiles, apart from the rest; "" = off
	TLS    *TLS   // on Listen; nil: none
	Tokens []Token
	Hosts  []string // names of this machine that clients may ask by over TCP without TLS

	LocalReads bool // requests from this machine over TCP may read without a token
}

// TLS names PEM files. Whoever has the key of a client certificate that an authority in
// ClientCA issued may write.
type TLS struct{ Certificate, Key, ClientCA string }

// Token gives a role to whoever sends its secret over TCP.
type Token struct {
	Name   string
	SHA256 string // of the secret, 64 hexadecimal digits
	Role   TokenRole
}

// Dump is the configuration as HCL, every attribute written out: Parse of it
// gives an equal Config. Host names of collectors come out as the addresses that
// they were resolved to.
func (c *Config) Dump() []byte {
	return schema.Dump(func(v schema.Visitor) { visitConfig(v, c) })
}

// hidden takes the place of a secret value in what readers get.
const hidden = "hidden"

// DumpWithoutSecrets is Dump for people who may read but not write: it leaves out the hashes of
// tokens, since they would allow to try guesses, and the addresses of notify, which who has them can write to.
func (c *Config) DumpWithoutSecrets() []byte {
	shown := *c
	shown.HTTP.Tokens = slices.Clone(c.HTTP.Tokens)
	for i := range shown.HTTP.Tokens {
		shown.HTTP.Tokens[i].SHA256 = hidden
	}
	shown.Notify = slices.Clone(c.Notify)
	for i := range shown.Notify {
		shown.Notify[i].URL = hidden
	}
	return shown.Dump()
}

// secret reports whether the attribute at path is kept from readers.
func secret(path string) bool {
	return strings.HasPrefix(path, `http.token "`) && strings.HasSuffix(path, `".sha256`) ||
		strings.HasPrefix(path, `notify "`) && strings.HasSuffix(path, `".url`)
}
