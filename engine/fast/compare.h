//go:build cgo

// C: whether a packet gives an event: path, hop and link latencies, queues and interfaces
// against what the flow knows.

#ifndef INTSINK_FAST_COMPARE_H
#define INTSINK_FAST_COMPARE_H

#include "tally.h"

// limits hold, for one watch, the state that a flow must have, and how far each value of a hop
// may be from the flow's, in the lanes of a hop.
struct limits {
	struct fast_policy *policy;
	uint64_t state, mask; // of fast_flow.bound and what follows, less fast_template.in_flow
#ifdef FAST_AVX2
	__m128i add, limit; // a difference plus add must not exceed limit
	__m128i unit;       // of latency, where all nodes have the same
#endif
};

// interfaces_of are both interfaces of a hop, as a load finds them; 0 where it has none: the hash of a path and
// fast_hop have the same.
static inline uint32_t interfaces_of(const struct fast_template *t, const uint8_t *hop)
{
	return t->path & FAST_NODES_ALONE ? 0 : load32(hop + 4);
}

// values are those of a packet's hops. latency is the sum of their latencies. reach is zero if no
// value reaches its threshold; unknown values (all ones) count as reaching it.
struct values {
	uint64_t latency;
#ifdef FAST_AVX2
	__m256i reach;
#else
	bool reach;
#endif
};

// reaches_latency is for hops so long that their latency is not among the last 32 bytes, the words of values.reach.
static __attribute__((noinline)) bool reaches_latency(const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	const uint8_t *hop = f + t->stack;
	bool reach = false;
	for (uint32_t i = 0; t->latency && i < t->all_hops; i++, hop += t->hop_len)
		reach |= be32(hop + t->latency) > p->most[0];
	return reach;
}

static inline bool reaches(const struct values *v)
{
#ifdef FAST_AVX2
	return !_mm256_testz_si256(v->reach, v->reach);
#else
	return v->reach;
#endif
}

// within is event.Within.
static inline bool within(uint32_t x, uint32_t ref, uint32_t absolute)
{
	return (x > ref ? x - ref : ref - x) <= absolute;
}

// same_hops tells whether nodes and interfaces are those of the current path, and each
// latency within the absolute deadband; v is what it has seen on the way, with v->reach only
// where more is set. Read are 16 bytes from four in front of a hop on, which a template needs, four behind
// one that is known, and with more 32 in front of a hop's end.
static inline __attribute__((always_inline)) bool same_hops(const struct fast_flow *w, const struct fast_template *t, const struct limits *l, const uint8_t *f, const bool more, struct values *v)
{
	const uint8_t *hop = f + t->stack;
	const struct fast_policy *p = l->policy;
	uint32_t step = t->hop_len;
#ifdef FAST_AVX2
	int64_t at = t->known; // up to 0: the cheapest end of a loop
	const uint8_t *end = (const uint8_t *)w->hops - at;
	const __m128i order = _mm_loadu_si128((const __m128i *)t->lanes);
	__m128i worst = l->limit, all = _mm_loadu_si128((const __m128i *)t->sum_from);
	__m256i most, words, highest;
	if (more) {
		words = _mm256_loadu_si256((const __m256i *)t->hop_order);
		most = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p->most));
		highest = most = _mm256_permutevar8x32_epi32(most, _mm256_loadu_si256((const __m256i *)t->hop_word));
	}
	do {
		__m128i x = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(hop - 4)), order);
		hop += step;
		if (more)
			x = _mm_mullo_epi32(x, l->unit);
		all = _mm_add_epi64(all, x);
		x = _mm_add_epi32(_mm_sub_epi32(x, _mm_loadu_si128((const __m128i *)(end + at))), l->add);
		worst = _mm_max_epu32(worst, x);
		in_vector(worst);
		if (more) {
			highest = _mm256_max_epu32(highest, _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)(hop - 32)), words));
			in_vector(highest);
		}
		at += sizeof w->hops[0];
	} while (at < 0);
	v->latency = (uint64_t)_mm_extract_epi64(all, 1);
	if (more)
		v->reach = _mm256_xor_si256(highest, most);
	worst = _mm_xor_si128(worst, l->limit);
	return _mm_testz_si128(worst, worst);
