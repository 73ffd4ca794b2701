//go:build cgo

// C: declares every struct that C and Go share (template, state, flow, mbuf). TestLayout compares
// their fields with those of Go, by name.

#ifndef INTSINK_FAST_H
#define INTSINK_FAST_H

#include <stddef.h>
#include <stdint.h>

enum {
	FAST_BURST = 64,      // packets
	FAST_MOST_HOPS = 16,  // flows.MaxHops
	FAST_SHAPES = 16,     // shapes of headers that are known at once
	FAST_TEMPLATES = 64,  // of all shapes
	FAST_VARIANTS = 512,  // lengths of INT of one shape, modulo 16 words, with bits of the bitmap
	FAST_BLOCKS = 10,     // of 32 bytes that are compared
	FAST_LENGTHS = 9,     // fields
	FAST_SUMS = 5,        // checksums
	FAST_EDITS = 5,       // other fields
	FAST_PATCHES = 4,     // of 32 bytes in front of INT
	FAST_POLICIES = 256,  // watches
	FAST_HOT_SHIFT = 18,  // of a hash, to the bit of a queue or an interface
	FAST_LINK_HINTS = 4096,
	FAST_RECORDS = 64,        // episode.MaxOpen
	FAST_RECORD_PLACES = 512, // of a hash of queues
	FAST_BUSY = 64,       // event.BusyRuns
	FAST_SHARES = 2,          // flows.MaxShares
	FAST_LIMIT_SHIFT = 16, // usual.LimitShift
	FAST_FULLER = 2,       // usual.Fuller
	FAST_NONE = FAST_TEMPLATES, // no template: its place has one that no packet matches
	FAST_NO_SHAPE = FAST_SHAPES, // no shape: likewise
	FAST_HINTS = 1024,
	FAST_KINDS = 16,      // of EtherTypes, for hints
	FAST_MAX_FRAME = 65535,
	FAST_TICK_SHIFT = 20,    // flows.Tick
	FAST_REFRESH_SHIFT = 18, // flows.RefreshShift
};

// rte_mbuf, as far as it is used here (dpdk/mbuf).
struct fast_mbuf {
	uint8_t *buf_addr;
	uint64_t buf_iova;
	uint16_t data_off, refcnt, nb_segs, port;
	uint64_t ol_flags;
	uint32_t packet_type, pkt_len;
	uint16_t data_len, vlan_tci;
};

// 32 bytes of a packet, as 16 numbers of the network's order: less the packet's length under
// length, they are under mask as in want.
struct fast_block {
	uint16_t want[16], mask[16], length[16];
};

// The headers up to INT. variant tells the first template for the length of INT and for its
// bitmap: by the upper bits of variant_by times those of variant_mask in the eight bytes from
// length_at on.
struct fast_shape {
	uint32_t need;      // bytes of the first segment, for the comparison
	uint32_t blocks;    // of at and block
	uint16_t length_at; // the byte that has the length of INT
	uint16_t at[FAST_BLOCKS];
	uint64_t variant_mask, variant_by;
	uint8_t variant[FAST_VARIANTS];
	struct fast_block block[FAST_BLOCKS];
	uint8_t pad[528]; // 2048 bytes: a place among others is cheap to compute
};

// The template that a packet is compared with first: of[0], where its byte at has the value, else of[1]. They are
// FAST_NONE before the first packet, and FAST_MANY where two are not enough.
struct fast_guess {
	uint8_t at, value, of[2];
};

enum { FAST_MANY = 0xff };

// What hints are made of: of the 16 bytes from a packet's EtherType on, those that some shape
// with such an EtherType compares.
struct fast_kind {
	uint64_t mask[2];
};

// A length field. Its value, big endian, and base make the length of the packet.
struct fast_length {
	uint16_t at, base;
};

