// State, shape and Template in Go as C reads them, outside of the Go heap: blocks of masked bytes,
// offsets of addresses, hops and their values, sums, edits, patches.

package fast

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"

	"intsink/dpdk/mbuf"
	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/flows"
)

// Sizes, as fast.h has them.
const (
	maxShapes    = 16
	maxTemplates = 64
	variants     = 512
	hints        = 1024
	kinds        = 16
	maxBlocks    = 10
	maxLengths   = 9
	maxSums      = 5
	maxEdits     = 5
	maxPatches   = 4
	maxWords     = 63 // of INT, for patches: 7 pieces and what is left

	// None is the number that stands for no template, noShape for no shape: no packet matches the
	// entries at these places.
	None    = maxTemplates
	noShape = maxShapes
)

// block is 32 bytes of a packet, as 16 numbers of the network's order: less the packet's
// length under length, they are under mask as in want.
type block struct{ want, mask, length [16]uint16 }

// shape is the headers up to INT; variant tells the first template for the length of INT and the
// bitmap.
type shape struct {
	need     uint32 // bytes of the first segment, for the comparison
	blocks   uint32 // of at and block
	lengthAt uint16 // the byte that has the length of INT
	at       [maxBlocks]uint16

	variantMask, variantBy uint64 // of the eight bytes from lengthAt on: the bits that count, and the factor that moves them to the top

	variant [variants]uint8
	block   [maxBlocks]block
	_       [528]byte
}

// length is a field whose value and base make the length of the packet.
type length struct{ at, base uint16 }

// sum is a checksum. What it becomes is itself, add and, under removed, the sum of what
// goes, all in the byte order of the packet (RFC 1071, section 2(B); RFC 1624, equation 3).
// A sum is never zero: with flip, its complement is summed up, and a sum of all ones is never
// written.
type sum struct {
	at      uint32
	always  uint32 // zero: a checksum of zero says that there is none (UDP), and stays
	flip    uint32 // all ones of 16 bits, or zero
	removed uint32 // all ones of 16 bits: covers what goes
	add     uint32 // with flip: of the complement
}

// edit changes another field of two bytes: it keeps the bits of keep, and sets those of value.
type edit struct{ at, keep, value uint16 }

// patch changes 32 bytes, as 16 numbers of the network's order: it subtracts minus from lengths,
// and flips bits of fields with a known value.
type patch struct{ minus, flip [16]uint16 }

// kind of a template.
const (
	isINT = iota
	isNotINT
)

