//go:build cgo && !purego

// C: whether a packet gives an event: path, hop and link latencies, queues and interfaces
// against what the flow knows.

#ifndef INTSINK_FAST_COMPARE_H
#define INTSINK_FAST_COMPARE_H

#include "bytes.h"

// limits are what a flow of one watch must be, and how far a hop may be from what its flow
// knows, in the lanes of a hop.
struct limits {
	struct fast_policy *policy;
	uint32_t state, mask; // of fast_flow.bound
#ifdef FAST_AVX2
	__m128i add, limit; // what is added to a difference, and what that must not exceed
#endif
};

// same_hops tells whether nodes and interfaces are those of the current path, and each
// latency within the absolute deadband; sum are the latencies. Four bytes in front of a
// hop and behind one that is known are read: there is something.
static inline bool same_hops(const struct fast_flow *w, const struct fast_template *t, const struct limits *l, const uint8_t *f, uint64_t *sum)
{
	const uint8_t *hop = f + t->stack;
	const struct fast_hop *known = w->hops, *end = known + t->hops;
	uint32_t step = t->hop_len;
#ifdef FAST_AVX2
	const __m128i order = _mm_set_epi32((int)0x80808080, 0x0c0d0e0f, 0x0b0a0908, 0x07060504);
	__m128i worst = l->limit, all = _mm_setzero_si128();
	do {
		__m128i x = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(hop - 4)), order);
		hop += step;
		all = _mm_add_epi64(all, x);
		x = _mm_add_epi32(_mm_sub_epi32(x, _mm_loadu_si128((const __m128i *)known)), l->add);
		worst = _mm_max_epu32(worst, x);
	} while (++known < end);
	*sum = (uint64_t)_mm_extract_epi64(all, 1);
	worst = _mm_xor_si128(worst, l->limit);
	return _mm_testz_si128(worst, worst);
#else
	const struct fast_policy *p = l->policy;
	uint64_t all = 0;
	uint32_t bad = 0;
	do {
		uint32_t x = be32(hop + 8);
		bad |= (load32(hop) ^ known->node) | (load32(hop + 4) ^ known->interfaces) | (x - known->ref + p->absolute > p->twice);
		all += x;
		hop += step;
	} while (++known < end);
	*sum = all;
	return bad == 0;
#endif
}

// hot_bit is where a filter has a queue or an interface: the hop's node, its egress
// interface, and the queue's number.
static inline uint32_t hot_bit(const struct fast_view *b, const uint8_t *hop, uint8_t queue)
{
	uint64_t x = (load64(hop) & UINT64_C(0xffff0000ffffffff)) | (uint64_t)queue << 32;
	return (uint32_t)(x * b->key >> 52);
}

static inline bool is_hot(const uint64_t *filter, uint32_t bit)
{
	return filter[bit / 64] >> bit % 64 & 1;
}

static inline void set_hot(struct fast_view *b, uint64_t *filter, uint32_t bit)
{
	filter[bit / 64] |= UINT64_C(1) << bit % 64;
	b->hot = 1;
}

// no_episode_at tells whether a hop reaches no threshold, and none of its queue and interface
// is in an episode. One that reaches a threshold makes it known to the packets behind.
static inline bool no_episode_at(struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *hop)
{
	const uint32_t unknown = UINT32_MAX;
	uint32_t latency = be32(hop + 8), queue = unknown, tx = unknown;
	bool over_queue = latency >= p->latency && latency != unknown, over_tx = false;
	if (t->queue) {
		queue = be32(hop + t->queue);
		over_queue |= (queue & 0xffffff) >= p->raise && queue != unknown;
	}
	if (t->tx) {
		tx = be32(hop + t->tx);
		over_tx = tx >= p->tx && tx != unknown;
	}
	if (likely(!(over_queue | over_tx) && !b->hot))
		return true;
	uint32_t q = hot_bit(b, hop, (uint8_t)(queue >> 24)), i = hot_bit(b, hop, 0);
	if (over_queue)
		set_hot(b, b->queues, q);
	if (over_tx)
		set_hot(b, b->interfaces, i);
	return !is_hot(b->queues, q) && !is_hot(b->interfaces, i);
}