// A checksum. What it becomes is itself, add and, under removed, the sum of what goes, all
// in the byte order of the packet (RFC 1071, section 2(B); RFC 1624, equation 3). A sum is
// never zero: with flip, its complement is summed up, and a sum of all ones is never written.
struct fast_sum {
	uint32_t at;
	uint32_t always;  // zero: a checksum of zero says that there is none (UDP), and stays
	uint32_t flip;    // all ones of 16 bits, or zero
	uint32_t removed; // all ones of 16 bits: covers what goes
	uint32_t add;     // with flip: of the complement
};

// Another field of two bytes: it keeps some bits and takes others.
struct fast_edit {
	uint16_t at, keep, value;
};

// What becomes of 32 bytes, as 16 numbers of the network's order: lengths lose minus, fields
// whose value is known change the bits of flip.
struct fast_patch {
	uint16_t minus[16], flip[16];
};

enum { FAST_INT, FAST_NOT_INT };

// Bits of a hop: four bytes from at on as a number, less its last bits, under mask. mask is zero where there is no such value.
struct fast_bits {
	uint16_t at, shift;
	uint32_t mask;
};

// A shape with one INT header: what is in a packet, where.
struct fast_template {
	// What recognises it, and makes the key.
	uint32_t need;            // bytes of the first segment, for everything
	uint32_t blocks;          // of at and block, at least two
	uint16_t at[FAST_BLOCKS];
	uint16_t special_at;      // UDP destination port that must not be one of special; else what is none of these
	uint8_t kind;
	uint8_t plain;            // not INT, and known by block 0 and the port alone
	uint8_t version6;         // of the key
	uint8_t number;           // its place in fast_state.templates
	uint8_t next;             // template of the same shape and length, or FAST_NONE
	uint8_t common;           // its hops can be compared; else hops is no number of hops
	uint16_t addresses, src, dst;
	uint16_t words;           // of 32 bits that are removed
	uint64_t key_rest, ports_mask;
	// What compares its hops, and takes INT out.
	uint16_t flags_at;        // of TCP
	uint8_t flags_mask;       // of those that are no common packet's, all compared
	uint8_t queue, tx, ingress, egress; // in a hop; 0: not there
	uint8_t l4_udp;           // a checksum of zero stays
	uint32_t stack, hop_len, hops;
	uint32_t start, end, removed; // of INT
	uint32_t port_from, port_to;  // the original port, where one is restored; else two bytes that stay
	uint32_t port_mask;           // all ones of 16 bits where one is restored
	uint16_t patches;             // of patch; zero: packets of it are for strip_any
	uint16_t sum_removed;
	uint16_t ip_sum_at, l4_sum_at; // l4_sum_at is zero where that checksum does not change
	uint32_t ip_sum_add;           // one more than what it grows by
	uint32_t l4_sum_add;           // what it grows by apart from the removed bytes, and 1 << 16 for each of words
	uint64_t in_flow;              // its hops where a flow has path_hops, from fast_flow.bound on; else what no flow has
	uint64_t shorten;              // removed, for pkt_len and for data_len
	// What the last 32 bytes of each hop are, word by word: how to make a number of it, and
	// its place in fast_policy.most. A hop may be longer by what is never compared.
	uint8_t hop_order[32];
	uint32_t hop_word[8];
	uint8_t lanes[16];    // of the 16 bytes from 4 in front of a hop on: its node and interfaces as in fast_hop, its latency as a number
	uint64_t sum_from[2]; // the second one is what the sum of latencies begins with: FAST_BY_QUEUE where queues alone may be over a threshold
	uint32_t links;   // bytes of all hops but one, where they have the times that links are measured by; else 0
	uint32_t link_from, link_out, link_in; // what follows these of the last link: the node it leaves, and when; when it reaches the next
	int32_t known;    // of as many fast_hop as its hops, the bytes, less than zero; 0: its hops are no 16 bytes each that can be read
	uint32_t pieces;  // whole pieces of 32 bytes among the removed ones
	uint8_t last[32]; // mask of the last 32 removed bytes: those in no whole piece
	struct fast_patch patch[FAST_PATCHES]; // of bytes 0 to 31, of the 32 in front of INT, and so on to the front
	struct fast_block block[FAST_BLOCKS];
	// What strip_any does, and fast_match knows by length of block.
	uint16_t checks, lengths; // length[:checks] are compared, length[:lengths] are changed
	uint16_t sums, edits;
	struct fast_length length[FAST_LENGTHS];
	struct fast_sum sum[FAST_SUMS];
	struct fast_edit edit[FAST_EDITS];
	// For the general path.
	uint8_t sound;      // 1: nothing is wrong with such packets, and they are to be forwarded; 2: if laid_out says so, too
	uint8_t tells;      // FAST_ALONE, FAST_TELLS, FAST_HOPS
	uint8_t facts;      // facts_of can tell them
	uint8_t inside;     // the flow is inside of a tunnel
	uint16_t all_hops;  // hops, if they are compared by the general path only
	uint16_t number_at; // sequence number: the last bits of eight bytes that begin there
	uint8_t number_bits; // how many; 0: there is none
	uint8_t dscp_shift;
	uint16_t vlan_at, dscp_at; // of the outermost tag, 0: untagged; two bytes that have the DSCP, 0: it is dscp
	uint16_t ecn_at;     // two bytes of the outermost IP header that have the ECN field, above ecn_shift bits
	uint8_t ecn_shift;
	uint8_t dscp;
	uint8_t narrow; // links have timestamps that are not of 64 bits, or IFA has them
	uint8_t latency; // in a hop; 0: not there
	uint8_t by_buffer; // queue is where the buffer stands: INT says nothing of the queue
	uint8_t path;    // path_hops of flows that are on the path of such packets
	uint8_t marked;  // a queue has marked such packets (ECN: CE), and in_flow is what no flow has
	uint64_t types;  // what it adds to fast_state.types
	// IFA: hops of another layout, which translated makes hops of, and two parts that go.
	uint8_t ifa;
	uint8_t ifa_pieces;   // of 32 bytes, between the two parts
	uint16_t ifa_patches; // of patch
	uint16_t ifa_second;  // where the second part begins
	uint16_t ifa_stack, ifa_len; // where the hops stand, and the bytes of one
	uint16_t ifa_last, ifa_word; // where the last hop stands; which word of a hop lanes have in place of its second
	int32_t ifa_known;           // bytes of as many fast_hop as its hops but one
	uint32_t ifa_name;           // what is at ifa_lns in all hops
	uint64_t ifa_longest;        // residence time that can be
	struct fast_bits ifa_node, ifa_ingress, ifa_egress, ifa_latency, ifa_queue, ifa_occupancy;
	struct fast_bits ifa_lns, ifa_ttl, ifa_never; // what tells whether hops are laid out so: see laid_out
	uint8_t ifa_lanes[16]; // as lanes, of the 16 bytes that a hop begins with; bits that are the same in all stand in lane 0, too
	uint8_t ifa_mask[16];  // of lanes
	uint32_t ifa_add[4];   // makes lane 0 the node alone
	uint8_t ifa_falls[16]; // mask of the TTL in the bytes that a hop begins with
};