// Template is a shape with one INT header: what is in a packet, where.
type Template struct {
	// What recognises it, and makes the key.
	need      uint32 // bytes of the first segment, for everything
	blocks    uint32 // of at and block, at least two
	at        [maxBlocks]uint16
	specialAt uint16 // UDP destination port that must not be one of State.special; else what is none of these
	kind      uint8
	plain     uint8 // not INT, and known by block 0 and the port alone
	version6  uint8 // of the key
	number    uint8 // its place in State.templates
	next      uint8 // template of the same shape and length, or None
	common    uint8 // its hops can be compared
	addresses uint16
	src, dst  uint16
	words     uint16 // of 32 bits that are removed

	keyRest, portsMask uint64

	// What compares its hops, and takes INT out.
	flagsAt    uint16 // of TCP
	flagsMask  uint8  // of those that are no common packet's, all compared
	queue, tx  uint8  // in a hop; 0: not there
	ingress    uint8
	egress     uint8
	l4UDP      uint8 // a checksum of zero stays
	stack      uint32
	hopLen     uint32
	hops       uint32
	start, end uint32 // of INT
	removed    uint32
	portFrom   uint32 // the original port, where one is restored; else two bytes that stay
	portTo     uint32
	portMask   uint32 // all ones of 16 bits where one is restored
	patches    uint16 // of patch; zero: packets of it are stripped one field after the other
	sumRemoved uint16
	ipSumAt    uint16
	l4SumAt    uint16 // zero where that checksum does not change
	ipSumAdd   uint32
	l4SumAdd   uint32            // with 1<<16 for each of words
	inFlow     uint64            // its hops where a flow has path_hops, in C only; else what no flow has
	shorten    uint64            // removed, for both lengths of an mbuf
	hopOrder   [32]uint8         // how to make numbers of the last 32 bytes of a hop
	hopWord    [8]uint32         // what they are: their places in event.FastPolicy.Most
	lanes      [16]uint8         // of the 16 bytes from 4 in front of a hop on: its node and interfaces as in flows.Hop, its latency as a number
	sumFrom    [2]uint64         // the second one is what the sum of latencies begins with: byQueue where queues alone may be over a threshold
	links      uint32            // bytes of all hops but one, where they have the times that links are measured by; else 0
	linkFrom   uint32            // what follows, after the last link: the node it leaves
	linkOut    uint32            // when that was
	linkIn     uint32            // when it reached the next node
	known      int32             // the bytes of as many flows.Hop as its hops, less than zero; 0: its hops are no 16 bytes each that can be read
	pieces     uint32            // whole pieces of 32 bytes among the removed ones
	last       [32]byte          // mask of the last 32 removed bytes: those in no whole piece
	patch      [maxPatches]patch // of bytes 0 to 31, of the 32 in front of INT, and so on to the front
	block      [maxBlocks]block

	// What is done to any packet, and compared where it stands in no block.length.
	checks  uint16 // length[:checks] are compared
	lengths uint16 // length[:lengths] are changed
	sums    uint16
	edits   uint16
	length  [maxLengths]length
	sum     [maxSums]sum
	edit    [maxEdits]edit

	// For the general path.
	sound      uint8  // 1: nothing is wrong with such packets, and they are to be forwarded; 2: if C finds their hops laid out so, too
	tells      uint8  // comparedAlone, tellsCrossed, tellsHops
	facts      uint8  // factsOf can tell them
	inside     uint8  // the flow is inside of a tunnel
	allHops    uint16 // hops, if they are compared by the general path only
	numberAt   uint16 // sequence number: the last bits of eight bytes that begin there
	numberBits uint8  // how many; 0: there is none
	dscpShift  uint8
	vlanAt     uint16 // of the outermost tag; 0: untagged
	dscpAt     uint16 // two bytes that have it; 0: it is dscp
	ecnAt      uint16 // two bytes of the outermost IP header that have the ECN field, above ecnShift bits
	ecnShift   uint8
	dscp       uint8
	narrow     uint8 // links have timestamps that are not of 64 bits, or IFA has them
	latency    uint8 // in a hop; 0: not there
	byBuffer   uint8 // queue is where the buffer stands
	path       uint8 // flows.Flow.PathHops of flows that are on the path of such packets
	marked     uint8 // a queue has marked such packets (ECN: CE), and inFlow is what no flow has
	types      Types // what it adds to State.Types

	// IFA: hops of another layout, and two parts that go.
	ifa          uint8
	ifaPieces    uint8  // of 32 bytes, between the two parts
	ifaPatches   uint16 // of patch
	ifaSecond    uint16 // where the second part begins
	ifaStack     uint16 // where the hops stand
	ifaLen       uint16 // bytes of one
	ifaLast      uint16 // where the last one stands
	ifaWord      uint16 // which word of a hop lanes have in place of its second
	ifaKnown     int32  // bytes of as many flows.Hop as its hops but one
	ifaName      uint32 // what is at ifaLNS in all hops
	ifaLongest   uint64 // residence time that can be
	ifaNode      bitsAt
	ifaIngress   bitsAt
	ifaEgress    bitsAt
	ifaLatency   bitsAt
	ifaQueue     bitsAt
	ifaOccupancy bitsAt
	ifaLNS       bitsAt
	ifaTTL       bitsAt
	ifaNever     bitsAt    // is zero in all hops
	ifaLanes     [16]uint8 // as lanes, of the 16 bytes that a hop begins with; bits that are the same in all stand in lane 0, too
	ifaMask      [16]uint8 // of lanes
	ifaAdd       [4]uint32 // makes lane 0 the node alone
	ifaFalls     [16]uint8 // mask of the TTL in the bytes that a hop begins with
}

