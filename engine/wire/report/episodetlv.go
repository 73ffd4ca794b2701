// Episode: writes and reads what happened in a queue from the onset of congestion to its end, as a TLV of domain
// extension data behind the Explanation of the report that ends it.

package report

import (
	"encoding/binary"
	"math"
	"net/netip"
)

// EpisodeTemplate is the TLV Data Template of Episode: "IE".
const EpisodeTemplate = 0x4945

// Episode is one episode of one queue: domain specific extension data in a TLV of InType 1.
//
//	| id 32 | node 32 | egress 16 | queue 8 | culprits 4 | victims 4 |
//	| begin 64 | end 64 | peak at 64 | packets 64 | bytes 64 |
//	| latency 32 | occupancy 32 | usual latency 32 | usual occupancy 32 |
//	| length of the window of the peak 64 | its packets 32 | its bytes 64 |
//
// then culprits, and behind them victims, each
//
//	| version 8 | protocol 8 | source port 16 | destination port 16 | doubt 8 | 0 8 | sum 64 | over 64 | source | destination |
//
// with addresses of 4 bytes where the version is 4, else of 16, and behind them, where they are not both 0,
//
//	| packets of flows without a record 64 | their bytes 64 |
//
// Times are Unix nanoseconds. Latencies and occupancies of 0 are not known. Each culprit bears the doubt of all; who does not know of it
// leaves it out.
type Episode struct {
	ID             uint32 // of the sink's episodes, from 1 on
	Node           uint32
	Egress         uint16 // all ones: not known
	Queue          uint8
	Begin, End     int64
	Packets, Bytes uint64 // that passed the queue meanwhile, without INT

	OtherPackets, OtherBytes uint64 // of those, of flows that the sink had no room to know

	Peak           EpisodePeak
	UsualLatency   uint32 // medians before the onset
	UsualOccupancy uint32
	Culprits       [MostFlows]EpisodeFlow // Sum is bytes in the queue
	Victims        [MostFlows]EpisodeFlow // Sum is how much longer their packets were in it than is usual, nanoseconds
	NumCulprits    int
	NumVictims     int
	Doubt          Doubt // of the culprits, if there are any
}

// Doubt is why the flows with the most bytes are not accused of filling the queue.
type Doubt uint8

// The doubts.
const (
	NoDoubt   Doubt = iota
	OneSource       // whoever sends packets makes up who waits
	FewBytes
	TooShort
	numDoubts
)

var doubts = [numDoubts]string{OneSource: "told by one source alone", FewBytes: "told by a few packets alone", TooShort: "over sooner than such a queue can drain"}

// String returns what answers say; "": there is none.
func (d Doubt) String() string {
	if d >= numDoubts {
		return "for a reason that this version does not know"
	}
	return doubts[d]
}

// EpisodePeak is when the queue was longest, and what passed it in the window of time around that.
type EpisodePeak struct {
	At                 int64
	Latency, Occupancy uint32
	Window             int64 // its length, nanoseconds
	Packets            uint32
	Bytes              uint64
}

// EpisodeFlow is a flow with its part in an episode: at most Sum, at least Sum - Over.
type EpisodeFlow struct {
	Source, Destination         netip.Addr // both of one version
	SourcePort, DestinationPort uint16
	Protocol                    uint8
	Sum, Over                   uint64
}

// MostFlows is how many culprits, and how many victims, an Episode has at most.
const MostFlows = 8

const (
	episodeHeadLen = 4 + 4 + 4 + 5*8 + 4*4 + 8 + 4 + 8
	episodeFlowLen = 8 + 8 + 8 // without addresses
	othersLen      = 8 + 8
	doubtAt        = 6 // in a flow

	// MaxEpisodeLen is the length of the longest Episode in bytes.
	MaxEpisodeLen = episodeHeadLen + 2*MostFlows*(episodeFlowLen+32) + othersLen
)

// Len returns how many bytes e takes.
func (e *Episode) Len() int {
	n := episodeHeadLen
	for i := range e.NumCulprits {
		n += e.Culprits[i].len()
	}
	for i := range e.NumVictims {
		n += e.Victims[i].len()
	}
	if e.hasOthers() {
		n += othersLen
	}
	return n
}

func (e *Episode) hasOthers() bool { return e.OtherPackets|e.OtherBytes != 0 }

func (f *EpisodeFlow) len() int {
	if f.Source.Is4() {
		return episodeFlowLen + 8
	}
	return episodeFlowLen + 32
}

// Shorten takes flows away, those named last first, until e has at most so many bytes. False: even without any it has more.
func (e *Episode) Shorten(most int) bool {
	for e.Len() > most {
		switch {
		case e.NumVictims > 0 && e.NumVictims >= e.NumCulprits:
			e.NumVictims--
		case e.NumCulprits > 0:
			e.NumCulprits--
		default:
			return false
		}
	}
	return true
}