// Flags of a path, beside the number of its hops (flows.Flow.PathHops).
enum { FAST_NODES_ALONE = 0x40, FAST_NO_LATENCY = 0x80 };

// FAST_IFA is set in fast_template.in_flow of packets with IFA and in no flow: the loops for INT alone end there.
#define FAST_IFA (UINT64_C(0x20) << 48)

// FAST_BY_QUEUE is above any sum of latencies that is compared.
#define FAST_BY_QUEUE (UINT64_C(1) << 40)

// flows.Loss: the sequence numbers of a flow.
struct fast_loss {
	uint64_t top, seen[16];
	struct {
		uint64_t first;
		uint32_t length, missing;
		int64_t at;
	} holes[16];
	int64_t num_holes, sent;
	uint32_t pending, reported;
	uint8_t listed, anew;
};

// flows.Cold, as far as it is used here, with flows.Share: what the packets of a flow in one episode came to since its record took them.
struct fast_share {
	uint32_t record, packets;
	uint64_t bytes, added, taken;
};
struct fast_again {
	uint32_t epoch; // fast_view.epoch, when the flow's last packet was tallied in one queue
	uint8_t hop, place, share, watch;
	uint64_t path;
	uint8_t queues[FAST_MOST_HOPS]; // of all hops, in the order of the packet
};
struct fast_cold {
	struct fast_share shares[FAST_SHARES];
	struct fast_again again;
	uint64_t marked;
};