#else
	const struct fast_hop *known = w->hops, *end = known + t->all_hops;
	uint64_t all = t->sum_from[1];
	uint32_t bad = 0;
	bool reach = false;
	do {
		uint32_t x = t->latency ? be32(hop + t->latency) : 0;
		reach |= more && ((t->queue && (be32(hop + t->queue) & 0xffffff) > p->most[1]) || (t->tx && be32(hop + t->tx) > p->most[2]) || x > p->most[0]);
		if (more)
			x *= p->unit;
		bad |= (load32(hop) ^ known->node) | (interfaces_of(t, hop) ^ known->interfaces) | (t->latency && !within(x, known->ref, p->absolute));
		all += x;
		hop += step;
	} while (++known < end);
	v->latency = all;
	v->reach = reach;
	return bad == 0;
#endif
}

// under_mask is a value of a hop of IFA, zero where it has none; bits_of is all ones then.
static inline uint32_t under_mask(const struct fast_bits *b, const uint8_t *hop)
{
	return (be32(hop + b->at) >> b->shift) & b->mask;
}

static inline uint32_t bits_of(const struct fast_bits *b, const uint8_t *hop)
{
	return b->mask ? under_mask(b, hop) : UINT32_MAX;
}

// laid_out tells whether the hops of a packet with IFA are laid out as those that its template was made of: ifa.Layout.fits
// for Broadcom's, else the same LNS.
static __attribute__((noinline)) bool laid_out(const struct fast_template *t, const uint8_t *f)
{
	const uint8_t *hop = f + t->ifa_stack;
	uint32_t other = 0, before = 0;
	for (uint32_t i = 0; i < t->all_hops; i++, hop += t->ifa_len) {
		const uint32_t ttl = under_mask(&t->ifa_ttl, hop);
		other |= (under_mask(&t->ifa_lns, hop) ^ t->ifa_name) | under_mask(&t->ifa_never, hop) | (ttl < before);
		before = ttl;
	}
	return !other;
}

// hops_of_ifa are hops of IFA as those of INT: node, interfaces, latency and queue. Packets with IFA have fast_template.stack
// from before on, and what reads a hop may read some bytes in front of it.
struct hops_of_ifa {
	uint8_t before[32], hops[16 * 16];
};

static inline void store32(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof v);
}

// translate is ifa.Values.Put for each hop, and tells whether a latency cannot be, or hops are laid out in another way.
static __attribute__((noinline)) bool translate(const struct fast_template *t, const uint8_t *f, struct hops_of_ifa *out)
{
	const uint8_t *hop = f + t->ifa_stack;
	uint8_t *to = out->hops;
	bool odd = !laid_out(t, f);
	memset(out->before, 0, sizeof out->before);
	for (uint32_t i = 0; i < t->all_hops && i < 16; i++, hop += t->ifa_len, to += 16) {
		const uint32_t latency = bits_of(&t->ifa_latency, hop), occupancy = bits_of(&t->ifa_occupancy, hop);
		odd |= latency > t->ifa_longest;
		store32(to, bits_of(&t->ifa_node, hop));
		store32(to + 4, bits_of(&t->ifa_ingress, hop) << 16 | bits_of(&t->ifa_egress, hop));
		store32(to + 8, latency);
		store32(to + 12, bits_of(&t->ifa_queue, hop) << 24 | (occupancy < 0xffffff ? occupancy : t->ifa_occupancy.mask ? 0xfffffe : 0xffffff));
	}
	return odd;
}

// egress_of is the node of a hop with its egress interface, 65535 where it has none, in the places that they have in
// the first eight bytes of a hop, as a load finds them.
static inline uint64_t egress_of(const struct fast_template *t, const uint8_t *hop)
{
	return t->path & FAST_NODES_ALONE ? load32(hop) | UINT64_C(0xffff) << 48 : load64(hop) & UINT64_C(0xffff0000ffffffff);
}

// hot_interface is where a filter has the egress interface of a hop, hot_queue one of its
// queues.
static inline uint32_t hot_interface(const struct fast_view *b, const struct fast_template *t, const uint8_t *hop)
{
	return (uint32_t)(egress_of(t, hop) * b->key >> (64 - FAST_HOT_SHIFT));
}

