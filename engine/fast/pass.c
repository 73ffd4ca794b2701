//go:build cgo && !purego

#include "strip.h"

// Most packets are as their flow's last one was: they are counted, and lose their INT.
// All others are deferred, in order, and with them what of their flow comes behind them.

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

// quiet_hop tells whether a hop reaches no threshold, and none of its queue and interface
// is in an episode. One that reaches a threshold makes it known to the packets behind.
static inline bool quiet_hop(struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *hop)
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

// below tells whether no hop reaches a threshold: unknown values, all ones, are said to.
static inline bool below(const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
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

static __attribute__((noinline)) bool quiet_hops(struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	const uint8_t *hop = f + t->stack;
	bool quiet = true;
	for (uint32_t i = 0; i < t->hops; i++, hop += t->hop_len)
		quiet &= quiet_hop(b, t, p, hop);
	return quiet;
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

// quiet_links tells whether the latency of each link is within its deadband, and has been.
static bool quiet_links(const struct fast_state *s, struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	if (!t->ingress || !t->egress)
		return true;
	const uint8_t *next = f + t->stack;
	bool quiet = true;
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
				quiet = false;
			} else {
				k->last = (uint32_t)ns;
				k->tick = s->tick;
			}
		}
		next = hop;
	}
	return quiet;
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

// quiet_besides is what quiet asks where more is watched than paths and hop latencies.
static __attribute__((noinline)) bool quiet_besides(const struct fast_state *s, const struct fast_template *t, const struct fast_policy *p, const struct fast_flow *w, const uint8_t *f, uint64_t sum)
{
	struct fast_view *b = (struct fast_view *)s->view;
	if (p->ptp && (sum = stamped(s, t, p, f)) == UINT64_MAX)
		return false;
	if (sum - w->end_ref + p->end > p->end_twice)
		return false;
	return (!p->fabric || (likely(!b->hot) && likely(below(t, p, f))) || quiet_hops(b, t, p, f)) && (!p->link || quiet_links(s, b, t, p, f));
}

// quiet tells whether a packet gives no event.
static inline bool quiet(const struct fast_state *s, const struct fast_template *t, const struct limits *l, const struct fast_flow *w, const uint8_t *f)
{
	const struct fast_policy *p = l->policy;
	uint64_t sum;
	if (!same_hops(w, t, l, f, &sum))
		return false;
	if (unlikely(load32(&p->fabric)))
		return quiet_besides(s, t, p, w, f, sum);
	return sum - w->end_ref + p->end <= p->end_twice;
}

static __attribute__((noinline)) bool use(struct limits *l, const struct fast_state *s, uint32_t bound)
{
	uint32_t watch = bound >> 16 & 0xff;
	if (watch >= s->policies)
		return false;
	struct fast_policy *p = &((struct fast_view *)s->view)->policies[watch];
	l->policy = p;
	l->state = s->generation | watch << 16 | (uint32_t)p->flags << 24;
	l->mask = 0xffffff | (uint32_t)p->mask << 24 | FAST_HELD;
#ifdef FAST_AVX2
	l->add = _mm_slli_si128(_mm_cvtsi32_si128((int)p->absolute), 8);
	l->limit = _mm_set_epi32(-1, (int)p->twice, 0, 0);
#endif
	return !((bound ^ l->state) & l->mask);
}

// is_sample is the rest of event.FastPolicy.TakeSample, once left is zero.
static __attribute__((noinline)) bool is_sample(struct fast_policy *p, uint64_t hash)
{
	p->left = p->by_flow ? 1 : p->every;
	return p->every != 0 && (!p->by_flow || (hash >> 32) % p->every == 0);
}

// fast_pass passes every packet that is as its flow's last one was.
void fast_pass(struct fast_state *s)
{
	struct fast_mbuf *const *vec = (struct fast_mbuf *const *)s->vec;
	struct limits l = {0};
	const uint32_t n = s->ints, refresh = s->refresh, tick = s->tick;
	const bool strips = s->strip, keep = s->keep;
	uint32_t deferred = 0;
	uint64_t samples = 0;
	bool look = s->look;
	use(&l, s, 0);
	for (uint32_t j = 0; j < n; j++) {
		uint8_t at = s->template[j];
		struct fast_flow *w = s->flows[j];
		if (unlikely(w == NULL))
			goto alone;
		if (unlikely(at == FAST_NONE || look || keep)) {
			look = false;
			goto defer;
		}
		if (unlikely((w->bound ^ l.state) & l.mask) && !use(&l, s, w->bound))
			goto defer;
		const struct fast_template *t = &s->templates[at];
		in_register(t);
		if (unlikely(t->hops != w->path_hops || ~(refresh - w->next_refresh) & l.policy->refresh))
			goto defer;
		struct fast_mbuf *m = vec[s->at[j]];
		const uint8_t *f = m->buf_addr + m->data_off;
		if (unlikely(f[t->flags_at] & t->flags_mask || !quiet(s, t, &l, w, f)))
			goto defer;
		uint32_t packets = w->packets + 1, bytes = w->bytes + (m->pkt_len - t->removed);
		if (unlikely((packets == 0) | (bytes < w->bytes)))
			goto defer;
		w->packets = packets;
		w->bytes = bytes;
		w->path_seen = tick;
		if (unlikely(--l.policy->left == 0) && is_sample(l.policy, s->hashes[j]))
			samples |= UINT64_C(1) << j;
		else if (likely(strips))
			strip(m, t);
		continue;
	defer:
		w->bound |= FAST_HELD;
	alone:
		s->deferred_at[deferred++] = (uint8_t)j;
	}
	s->deferred = deferred;
	s->samples = samples;
	s->look = look;
}

// fast_strip takes INT out of packets which[:n], all with templates.
void fast_strip(struct fast_state *s, const uint8_t *which, uint32_t n)
{
	struct fast_mbuf *const *vec = (struct fast_mbuf *const *)s->vec;
	for (uint32_t r = 0; r < n; r++) {
		uint8_t j = which[r];
		strip(vec[s->at[j]], &s->templates[s->template[j]]);
	}
}

// fast_receive is all of it, as far as it goes without Go: what is unknown has to be
// parsed, and flows that are missing have to be made.
void fast_receive(struct fast_state *s)
{
	fast_match(s);
	s->missing = 0;
	if (s->unknown || s->ints == 0)
		return;
	if (!s->watched) {
		for (uint32_t j = 0; j < s->ints; j++)
			s->deferred_at[j] = (uint8_t)j;
		s->deferred = s->ints;
		return;
	}
	fast_lookup(s);
	if (!s->missing)
		fast_pass(s);
}