// Flags of a flow, in fast_flow.bound.
#define FAST_UNSETTLED (UINT32_C(0x01) << 24)
#define FAST_HAS_COLD (UINT32_C(0x02) << 24)
#define FAST_HAS_LOSS (UINT32_C(0x04) << 24)
#define FAST_END_KNOWN (UINT32_C(0x08) << 24)
#define FAST_HELD (UINT32_C(0x40) << 24) // an earlier packet of the burst was deferred
#define FAST_SUSPECT (UINT32_C(0x80) << 24) // a rule of mitigation may select its packets

enum { FAST_NO_WATCH = 255 }; // in place of a watch, of a flow that none selects

// flows.Key, flows.Hop, flows.Flow and a bucket of the flow table.
struct fast_key {
	uint64_t ports_proto, addrs[4];
};
struct fast_hop {
	uint32_t node, interfaces, ref;
};
struct fast_flow {
	struct fast_key key;
	uint32_t bound; // generation of the rules, watch, flags
	uint8_t num_paths, num_hops, path_hops, end_window;
	uint32_t next_refresh, facts, last_report, last_events;
	int64_t seen;
	uint32_t packets, bytes, path_seen, end_ref;
	struct fast_hop hops[16];
	uint64_t path_hash;
	uint8_t windows[16];
	struct fast_cold *cold;
	struct fast_loss *loss;
};

struct fast_bucket {
	uint32_t flows[8];
	uint16_t tags[8];
	uint8_t pad[16];
};

// flows.Index: how a key is hashed, and where flows stand.
struct fast_index {
	uint64_t keys[3], more[3];
	uint64_t mask; // of a hash: bytes behind buckets
	uint64_t buckets, flows;
	uint64_t alternate; // what tells the other bucket of a flow
};

// event.FastBand: a value may be so far from its reference; k of the last values are news.
struct fast_band {
	double relative;
	uint32_t absolute;
	uint8_t k, last, pad[2];
};

// event.FastPolicy: what is asked of a packet of one watch that is to be passed over.
struct fast_policy {
	uint8_t flags, mask;
	uint8_t by_flow;      // samples are all packets of some flows
	uint8_t alone;        // of links and interfaces it asks nothing, and all nodes have the units of thresholds
	uint8_t fabric, link; // queues or interfaces are watched; links are
	uint8_t ptp;          // the source's timestamp makes the end-to-end latency
	uint8_t by_latency;   // some known latency is above most[0]: it reaches its threshold, or overflows in nanoseconds
	uint32_t absolute, twice;
	uint64_t end, end_twice;
	int64_t clock_offset;
	uint32_t sample_left, sample_every; // packets to the next sample, and on average from one to the next
	uint32_t raise, latency, tx;
	uint32_t refresh; // the sign bit, where refreshes are watched
	uint32_t link_absolute;
	uint32_t most[4]; // the highest values that reach no threshold, as nodes write them: latency, occupancy, utilization, others
	uint32_t unit; // of latency, where all nodes have the same
	uint64_t most_together; // the highest sum of latencies whose differences from references cannot wrap in 32 bits
	struct fast_band hops, end_to_end;
	uint8_t loss;                      // sequence numbers are watched
	uint8_t watches_hops, watches_end; // for their latency
	uint8_t in_go;                     // not even the general path knows what these packets say
	uint32_t factor;                   // times what is usual in a queue; latency is the floor then. 0: raise and latency are thresholds
	uint64_t random; // of the gaps between samples
};