static inline uint32_t hot_queue(uint32_t interface, uint32_t queue)
{
	return (interface + queue * 1237) % (1 << FAST_HOT_SHIFT);
}

static inline uint64_t in_filter(const uint64_t *filter, uint32_t bit)
{
	return filter[bit / 64] >> bit % 64 & 1;
}

static inline void set_hot(struct fast_view *b, uint64_t *filter, uint32_t bit, uint64_t which)
{
	b->epoch += !in_filter(filter, bit);
	filter[bit / 64] |= UINT64_C(1) << bit % 64;
	b->hot |= which;
}

// limit_of is where usual.Limits has the queue of a hop.
static inline const struct fast_limit *limit_of(const struct fast_view *b, const struct fast_template *t, const uint8_t *hop)
{
	uint32_t at = (uint32_t)(egress_of(t, hop) * b->limits_key >> (64 - FAST_LIMIT_SHIFT)) + queue_of(t, hop) * 1237;
	return (const struct fast_limit *)b->limits + at % (1 << FAST_LIMIT_SHIFT);
}

// scaled is a known value in the unit of its node, cut to what is not all ones.
static inline uint32_t scaled(uint32_t x, uint32_t unit)
{
	uint64_t v = (uint64_t)x * unit;
	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX - 1;
}

// model_of is event.FastView.Units.
static inline const struct fast_model *model_of(const struct fast_view *b, uint32_t node)
{
	const struct fast_model *all = (const struct fast_model *)b->models;
	if (likely(all == NULL))
		return &b->others;
	for (uint32_t i = node * UINT32_C(0x9e3779b1) >> b->model_shift; all[i].used; i = (i + 1) & b->model_mask)
		if (all[i].node == node)
			return &all[i];
	return &b->others;
}

// times multiplies, up to the highest known value.
static inline uint32_t times(uint32_t x, uint32_t factor)
{
	uint64_t v = (uint64_t)x * factor;
	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX - 1;
}

// is_fuller tells whether a hop's queue is fuller than usual, or not known to be as usual: event.inForce.full.
static inline bool is_fuller(const struct fast_template *t, const struct fast_model *m, const uint8_t *hop, const struct fast_limit *usual)
{
	const uint32_t unknown_occupancy = 0xffffff, occupancy = t->queue ? be32(hop + t->queue) & unknown_occupancy : unknown_occupancy;
	return occupancy == unknown_occupancy || scaled(occupancy, t->by_buffer ? m->buffer : m->queue) >= times(__atomic_load_n(&usual->occupancy, __ATOMIC_RELAXED), FAST_FULLER);
}

// is_over tells whether a hop's queue is over a threshold of p: event.inForce.over. Unknown values, all ones,
// reach none.
static inline bool is_over(const struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *hop)
{
	const uint32_t unknown = UINT32_MAX, unknown_occupancy = 0xffffff, factor = p->factor;
	const struct fast_model *m = model_of(b, be32(hop));
	const uint32_t latency = latency_of(t, hop);
	const struct fast_limit *usual = NULL;
	if (latency != unknown) {
		uint32_t x = scaled(latency, m->latency);
		if (factor && x < p->latency) // the floor: most hops need no look at what is usual
			return false;
		usual = factor ? limit_of(b, t, hop) : NULL;
		if (x >= p->latency && x >= (factor ? times(__atomic_load_n(&usual->latency, __ATOMIC_RELAXED), factor) : 0))
			return !factor || is_fuller(t, m, hop, usual);
	} else if (factor) {
		usual = limit_of(b, t, hop);
	}
	if (!t->queue)
		return false;
	const uint32_t occupancy = be32(hop + t->queue) & unknown_occupancy;
	uint32_t raise = factor ? times(__atomic_load_n(&usual->occupancy, __ATOMIC_RELAXED), factor) : p->raise;
	return occupancy != unknown_occupancy && raise != 0 && scaled(occupancy, t->by_buffer ? m->buffer : m->queue) >= raise;
}

// utilization is event.NodeModel.Utilization.
static inline uint32_t utilization(uint32_t x, const struct fast_model *m)
{
	uint64_t v = m->full ? (uint64_t)x * 100 / m->full : x;
	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX - 1;
}

