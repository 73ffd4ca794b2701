//go:build cgo

// C: what a packet adds to the episodes that are recorded of queues on its way: episode.Tally and its parts.

#ifndef INTSINK_FAST_TALLY_H
#define INTSINK_FAST_TALLY_H

#include "bytes.h"

// latency_of is the latency of a hop as its node writes it; all ones where it is not told.
static inline uint32_t latency_of(const struct fast_template *t, const uint8_t *hop)
{
	return t->latency ? be32(hop + t->latency) : UINT32_MAX;
}

// queue_of is the number of a hop's queue; all ones where it is not told.
static inline uint32_t queue_of(const struct fast_template *t, const uint8_t *hop)
{
	return t->queue ? hop[t->queue] : 0xff;
}

// ecn_of is the ECN field of a packet.
static inline uint8_t ecn_of(const struct fast_template *t, const uint8_t *f)
{
	return be16(f + t->ecn_at) >> t->ecn_shift & 3;
}

// crossed is what a packet says of a queue on its way.
struct crossed {
	uint64_t key[2];
	uint32_t latency, occupancy, bytes; // all ones: not told; of the packet without INT
	uint8_t ecn;
};

// name_queue has c be of the queue that a hop tells, as event.Detector.readQueue reads it. It returns false, and does nothing, where the hop
// does not tell which queue it is.
static inline bool name_queue(const struct fast_template *t, const uint8_t *hop, struct crossed *c)
{
	const uint32_t node = be32(hop), egress = t->path & FAST_NODES_ALONE ? 0 : be16(hop + 6) ^ 0xffff;
	if (node == UINT32_MAX || (!egress && !(t->path & FAST_NODES_ALONE)))
		return false;
	c->key[0] = (uint64_t)node << 32 | (egress ^ 0xffff);
	c->key[1] = queue_of(t, hop);
	return true;
}

// tell_values has c be what a hop says of its queue, where nodes have no units of their own.
static inline void tell_values(const struct fast_template *t, const uint8_t *hop, struct crossed *c)
{
	const uint32_t unknown = 0xffffff, occupancy = t->queue ? be32(hop + t->queue) & unknown : unknown;
	c->latency = latency_of(t, hop);
	c->occupancy = occupancy == unknown ? UINT32_MAX : occupancy;
}

// tell_hop is both.
static inline bool tell_hop(const struct fast_template *t, const uint8_t *hop, struct crossed *c)
{
	if (!name_queue(t, hop, c))
		return false;
	tell_values(t, hop, c);
	return true;
}

// place_of is which tally is that of a queue; FAST_RECORDS: no record of it is open. Most places are empty (episode.places).
static inline uint32_t place_of(const struct fast_tallies *a, const uint64_t *key)
{
	for (uint64_t at = (key[0] ^ key[1] << 16) * UINT64_C(0x9e3779b97f4a7c15) >> 55;; at++) {
		const uint32_t n = a->places[at % FAST_RECORD_PLACES];
		if (!n)
			return FAST_RECORDS;
		if (a->of[n - 1].queue[0] == key[0] && a->of[n - 1].queue[1] == key[1])
			return n - 1;
	}
}

// has is episode.Interval.Has.
static inline bool has(const struct fast_interval *i, uint32_t x)
{
	return x - i->least <= i->span;
}

// goes_on is episode.Tally.Takes, for so many packets.
static inline bool goes_on(const struct fast_tally *q, const struct crossed *c, uint8_t watch, int64_t now, uint32_t packets)
{
	return q->goes && q->watch == watch && now < q->until && q->left >= packets && has(&q->latencies, c->latency) && has(&q->occupancies, c->occupancy);
}

// add is episode.sums.add; it returns by how much the packet was longer in the queue than is usual.
static inline uint64_t add(struct fast_sums *s, const struct crossed *c, uint32_t usual)
{
	const uint32_t unknown = UINT32_MAX;
	const uint64_t added = c->latency > usual && c->latency != unknown ? c->latency - usual : 0;
	s->ecn[c->ecn]++;
	s->bytes += c->bytes;
	s->added += added;
	if (c->latency > s->latency && c->latency != unknown)
		s->latency = c->latency;
	if (c->occupancy != unknown) {
		s->told++;
		s->occupancies += c->occupancy;
		if (c->occupancy > s->occupancy)
			s->occupancy = c->occupancy;
	}
	return added;
}

// pick is episode.picker.pick.
static inline uint32_t pick(struct fast_tally *q)
{
	const int64_t first = --q->first;
	if (unlikely(first >= 0))
		return 1;
	const uint32_t weight = first >= -8192 ? 8 : 64;
	q->dice = q->dice * 1664525 + 1013904223;
	return (uint64_t)q->dice * weight < UINT64_C(1) << 32 ? weight : 0;
}

// draw has the record of a tally take packet j at once.
static __attribute__((noinline)) void draw(struct fast_state *s, uint32_t latency, uint32_t bytes, uint32_t place, uint32_t j, uint32_t weight, uint32_t share)
{
	s->drawn[s->draws++] = (struct fast_drawn){
		.latency = latency, .bytes = bytes, .place = (uint8_t)place, .packet = (uint8_t)j, .weight = (uint8_t)weight, .share = (uint8_t)share};
}

// share_of is which share a flow has of a record, or FAST_NO_SHARE.
static inline uint32_t share_of(const struct fast_flow *w, uint32_t record)
{
	if (!(w->bound & FAST_HAS_COLD))
		return FAST_NO_SHARE;
	const struct fast_share *shares = w->cold->shares;
	return shares[0].record == record ? 0 : shares[1].record == record ? 1 : FAST_NO_SHARE;
}

// kept adds a packet to a share of its flow, and tells which of them the record has to take: episode.Tally.count.
static inline uint32_t kept(const struct fast_tally *q, const struct fast_flow *w, uint32_t at, uint32_t bytes, uint64_t added)
{
	if (at == FAST_NO_SHARE)
		return at;
	struct fast_share *share = &w->cold->shares[at];
	share->packets++;
	share->bytes += bytes;
	share->added += added;
	const uint64_t most_bytes = q->own.bytes >> 10, most_added = q->own.added >> 10; // episode.Unshared
	return share->packets >= share->taken || share->bytes > most_bytes || share->added > most_added ? at : FAST_KEEPS_SHARE;
}

// tally adds packet j, of a flow with such a share, to q, the tally of a queue.
static inline void tally(struct fast_state *s, struct fast_tallies *a, struct fast_tally *q, uint32_t place, uint32_t share, const struct crossed *c, uint32_t j)
{
	in_register(q);
	const uint64_t added = add(&q->own, c, q->usual);
	a->counted |= UINT64_C(1) << place;
	q->left--;
	q->last_latency = c->latency;
	q->last_occupancy = c->occupancy;
	const uint32_t weight = pick(q), taken = kept(q, s->flows[j], share, c->bytes, added);
	if (unlikely(weight || taken != FAST_KEEPS_SHARE))
		draw(s, c->latency, c->bytes, place, j, weight, taken);
	s->tallied |= UINT64_C(1) << j;
}

#endif