// event.fastModel: the units of latency and occupancy that a node has.
struct fast_model {
	uint32_t node, latency, queue, buffer;
	uint32_t full; // the utilization of an interface that is full; 0: utilization is compared as it is
	uint32_t used;
};

enum { FAST_HOT_QUEUES = 1, FAST_HOT_INTERFACES = 2 }; // fast_view.hot

// usual.Limit: the 99th percentiles of a queue's latency and occupancy; 0: not known.
struct fast_limit {
	uint32_t latency, occupancy, owner, pad;
};

// flows.SmallIndex: how links are hashed, and where they stand.
struct fast_small_index {
	uint64_t entries, mask, key, prime2, prime3;
	uint32_t none, pad;
};

// episode.Tally: what packets of one worker came to in one queue whose episode is recorded, since the record took them. Those of flows count
// while goes is set, as long as left is not zero, until a time, for one watch, and with values in two intervals.
struct fast_sums {
	uint64_t ecn[4], bytes, added, told, occupancies;
	uint32_t latency, occupancy; // the highest
};
struct fast_interval {
	uint32_t least, span;
};
struct fast_tally {
	uint64_t queue[2];
	uint32_t id, usual;
	struct fast_sums own, others; // of packets that have a flow, and of those for which there was no room
	int64_t first;                // packets that are all in the sample yet
	uint32_t dice, pad;
	int64_t until;
	uint64_t left;
	struct fast_interval latencies, occupancies;
	uint32_t last_latency, last_occupancy;
	uint8_t goes, watch, pad2[6];
	uint64_t was_bytes, was_added; // of the record, when sums began, which own.bytes and own.added count on from
};

// episode.tallies: those of all records that are open, and where they stand by a hash of their queues: in places, plus one.
struct fast_tallies {
	uint64_t counted, others, held; // bits: those that have packets of flows; other packets; those whose next packets of flows are Go's, until it has looked at the burst
	uint8_t places[FAST_RECORD_PLACES];
	struct fast_tally of[FAST_RECORDS];
};

// episode.Drawn: a packet that a record has to take at once, for its sample, for the share of its flow, or both.
struct fast_drawn {
	uint32_t latency, bytes;
	uint8_t place, packet, weight, share; // of the tally; for how many packets it stands in the sample, 0: it is not in it
};

// fast_drawn.share: the place of the flow's share that its record takes, or that the flow has none of it, or keeps what it has.
enum { FAST_NO_SHARE = FAST_SHARES, FAST_KEEPS_SHARE };

// event.busyRun: an interface that stays busy until a time, for packets with a load in an interval.
struct fast_busy {
	uint64_t interface_key;
	int64_t until, seen;
	uint32_t least, span, last;
	uint8_t goes, pad[3];
};

// event.FastView: the policies, and which queues and interfaces may be in an episode.
struct fast_view {
	uint64_t key;  // of the filters' hash, odd
	uint64_t hot;  // which filters have a bit set
	uint64_t more; // some watch asks for more than paths and latencies of hops, or nodes have a unit of latency
	struct fast_small_index links;
	uint32_t link_at[FAST_LINK_HINTS]; // offset in links where a link with such a hash was last found
	struct fast_policy policies[FAST_POLICIES];
	uint64_t models; // 0: no node has a model of its own
	uint32_t model_shift, model_mask;
	struct fast_model others;
	uint64_t limits, limits_key; // struct fast_limit of usual.Limits
	uint64_t full;    // of the packet at hand, what full_hops tells, where below_usual has asked it; else 0
	uint64_t tallies; // struct fast_tallies
	uint64_t records; // 1: packets that are tallied keep their INT: the flight recorder has room for them
	uint64_t epoch;   // how often queues has changed, from 1 on
	uint64_t crosses; // 1: by all that was compared it gives no event but for a queue that may be in an episode
	uint64_t busied;  // bits of busy: last and seen are new
	struct fast_busy busy[FAST_BUSY];
	uint64_t queues[1 << (FAST_HOT_SHIFT - 6)], interfaces[1 << (FAST_HOT_SHIFT - 6)];
};