// mark_thresholds makes queues and interfaces that reach a threshold known to the packets
// behind, and tells whether there are any.
static __attribute__((noinline)) bool mark_thresholds(struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	const uint32_t unknown = UINT32_MAX;
	const uint8_t *hop = f + t->stack;
	bool any = false;
	for (uint32_t i = 0; i < t->all_hops; i++, hop += t->hop_len) {
		uint32_t tx = t->tx ? be32(hop + t->tx) : unknown;
		uint32_t at = hot_interface(b, t, hop);
		if (is_over(b, t, p, hop)) {
			set_hot(b, b->queues, hot_queue(at, queue_of(t, hop)), FAST_HOT_QUEUES);
			any = true;
		}
		if (tx != unknown && utilization(tx, model_of(b, be32(hop))) >= p->tx) {
			set_hot(b, b->interfaces, at, FAST_HOT_INTERFACES);
			any = true;
		}
	}
	return any;
}

// floors are the least values of a hop with which it may be over a threshold of p, as nodes write them; unknown ones are above them.
struct floors {
	uint32_t latency, occupancy;
};

static inline struct floors floors_of(const struct fast_view *b, const struct fast_template *t, const struct fast_policy *p)
{
	const uint32_t never = UINT32_MAX;
	if (b->models || b->others.latency != 1 || (p->factor && !t->latency))
		return (struct floors){0, 0};
	if (p->factor) // is_over asks for the occupancy of no hop with a latency that is known and lower
		return (struct floors){p->latency, never};
	return (struct floors){t->latency ? p->latency : never, b->others.queue != 1 || t->by_buffer ? 0 : t->queue ? p->raise : never};
}

// marked_hops are the hops with a queue that may be in an episode and, above them, those whose latency is not below floor: bit i is hop i, of
// flows.MaxHops at most.
static __attribute__((noinline)) uint32_t marked_hops(const struct fast_view *b, const struct fast_template *t, const uint8_t *f, uint32_t floor)
{
	const uint8_t *first = f + t->stack;
	const size_t step = t->hop_len, queue = t->queue, latency = t->latency;
	uint32_t marked = 0, high = 0;
	for (const uint8_t *hop = first + t->all_hops * step; hop > first;) {
		hop -= step;
		uint32_t at = hot_queue(hot_interface(b, t, hop), queue ? hop[queue] : 0xff);
		marked = 2 * marked + (uint32_t)in_filter(b->queues, at);
		high = 2 * high + (be32(hop + latency) >= floor);
	}
	return marked | high << 16;
}

// full_enough are the hops whose occupancy is not below floor.
static __attribute__((noinline)) uint32_t full_enough(const struct fast_template *t, const uint8_t *f, uint32_t floor)
{
	const uint8_t *first = f + t->stack;
	const size_t step = t->hop_len, queue = t->queue;
	uint32_t high = 0;
	for (const uint8_t *hop = first + t->all_hops * step; hop > first;) {
		hop -= step;
		high = 2 * high + ((be32(hop + queue) & 0xffffff) >= floor);
	}
	return high;
}

// over_hops are those of some hops that are over a threshold. It makes their queues known to the packets behind.
static __attribute__((noinline)) uint32_t over_hops(struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f, uint32_t some)
{
	uint32_t over = 0;
	for (; some; some &= some - 1) {
		const uint32_t i = (uint32_t)__builtin_ctz(some);
		const uint8_t *hop = f + t->stack + i * t->hop_len;
		if (is_over(b, t, p, hop)) {
			set_hot(b, b->queues, hot_queue(hot_interface(b, t, hop), queue_of(t, hop)), FAST_HOT_QUEUES);
			over |= UINT32_C(1) << i;
		}
	}
	return over;
}

// full_hops tells which hops have a queue that may be in an episode, or is over a threshold; hot: there is one of the former.
static inline uint32_t full_hops(struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f, bool *hot)
{
	const struct floors floor = floors_of(b, t, p);
	const uint32_t which = marked_hops(b, t, f, floor.latency), marked = which & 0xffff;
	const uint32_t high = (which >> 16 | (floor.occupancy == UINT32_MAX ? 0 : full_enough(t, f, floor.occupancy))) & ~marked;
	*hot = marked;
	return likely(!high) ? marked : marked | over_hops(b, t, p, f, high);
}