// below_thresholds tells whether no hop reaches a threshold: unknown values, all ones, are said to.
static inline bool below_thresholds(const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	const uint8_t *hop = f + t->stack, *end = hop + t->hops * t->hop_len;
	const uint32_t step = t->hop_len, queue = t->queue, tx = t->tx, latency = p->latency, raise = p->raise, most = p->tx;
	bool over = false;
	if (likely(queue && tx)) {
		for (; hop < end; hop += step)
			over |= (be32(hop + 8) >= latency) | ((be32(hop + queue) & 0xffffff) >= raise) | (be32(hop + tx) >= most);
		return !over;
	}
	for (; hop < end; hop += step)
		over |= (be32(hop + 8) >= latency) | (queue && (be32(hop + queue) & 0xffffff) >= raise) | (tx && be32(hop + tx) >= most);
	return !over;
}

static __attribute__((noinline)) bool no_episode(struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	const uint8_t *hop = f + t->stack;
	bool none = true;
	for (uint32_t i = 0; i < t->hops; i++, hop += t->hop_len)
		none &= no_episode_at(b, t, p, hop);
	return none;
}

// link_at is flows.Small.Get of event.Link, without making one.
static inline struct fast_link *link_at(const struct fast_view *b, uint64_t key0, uint64_t key1)
{
	unsigned __int128 p = (unsigned __int128)(key0 ^ b->links_key) * (b->links_prime2 ^ b->links_key);
	uint64_t k = key1 * b->links_key, h = (uint64_t)p ^ (uint64_t)(p >> 64) ^ (k << 32 | k >> 32);
	h = (h ^ h >> 29) * b->links_prime3;
	struct fast_link *e = (struct fast_link *)b->links + (h >> 20 & b->links_mask);
	for (int i = 0; i < 4; i++, e++)
		if (e->key[0] == key0 && e->key[1] == key1 && e->used)
			return e;
	return NULL;
}

// links_unchanged tells whether the latency of each link is within its deadband, and has been.
static bool links_unchanged(const struct fast_state *s, struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	if (!t->ingress || !t->egress)
		return true;
	const uint8_t *next = f + t->stack;
	bool none = true;
	for (uint32_t i = 1; i < t->hops; i++) {
		const uint8_t *hop = next + t->hop_len;
		uint64_t in = be64(next + t->ingress), out = be64(hop + t->egress);
		if (in != UINT64_MAX && out != UINT64_MAX) {
			struct fast_link *k = link_at(b, (uint64_t)be32(hop) << 32 | be16(hop + 6), (uint64_t)be32(next) << 32 | be16(next + 4));
			uint64_t ns = in - out;
			if (k == NULL || k->window || ns >= UINT32_MAX || k->ref == UINT32_MAX ||
			    (uint64_t)((int64_t)ns - (int64_t)k->ref + p->link_absolute) > 2 * (uint64_t)p->link_absolute) {
				if (k != NULL)
					k->window |= 0x80; // what is behind it in the burst waits for what becomes of this
				none = false;
			} else {
				k->last = (uint32_t)ns;
				k->tick = s->tick;
			}
		}
		next = hop;
	}
	return none;
}

// stamped is the time from the source to here; all ones where it cannot be told.
static inline uint64_t stamped(const struct fast_state *s, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	if (!t->ingress)
		return UINT64_MAX;
	uint64_t stamp = be64(f + t->stack + (uint32_t)(t->hops - 1) * t->hop_len + t->ingress);
	uint64_t ns = (uint64_t)(s->now + s->wall - p->clock_offset) - stamp;
	return stamp == UINT64_MAX || ns >= UINT32_MAX ? UINT64_MAX : ns;
}

// no_other_event is what no_event asks where more is watched than paths and hop latencies.
static __attribute__((noinline)) bool no_other_event(const struct fast_state *s, const struct fast_template *t, const struct fast_policy *p, const struct fast_flow *w, const uint8_t *f, uint64_t sum)
{
	struct fast_view *b = (struct fast_view *)s->view;
	if (p->ptp && (sum = stamped(s, t, p, f)) == UINT64_MAX)
		return false;
	if (sum - w->end_ref + p->end > p->end_twice)
		return false;
	return (!p->fabric || (likely(!b->hot) && likely(below_thresholds(t, p, f))) || no_episode(b, t, p, f)) && (!p->link || links_unchanged(s, b, t, p, f));
}

// no_event tells whether a packet gives no event.
static inline bool no_event(const struct fast_state *s, const struct fast_template *t, const struct limits *l, const struct fast_flow *w, const uint8_t *f)
{
	const struct fast_policy *p = l->policy;
	uint64_t sum;
	if (!same_hops(w, t, l, f, &sum))
		return false;
	if (unlikely(load32(&p->fabric)))
		return no_other_event(s, t, p, w, f, sum);
	return sum - w->end_ref + p->end <= p->end_twice;
}

#endif