// flows.smallEntry of event.Link.
struct fast_link {
	uint8_t used, pad[3];
	uint32_t tick;
	uint64_t key[2];
	uint32_t ref, last;
	uint8_t window, pad2[3];
	uint32_t skews;
	uint64_t least, span; // a latency from least to least + span needs no test
};

// fast_template.tells of full queues on the way: no_event compares all there is but links; hops and IP header have all that a
// tally has; they have it once those of IFA are translated; goes_again may ask them: they name queues, and tell how full these are.
enum { FAST_ALONE = 1, FAST_TELLS = 2, FAST_HOPS = 4, FAST_AGAIN = 8 };

// Why packets are not passed at once.
enum { FAST_KEEP = 1, FAST_ASK = 2 };

// Facts beyond the key of a flow that some watch asks for: fast_state.asks.
enum { FAST_ASKS_VLAN = 1, FAST_ASKS_DSCP = 2, FAST_ASKS_LAYER = 4, FAST_ASKS_DEVICE = 8, FAST_ASKS_LINK = 16 };

// What one worker knows, and the burst at hand.
struct fast_state {
	// How packets are recognised.
	uint64_t special; // four UDP ports behind which there may be INT or a tunnel, as loads find them
	uint32_t shapes;  // in use
	uint32_t pad;
	struct fast_index index;
	uint64_t view; // struct fast_view

	// What there is to be known of the burst.
	uint64_t vec; // its packets
	uint32_t n;
	uint32_t generation, policies; // of the rules; how many watches there are
	uint32_t tick, refresh;
	uint8_t strip;     // packets that are passed lose their INT
	uint8_t watched;   // there are watches: flows are looked up
	uint8_t look;      // 0, or one packet is not passed, whatever it is: the first of a known flow from packet (look - 1) modulo ints on
	uint8_t keep;      // no packet is passed, or each by the general path: FAST_KEEP, FAST_ASK
	int64_t now;
	int64_t wall;      // what now lacks to be the wall clock's
	uint64_t facts_key; // of the hash of facts, odd
	uint32_t asks;     // facts that watches ask for
	uint32_t link_number; // of the link that the burst came by, from 1 on
	uint64_t types;    // packets that were passed: of INT-MX; with IFA, times 1 << 21; marked, times 1 << 42
	uint64_t numbered; // not zero: a template has a sequence number

	// What was found: at[:ints] are places in vec, everything below is by those.
	uint32_t ints;
	uint32_t deferred; // of deferred_at
	uint64_t unknown;  // bit j: nothing is known of it
	uint64_t missing;  // bit j: its flow was not found
	uint64_t tallied;  // bit j: it is passed, and was added to tallies of queues on its way; if it has a flow, to those of all that are full: with fast_view.records it keeps its INT
	uint64_t samples;  // bit j: it is passed, but a sample, or meets an episode: it keeps its INT
	uint64_t met;      // bit j: of those, one that crosses a queue that may be in an episode
	uint64_t kept;     // bit j: it is passed, but keeps its INT, since a rule of mitigation may select it, or a queue has marked it
	uint64_t flowless; // bit j: it is passed without a flow, since there is no room for one
	uint8_t at[FAST_BURST];
	uint8_t template[FAST_BURST];
	uint8_t deferred_at[FAST_BURST];
	uint64_t hashes[FAST_BURST];
	struct fast_flow *flows[FAST_BURST];
	struct fast_key keys[FAST_BURST];
	uint64_t full_hops[FAST_BURST]; // of those in met: bit i: hop i has a queue that may be in an episode, or is over a threshold
	uint32_t records[FAST_BURST];   // of those in tallied: the number of the record, of several the last
	uint32_t draws, pad3;           // of drawn
	struct fast_drawn drawn[FAST_BURST * FAST_MOST_HOPS];