// keeps_full is below_usual where queues are in an episode.
static __attribute__((noinline)) bool keeps_full(struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	bool hot;
	const uint32_t which = full_hops(b, t, p, f, &hot);
	b->full = hot ? which : 0;
	return hot || !which;
}

// knows_full tells whether packets of a watch that reach a threshold may be told apart by keeps_full: some queue may be in an episode, and
// interfaces have no threshold.
static inline bool knows_full(const struct fast_view *b, const struct fast_policy *p)
{
	return b->hot & FAST_HOT_QUEUES && p->fabric && p->tx == UINT32_MAX;
}

// below_usual tells whether no hop of a packet, the sum of whose latencies is above the floor or not known, is over a
// threshold that is made of what is usual. Where a queue of it may be in an episode, fast_view.full is what full_hops tells, and
// no_episode says more.
static __attribute__((noinline)) bool below_usual(const struct fast_state *s, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f, uint64_t sum)
{
	struct fast_view *b = (struct fast_view *)s->view;
	if (sum > INT32_MAX) // event.farthest
		return false;
	if (!p->factor)
		return true;
	if (knows_full(b, p) && p->latency != UINT32_MAX)
		return keeps_full(b, t, p, f);
	const uint32_t step = t->hop_len;
	const uint8_t *hop = f + t->stack, *end = hop + t->all_hops * step;
	for (; hop < end; hop += step)
		if (is_over(b, t, p, hop))
			return false;
	return true;
}

// goes_again passes packet j if it goes on with the one episode that its flow's last packet went on with, its other hops are in the same
// queues as then and too low for a threshold, and there is nothing else to it. sum is that of its latencies. What holds for as long as
// fast_again.epoch does is not asked again.
static __attribute__((noinline)) bool goes_again(struct fast_state *s, size_t j, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f, uint64_t sum)
{
	const struct fast_view *b = (const struct fast_view *)s->view;
	const struct fast_flow *w = s->flows[j];
	const struct fast_cold *cold = w->cold;
	const struct fast_mbuf *m = ((struct fast_mbuf *const *)s->vec)[s->at[j]];
	struct crossed c = {.bytes = m->pkt_len - t->removed};
	if ((w->bound & (FAST_HAS_COLD | FAST_UNSETTLED)) != FAST_HAS_COLD || cold->again.epoch != (uint32_t)b->epoch || cold->again.watch != (w->bound >> 16 & 0xff) || cold->again.path != w->path_hash || !(t->tells & FAST_AGAIN) || b->records)
		return false;
	if (p->sample_left == 1 || w->packets == UINT32_MAX || w->bytes + c.bytes < c.bytes || sum > INT32_MAX || sum - w->end_ref + p->end > p->end_twice)
		return false;
	const size_t step = t->hop_len, occupancy = t->queue;
	const uint8_t *first = f + t->stack, *full = first + cold->again.hop * step, *queue = cold->again.queues + t->all_hops;
	const uint32_t place = cold->again.place, share = cold->again.share;
	tell_values(t, full, &c);
	if (t->latency ? sum - c.latency >= p->latency : p->factor) // else no other hop has a latency that reaches it
		return false;
	uint32_t most = 0; // of the other hops: an occupancy, or more than any where the queue is another
	for (const uint8_t *hop = first + t->all_hops * step; hop > first;) {
		hop -= step;
		const uint32_t x = be32(hop + occupancy) - ((uint32_t)*--queue << 24), other = hop == full ? x & ~UINT32_C(0xffffff) : x;
		most = other > most ? other : most;
	}
	if (most >= (p->factor || p->raise > 0xffffff ? UINT32_C(1) << 24 : p->raise))
		return false;
	struct fast_tallies *a = (struct fast_tallies *)b->tallies;
	struct fast_tally *q = &a->of[place];
	in_register(q);
	if (a->held >> place & 1 || cold->shares[share].record != q->id || !goes_on(q, &c, w->bound >> 16 & 0xff, s->now, 1))
		return false;
	c.ecn = ecn_of(t, f);
	tally(s, a, q, place, share, &c, (uint32_t)j);
	return true;
}