// Append appends e to b.
func (e *Episode) Append(b []byte) []byte {
	be := binary.BigEndian
	b = be.AppendUint32(be.AppendUint32(b, e.ID), e.Node)
	b = append(be.AppendUint16(b, e.Egress), e.Queue, uint8(e.NumCulprits)<<4|uint8(e.NumVictims))
	for _, v := range [...]uint64{uint64(e.Begin), uint64(e.End), uint64(e.Peak.At), e.Packets, e.Bytes} {
		b = be.AppendUint64(b, v)
	}
	for _, v := range [...]uint32{e.Peak.Latency, e.Peak.Occupancy, e.UsualLatency, e.UsualOccupancy} {
		b = be.AppendUint32(b, v)
	}
	b = be.AppendUint64(b, uint64(e.Peak.Window))
	b = be.AppendUint64(be.AppendUint32(b, e.Peak.Packets), e.Peak.Bytes)
	for i := range e.NumCulprits {
		b = e.Culprits[i].append(b, e.Doubt)
	}
	for i := range e.NumVictims {
		b = e.Victims[i].append(b, NoDoubt)
	}
	if e.hasOthers() {
		b = be.AppendUint64(be.AppendUint64(b, e.OtherPackets), e.OtherBytes)
	}
	return b
}

func (f *EpisodeFlow) append(b []byte, why Doubt) []byte {
	be := binary.BigEndian
	version := byte(6)
	if f.Source.Is4() {
		version = 4
	}
	b = be.AppendUint16(append(b, version, f.Protocol), f.SourcePort)
	b = append(be.AppendUint16(b, f.DestinationPort), uint8(why), 0)
	b = be.AppendUint64(be.AppendUint64(b, f.Sum), f.Over)
	if version == 4 {
		s, d := f.Source.As4(), f.Destination.As4()
		return append(append(b, s[:]...), d[:]...)
	}
	s, d := f.Source.As16(), f.Destination.As16()
	return append(append(b, s[:]...), d[:]...)
}

// Get reads what Append wrote; false where b is something else.
func (e *Episode) Get(b []byte) bool {
	if len(b) < episodeHeadLen {
		return false
	}
	be := binary.BigEndian
	*e = Episode{
		ID: be.Uint32(b), Node: be.Uint32(b[4:]), Egress: be.Uint16(b[8:]), Queue: b[10], NumCulprits: int(b[11] >> 4), NumVictims: int(b[11] & 0xf),
		Begin: int64(be.Uint64(b[12:])), End: int64(be.Uint64(b[20:])), Packets: be.Uint64(b[36:]), Bytes: be.Uint64(b[44:]),
		UsualLatency: be.Uint32(b[60:]), UsualOccupancy: be.Uint32(b[64:]),
		Peak: EpisodePeak{int64(be.Uint64(b[28:])), be.Uint32(b[52:]), be.Uint32(b[56:]), int64(be.Uint64(b[68:])), be.Uint32(b[76:]), be.Uint64(b[80:])},
	}
	if e.NumCulprits > MostFlows || e.NumVictims > MostFlows || e.Begin < 0 || e.End < e.Begin || e.Peak.At < 0 || e.Peak.Window < 0 {
		return false
	}
	b = b[episodeHeadLen:]
	if e.NumCulprits > 0 && len(b) > doubtAt {
		e.Doubt = Doubt(b[doubtAt])
	}
	for _, of := range [...][]EpisodeFlow{e.Culprits[:e.NumCulprits], e.Victims[:e.NumVictims]} {
		for i := range of {
			n := of[i].get(b)
			if n == 0 {
				return false
			}
			b = b[n:]
		}
	}
	if len(b) == othersLen {
		e.OtherPackets, e.OtherBytes, b = be.Uint64(b), be.Uint64(b[8:]), b[othersLen:]
	}
	return len(b) == 0
}

// get reads a flow from the start of b, and returns how long it is; 0: there is none.
func (f *EpisodeFlow) get(b []byte) int {
	if len(b) < episodeFlowLen+8 || b[0] != 4 && (b[0] != 6 || len(b) < episodeFlowLen+32) {
		return 0
	}
	be := binary.BigEndian
	*f = EpisodeFlow{
		Protocol: b[1], SourcePort: be.Uint16(b[2:]), DestinationPort: be.Uint16(b[4:]), Sum: be.Uint64(b[8:]), Over: be.Uint64(b[16:]),
	}
	if f.Over > f.Sum || f.Sum > math.MaxInt64 {
		return 0
	}
	a := b[episodeFlowLen:]
	if b[0] == 4 {
		f.Source, f.Destination = netip.AddrFrom4([4]byte(a)), netip.AddrFrom4([4]byte(a[4:]))
	} else {
		f.Source, f.Destination = netip.AddrFrom16([16]byte(a)), netip.AddrFrom16([16]byte(a[16:]))
	}
	return f.len()
}