	uint64_t hint_key;          // key of the hash of hints; odd
	uint32_t hints[FAST_HINTS]; // four shapes, a byte each: the one found last is the lowest
	struct fast_guess guesses[FAST_HINTS]; // which template packets with such a hint have
	struct fast_kind kinds[FAST_KINDS];
	uint32_t of_kind[FAST_KINDS]; // shapes with such EtherTypes, a bit each
	struct fast_shape shape[FAST_SHAPES + 1];
	struct fast_template templates[FAST_TEMPLATES + 1];
};

// FAST_PATH_HOPS is a flow's path_hops in eight bytes from its bound on.
#define FAST_PATH_HOPS (UINT64_C(0xff) << 48)
_Static_assert(offsetof(struct fast_flow, path_hops) == offsetof(struct fast_flow, bound) + 6, "FAST_PATH_HOPS");

// A queue of a port, as mbuf.CQueue has it.
struct fast_queue {
	uint64_t queue;
	uint16_t (*receive)(uint64_t queue, struct fast_mbuf **vec);
	uint16_t (*transmit)(uint64_t queue, struct fast_mbuf **vec, uint16_t n);
};

// A link, and its packets on their way to the host that Go has not seen.
struct fast_link_ends {
	struct fast_queue network, host;
	uint64_t received, forwarded;
	uint64_t with_int, types; // with INT; by what they are, as in fast_state
	uint64_t state;    // struct fast_state that has its templates
	uint64_t plain;    // all ones: packets without INT are for Go, too; or zero
};

enum { FAST_LINKS = 64, FAST_BURST_SIZES = 8 };

// Why fast_poll returned.
enum {
	FAST_PAUSE, // all bursts have left: at a time that Go has asked for, after a long gap, or after many empty polls
	FAST_DUE,   // the burst of link at is as received: Go wants to see it
	FAST_BEGUN, // fast_receive was called with it, and has left something to do
	FAST_SENT,  // it was transmitted, not all of it or there is one from the host
};

// The loop of a worker: what it polls, until when, and what came of it.
struct fast_loop {
	uint64_t announced; // address of a number that other workers change: when it is not synced, Go is to look
	uint64_t vec, back; // for bursts from the network, and from the host
	int64_t clock;      // to add to CLOCK_MONOTONIC to get the clock of Go
	uint32_t links;     // in use
	uint32_t at;        // link that is polled next

	// What ends a call.
	uint64_t synced;
	int64_t time;       // no later than this
	int64_t long_gap;   // after such a gap
	int64_t due, due_at;   // INT packets, or time, until a burst is Go's
	int64_t look, look_at; // INT packets and time until one of a known flow is Go's
	uint8_t look_from;     // state.look then
	uint64_t most_empty;   // polls in a row that find nothing

	// Why it ended; the burst at hand.
	uint32_t reason;
	uint32_t n, transmitted, received; // packets of the burst, of it, and of the one from the host
	uint32_t empty;             // polls in a row, so far, that found nothing
	uint32_t done;              // bursts that were done with in this call

	// Times: of the last burst; of this poll's first, 0 without one; of the last poll.
	int64_t now, began, last;

	// Counts of what Go has not seen.
	int64_t longest, busy_ns; // gap between two polls; all behind polls that found packets
	uint64_t polls[2];        // that found nothing, that found packets
	uint64_t bursts[FAST_BURST_SIZES], packets;
	struct fast_link_ends link[FAST_LINKS];
};

void fast_poll(struct fast_loop *l);
void fast_match(struct fast_state *s);
void fast_lookup(struct fast_state *s);
void fast_pass(struct fast_state *s);
void fast_strip(struct fast_state *s, uint64_t which);
uint32_t fast_strip_frame(const struct fast_template *t, uint8_t *frame, uint32_t len, uint32_t pkt_len);
void fast_receive(struct fast_state *s);

#endif