// no_full_queue is no_episode for the queues of a packet.
static __attribute__((noinline)) bool no_full_queue(struct fast_view *b, const struct fast_template *t, const uint8_t *f)
{
	const uint8_t *hop = f + t->stack, *end = hop + t->all_hops * t->hop_len;
	const uint32_t step = t->hop_len;
	uint64_t any = 0;
	for (; hop < end; hop += step)
		any |= in_filter(b->queues, hot_queue(hot_interface(b, t, hop), queue_of(t, hop)));
	b->crosses = any != 0;
	return !any;
}

// stays_busy tells whether the packet leaves, of the interfaces that may be busy, through such alone that stay so with it.
static __attribute__((noinline)) bool stays_busy(const struct fast_state *s, struct fast_view *b, const struct fast_template *t, const uint8_t *f)
{
	const uint8_t *hop = f + t->stack, *end = hop + t->all_hops * t->hop_len;
	const uint32_t step = t->hop_len;
	for (; hop < end; hop += step) {
		const uint32_t at = hot_interface(b, t, hop), tx = be32(hop + t->tx);
		struct fast_busy *e = &b->busy[at % FAST_BUSY];
		if (!in_filter(b->interfaces, at) || tx == UINT32_MAX)
			continue;
		const uint32_t x = utilization(tx, model_of(b, be32(hop)));
		if (!e->goes || e->interface_key != egress_of(t, hop) || s->now >= e->until || x - e->least > e->span)
			return false;
		e->last = x;
		e->seen = s->now;
		b->busied |= UINT64_C(1) << at % FAST_BUSY;
	}
	return true;
}

// stop_busy leaves to Go the packets of busy interfaces that come behind one of theirs which is Go's; without a template that may be any.
static __attribute__((noinline)) void stop_busy(struct fast_view *b, const struct fast_template *t, const uint8_t *f)
{
	if (t == NULL) {
		for (uint32_t i = 0; i < FAST_BUSY; i++)
			b->busy[i].goes = 0;
		return;
	}
	const uint8_t *hop = f + t->stack, *end = hop + t->all_hops * t->hop_len;
	for (const uint32_t step = t->hop_len; t->tx && hop < end; hop += step)
		b->busy[hot_interface(b, t, hop) % FAST_BUSY].goes = 0;
}

// reaches_busy tells whether a packet reaches no threshold but those of interfaces that may be busy.
static __attribute__((noinline)) bool reaches_busy(const struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	const uint8_t *hop = f + t->stack, *end = hop + t->all_hops * t->hop_len;
	const uint32_t step = t->hop_len;
	for (; hop < end; hop += step) {
		const uint32_t tx = be32(hop + t->tx);
		if (tx != UINT32_MAX && utilization(tx, model_of(b, be32(hop))) >= p->tx && !in_filter(b->interfaces, hot_interface(b, t, hop)))
			return false;
		if (is_over(b, t, p, hop))
			return false;
	}
	return true;
}

// no_episode tells whether none of a packet's queues and interfaces is in an episode that the packet
// can count for: event.FastView.Filters tells which filters are looked at.
static __attribute__((noinline)) bool no_episode(const struct fast_state *s, struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	const uint32_t never = UINT32_MAX;
	if (b->hot & FAST_HOT_INTERFACES && p->tx != never && t->tx) {
		const uint8_t *hop = f + t->stack, *end = hop + t->all_hops * t->hop_len;
		const uint32_t step = t->hop_len;
		uint64_t any = 0;
		for (; hop < end; hop += step)
			any |= in_filter(b->interfaces, hot_interface(b, t, hop));
		if (any && !stays_busy(s, b, t, f))
			return false;
	}
	if (!(b->hot & FAST_HOT_QUEUES) || (p->latency == never && (p->raise == never || !t->queue)))
		return true;
	if (b->full) {
		b->crosses = 1;
		return false;
	}
	return no_full_queue(b, t, f);
}

// A link is named by two hops' first eight bytes, as numbers, without the interface that does
// not count.
#define FROM (~UINT64_C(0xffff0000))
#define TO (~UINT64_C(0xffff))

static inline uint64_t link_hash(uint64_t key, uint64_t from, uint64_t to)
{
	return (from * key + to) * key >> 52;
}