// bitsAt are bits of a hop: four bytes from at on as a number, less its last bits, under mask.
type bitsAt struct {
	at, shift uint16
	mask      uint32
}

// guess is the template that C compares a packet with first: of[0], where its byte at has the
// value, else of[1]. They are None before the first packet.
type guess struct {
	at, value uint8
	of        [2]uint8
}

// kindMask is what hints are made of: of the 16 bytes from a packet's EtherType on, those that some
// shape with such an EtherType compares.
type kindMask struct{ mask [2]uint64 }

// State is what one worker knows, and the burst at hand. It is outside the Go heap; C
// reads and writes it by its address.
type State struct {
	special uint64 // four UDP ports behind which there may be INT or a tunnel, as loads find them
	shapes  uint32 // in use
	_       uint32
	index   flows.Index
	view    *event.FastView

	vec        *mbuf.Vec
	n          uint32
	generation uint32
	policies   uint32 // how many watches there are
	tick       uint32
	refresh    uint32
	strip      uint8 // packets that are passed lose their INT
	watched    uint8 // there are watches: flows are looked up
	look       uint8 // one packet is not passed, whatever it is (Burst.Look)
	keep       uint8 // no packet is passed at once: keepAll, askAll
	now        int64
	wall       int64  // what now lacks to be the wall clock's
	factsKey   uint64 // of the hash of facts, odd
	asks       uint32 // facts that watches ask for
	linkNumber uint32 // of the link that the burst came by, from 1 on
	Types      Types  // packets that were passed
	numbered   uint64 // not zero: a template has a sequence number

	// What was found: At[:ints] are places in the burst, everything below is by those.
	ints     uint32
	deferred uint32
	Unknown  uint64 // bit j: nothing is known of packet At[j]
	Missing  uint64 // bit j: its flow was not found
	Tallied  uint64 // bit j: it is passed, and was added to tallies of queues on its way; if it has a flow, to those of all that are full: with event.FastView.Records it keeps its INT
	Samples  uint64 // bit j: it is passed, but a sample, or meets an episode: it keeps its INT
	Met      uint64 // bit j: of those, one that crosses a queue that may be in an episode
	Kept     uint64 // bit j: it is passed, but keeps its INT, since a rule of mitigation may select it, or a queue has marked it
	flowless uint64 // bit j: it is passed without a flow, since there is no room for one

	At         [mbuf.MaxBurst]uint8
	Template   [mbuf.MaxBurst]uint8
	deferredAt [mbuf.MaxBurst]uint8
	Hashes     [mbuf.MaxBurst]uint64
	Flows      [mbuf.MaxBurst]*flows.Flow
	Keys       [mbuf.MaxBurst]flows.Key
	FullHops   [mbuf.MaxBurst]uint64 // of those in Met: event.FullHops
	Records    [mbuf.MaxBurst]uint32 // of those in Tallied: the number of the record, of several the last
	draws      uint32
	_          uint32
	drawn      [episode.MaxDrawn]episode.Drawn

	hintKey   uint64        // key of the hash of hints; odd
	hints     [hints]uint32 // four shapes, a byte each: the one found last is the lowest
	guesses   [hints]guess  // which template packets with such a hint have
	kinds     [kinds]kindMask
	ofKind    [kinds]uint32 // shapes with such EtherTypes, a bit each
	shape     [maxShapes + 1]shape
	templates [maxTemplates + 1]Template
}

// newState maps a State: zero, and never given back. A worker makes one at start.
func newState() *State {
	b, err := syscall.Mmap(-1, 0, int(unsafe.Sizeof(State{})), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("fast: no memory for %d bytes: %v", unsafe.Sizeof(State{}), err)) // at start only
	}
	s := (*State)(unsafe.Pointer(&b[0])) // SAFETY: page aligned and large enough
	s.shape[noShape].need, s.templates[None].need = math.MaxUint32, math.MaxUint32
	s.templates[None].inFlow = noHops << pathHops
	s.forgetHints()
	return s
}