// find_link is event.FastView.link.
static inline struct fast_link *find_link(struct fast_view *b, uint64_t from, uint64_t to)
{
	uint32_t *hint = &b->link_at[link_hash(b->key, from, to)];
	struct fast_link *e = (struct fast_link *)(b->links.entries + *hint);
	if (likely(e->key[0] == from && e->key[1] == to))
		return e;
	unsigned __int128 p = (unsigned __int128)(from ^ b->links.key) * (b->links.prime2 ^ b->links.key);
	uint64_t k = to * b->links.key, h = (uint64_t)p ^ (uint64_t)(p >> 64) ^ (k << 32 | k >> 32);
	h = (h ^ h >> 29) * b->links.prime3;
	uint32_t at = (uint32_t)((h >> 20 & b->links.mask) * sizeof *e);
	for (int i = 0; i < 4; i++, at += sizeof *e) {
		e = (struct fast_link *)(b->links.entries + at);
		if (e->key[0] == from && e->key[1] == to && e->used) {
			*hint = at;
			return e;
		}
	}
	return NULL;
}

// find_links is links_known for links that have to be looked up, or have changed.
static __attribute__((noinline)) bool find_links(const struct fast_state *s, struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	const uint64_t absolute = p->link_absolute;
	const uint8_t *hop = f + t->stack;
	bool unchanged = true;
	for (uint32_t i = 1; i < t->all_hops; i++) {
		uint64_t to = be64(hop), in = be64(hop + t->ingress);
		hop += t->hop_len;
		uint64_t from = be64(hop), out = be64(hop + t->egress), ns = in - out;
		if (in == UINT64_MAX || out == UINT64_MAX)
			continue;
		struct fast_link *k = find_link(b, from & FROM, to & TO);
		if (k != NULL && !k->window && ns < UINT32_MAX && ns - k->ref + absolute <= 2 * absolute && k->ref != UINT32_MAX) {
			k->last = (uint32_t)ns;
			k->tick = s->tick;
			continue;
		}
		if (k != NULL) { // what is behind it in the burst waits for what becomes of this
			k->window |= 0x80;
			k->least = UINT64_C(1) << 63;
			k->span = 0;
		}
		unchanged = false;
	}
	return unchanged;
}

// links_known tells whether the latency of each link is within its deadband, and has been, as
// far as that is known at once: by where links were last found, and by times before the year
// 2262. It calls nothing, so that it needs few registers.
static __attribute__((noinline)) bool links_known(const struct fast_view *b, const struct fast_template *t, const uint8_t *f, uint32_t tick)
{
	const uint64_t key = b->key, step = t->hop_len;
	const uint8_t *from_at = f + t->link_from, *out_at = f + t->link_out, *in_at = f + t->link_in;
	uint64_t to = be64(f + t->stack);
	for (int64_t at = -(int64_t)t->links; at; at += step) { // up to 0: the cheapest end of a loop
		uint64_t in = be64(in_at + at), out = be64(out_at + at), from = be64(from_at + at), ns = in - out;
		struct fast_link *k = (struct fast_link *)(b->links.entries + b->link_at[link_hash(key, from & FROM, to & TO)]);
		if (unlikely(k->key[0] != (from & FROM) || k->key[1] != (to & TO) || (int64_t)(in | out) < 0 || ns - k->least > k->span))
			return false;
		k->last = (uint32_t)ns;
		k->tick = tick;
		to = from;
	}
	return true;
}

// stamped is the time from the source to here; all ones where it cannot be told.
static inline uint64_t stamped(const struct fast_state *s, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	if (!t->ingress)
		return UINT64_MAX;
	uint64_t stamp = be64(f + t->stack + (t->all_hops - 1u) * t->hop_len + t->ingress);
	uint64_t ns = (uint64_t)(s->now + s->wall - p->clock_offset) - stamp;
	return stamp == UINT64_MAX || ns >= UINT32_MAX ? UINT64_MAX : ns;
}

// no_event tells whether a packet gives no event; more is as for pass_packets.
static inline __attribute__((always_inline)) bool no_event(struct fast_state *s, size_t j, const struct fast_template *t, const struct limits *l, const struct fast_flow *w, const uint8_t *f, const bool more)
{
	const struct fast_policy *p = l->policy;
	struct values v;
	if (!same_hops(w, t, l, f, more, &v))
		return false;
	if (unlikely(v.latency > p->most_together)) {
		v.latency -= t->sum_from[1];
		if (more && ((const struct fast_view *)s->view)->hot & FAST_HOT_QUEUES && goes_again(s, j, t, p, f, v.latency))
			return true;
		if (!below_usual(s, t, p, f, v.latency))
			return false; // the general path takes differences that do not wrap
	}
	struct fast_view *b = (struct fast_view *)s->view;
	if (more && unlikely(load16(&p->ptp))) { // or by_latency
		if (p->ptp && (v.latency = stamped(s, t, p, f)) == UINT64_MAX)
			return false;
		if (v.latency - w->end_ref + p->end <= p->end_twice && p->by_latency && t->hop_len > t->latency + 32u && reaches_latency(t, p, f)) {
			mark_thresholds(b, t, p, f);
			return false;
		}
	}
	if (v.latency - w->end_ref + p->end > p->end_twice)
		return false;
	if (!more)
		return true;
	if (unlikely(reaches(&v))) {
		if (b->hot & FAST_HOT_QUEUES && goes_again(s, j, t, p, f, v.latency))
			return true;
		if (!(knows_full(b, p) && keeps_full(b, t, p, f)) && !(b->hot & FAST_HOT_INTERFACES && p->tx != UINT32_MAX && t->tx && reaches_busy(b, t, p, f))) {
			mark_thresholds(b, t, p, f);
			return false; // an unknown value is no reason: the general path finds that out
		}
	}
	if (unlikely(b->hot) && p->fabric && !no_episode(s, b, t, p, f))
		return false;
	return !p->link || (likely(!t->narrow) && (likely(links_known(b, t, f, s->tick)) || !t->links || find_links(s, b, t, p, f)));
}

// no_event_of_ifa is no_event for a packet with IFA. Without more, its hops are compared where they stand, from the source
// on: then TTLs must not rise, as laid_out has it, and lane 0 has what laid_out compares besides.
static inline __attribute__((always_inline)) bool no_event_of_ifa(struct fast_state *s, size_t j, const struct fast_template *t, const struct limits *l, const struct fast_flow *w, const uint8_t *f, const bool more)
{
#ifdef FAST_AVX2
	if (!more) {
		const struct fast_policy *p = l->policy;
		const uint8_t *hop = f + t->ifa_last, *known = (const uint8_t *)w->hops;
		const size_t step = t->ifa_len, word = t->ifa_word;
		int64_t at = t->ifa_known;
		const __m128i order = _mm_loadu_si128((const __m128i *)t->ifa_lanes), mask = _mm_loadu_si128((const __m128i *)t->ifa_mask);
		const __m128i add = _mm_add_epi32(l->add, _mm_loadu_si128((const __m128i *)t->ifa_add));
		__m128i worst = l->limit, all = _mm_setzero_si128(), rise = _mm_setzero_si128();
		__m128i raw = _mm_loadu_si128((const __m128i *)hop);
		goto first;
		do {
			raw = _mm_loadu_si128((const __m128i *)hop);
			rise = _mm_or_si128(rise, _mm_subs_epu8(raw, _mm_loadu_si128((const __m128i *)(hop + step))));
		first:;
			__m128i x = _mm_and_si128(_mm_shuffle_epi8(_mm_insert_epi32(raw, (int)load32(hop + word), 1), order), mask);
			hop -= step;
			all = _mm_add_epi64(all, x);
			x = _mm_add_epi32(_mm_sub_epi32(x, _mm_loadu_si128((const __m128i *)(known + at))), add);
			worst = _mm_max_epu32(worst, x);
			in_vector(worst);
			at -= sizeof w->hops[0];
		} while (at >= 0);
		worst = _mm_or_si128(_mm_xor_si128(worst, l->limit), _mm_and_si128(rise, _mm_loadu_si128((const __m128i *)t->ifa_falls)));
		if (!_mm_testz_si128(worst, worst))
			return false;
		const uint64_t sum = (uint64_t)_mm_extract_epi64(all, 1);
		return sum <= t->ifa_longest && sum <= p->most_together && sum - w->end_ref + p->end <= p->end_twice; // else the general path asks
	}
#endif
	struct hops_of_ifa room;
	return !translate(t, f, &room) && no_event(s, j, t, l, w, room.before, more);
}

#endif
