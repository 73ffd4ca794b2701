//go:build cgo

// C loop pass: counts and strips packets that give no event, notes the deferred ones;
// fast_receive: match, look up and pass, or strip what nobody watches, in one call.

#include "general.h"
#include "strip.h"

// Most packets are as their flow's last one was: they are counted, and lose their INT.
// All others are deferred, in order, and with them what of their flow comes behind them.

// use loads the limits of the flow's watch into l, and returns the bits of bound that differ from
// what a quiet flow has.
static __attribute__((noinline)) uint64_t use(struct limits *l, const struct fast_state *s, uint64_t bound)
{
	uint32_t watch = bound >> 16 & 0xff;
	if (watch >= s->policies)
		return UINT32_MAX;
	struct fast_policy *p = &((struct fast_view *)s->view)->policies[watch];
	l->policy = p;
	l->state = s->generation | watch << 16 | (uint32_t)p->flags << 24;
	l->mask = 0xffffff | (uint32_t)p->mask << 24 | FAST_HELD | FAST_PATH_HOPS;
#ifdef FAST_AVX2
	l->add = _mm_slli_si128(_mm_cvtsi32_si128((int)p->absolute), 8);
	l->limit = _mm_set_epi32(-1, (int)p->twice, 0, 0);
	l->unit = _mm_set_epi32(1, (int)p->unit, 1, 1);
#endif
	return (bound ^ l->state) & l->mask;
}

// gap is event.FastPolicy.gap, for every above 1.
static __attribute__((noinline)) uint32_t gap(struct fast_policy *p, uint32_t every)
{
	uint32_t half = every - 1 < ~every ? every - 1 : ~every;
	uint64_t x = p->random; // event.nextRandom
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	p->random = x;
	return every - half + (uint32_t)((unsigned __int128)x * (2 * (uint64_t)half + 1) >> 64);
}

// is_sample is the rest of event.FastPolicy.TakeSample, once left is zero.
static inline bool is_sample(struct fast_policy *p, uint64_t hash)
{
	uint32_t every = p->sample_every;
	p->sample_left = every;
	if (likely(!p->by_flow)) {
		if (every > 1)
			p->sample_left = gap(p, every);
		return every != 0;
	}
	p->sample_left = 1;
	return every != 0 && (hash >> 32) % every == 0;
}

// count adds a packet to those of a flow, with its length without INT: both counters in one
// addition. It tells whether there was room in both; if not, nothing changes.
static inline bool count(struct fast_flow *w, uint32_t bytes)
{
	_Static_assert(offsetof(struct fast_flow, bytes) == offsetof(struct fast_flow, packets) + 4, "both counters in eight bytes");
	uint8_t *counters = (uint8_t *)w + offsetof(struct fast_flow, packets);
	uint64_t sum;
	if (unlikely(__builtin_add_overflow(load64(counters), (uint64_t)bytes << 32 | 1, &sum)) || unlikely((uint32_t)sum == 0))
		return false;
	memcpy(counters, &sum, sizeof sum);
	return true;
}

// finish takes INT out of a packet that was counted, but for a sample.
static inline void finish(struct fast_state *s, uint32_t j, struct fast_policy *p)
{
	if (p != NULL && --p->sample_left == 0 && is_sample(p, s->hashes[j]))
		s->samples |= UINT64_C(1) << j;
	else if (s->strip) {
		struct fast_mbuf *m = ((struct fast_mbuf *const *)s->vec)[s->at[j]];
		strip(m, m->buf_addr + m->data_off, &s->templates[s->template[j]]);
	}
}

// pass_general passes packet j where it gives no event by the general path.
static __attribute__((noinline)) bool pass_general(struct fast_state *s, uint32_t j)
{
	int told = general(s, j);
	if (told == GENERAL_DEFER)
		return false;
	struct fast_flow *w = s->flows[j];
	const struct fast_mbuf *m = ((struct fast_mbuf *const *)s->vec)[s->at[j]];
	count(w, m->pkt_len - s->templates[s->template[j]].removed); // there is room: general has asked
	if (told == GENERAL_SAME_PATH)
		w->path_seen = s->tick;
	finish(s, j, told == GENERAL_NO_WATCH ? NULL : &((struct fast_view *)s->view)->policies[w->bound >> 16 & 0xff]);
	return true;
}

// is_expected tells whether a packet is on the current path of its flow, as far as their lengths
// tell, and has the next sequence number, if any.
static inline bool is_expected(const struct fast_flow *w, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	return t->known && t->path == w->path_hops && (t->latency || !(w->bound & FAST_UNSETTLED)) && (!t->number_bits || !p->loss || is_next(w, number_of(t, f), t->number_bits));
}

// take_in updates what a flow that is not settled, or whose packets are numbered, knows by a
// packet that is passed: no latency is out of its deadband.
static inline void take_in(struct fast_flow *w, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	if (t->number_bits && p->loss)
		advance(w->loss, number_of(t, f));
	if (w->bound & FAST_UNSETTLED)
		shift_windows(w, t->all_hops);
}

// pass_packets is fast_pass from packet j on; it returns how far it came. The compiler makes two loops of it:
// more: a watch asks for more than paths and latencies of hops, or for facts; nodes have a unit of latency; packets
// keep their INT or have sequence numbers. Each hop's queue, utilization and latency are compared with thresholds,
// too, latencies are multiplied, links are looked up, numbers and facts of the packet are read.
// Without more, 40 instructions a packet less, it ends at the first packet of a flow with windows, and where a queue is
// suspected of congestion, or in an episode: with more it goes on from there.
static inline __attribute__((always_inline)) size_t pass_packets(struct fast_state *s, size_t j, const bool more)
{
	struct fast_mbuf *const *vec = (struct fast_mbuf *const *)s->vec;
	struct limits l = {0};
	const size_t n = s->ints;
	const uint32_t past = s->refresh + 1, tick = s->tick;
	const bool strips = !more || s->strip, keep = s->keep & FAST_KEEP, asks = s->keep & FAST_ASK;
	use(&l, s, 0);
	for (; unlikely((keep || s->look) && j < n); j++) {
		if (s->flows[j] != NULL) {
			s->flows[j]->bound |= FAST_HELD;
			s->look = 0;
		}
		s->deferred_at[s->deferred++] = (uint8_t)j;
	}
	for (; j < n; j++) {
		struct fast_flow *w = s->flows[j];
		const struct fast_template *t = &s->templates[s->template[j]];
		in_register(t);
		if (unlikely(w == NULL))
			goto alone;
		uint64_t bound = load64((const uint8_t *)w + offsetof(struct fast_flow, bound)) ^ t->in_flow;
		uint64_t other = (bound ^ l.state) & l.mask;
		if (unlikely(other)) {
			const uint64_t minor = FAST_UNSETTLED | FAST_PATH_HOPS;
			if (other & ~minor && (other = use(&l, s, bound)) & ~minor)
				goto general;
			if (!more && other)
				break;
		}
		if (unlikely((w->next_refresh - past) & l.policy->refresh))
			goto defer;
		struct fast_mbuf *m = vec[s->at[j]];
		uint8_t *f = m->buf_addr + m->data_off;
		if (more && unlikely(other | asks) && ((other && !is_expected(w, t, l.policy, f)) || (asks && (!t->facts || facts_of(s, t, f) != w->facts))))
			goto general;
		if (unlikely(!no_event(s, t, &l, w, f, more)))
			goto general;
		if (unlikely(!count(w, m->pkt_len - t->removed)))
			goto defer;
		w->path_seen = tick;
		if (more && unlikely(other))
			take_in(w, t, l.policy, f);
		if (unlikely(--l.policy->sample_left == 0) && is_sample(l.policy, s->hashes[j]))
			s->samples |= UINT64_C(1) << j;
		else if (likely(strips))
			strip(m, f, t);
		continue;
	general:
		if (pass_general(s, (uint32_t)j))
			continue;
	defer:
		w->bound |= FAST_HELD;
	alone:
		s->deferred_at[s->deferred++] = (uint8_t)j;
		if (!more && ((const struct fast_view *)s->view)->hot) {
			j++;
			break;
		}
	}
	return j;
}

static __attribute__((noinline)) void pass_with_more(struct fast_state *s, size_t from)
{
	pass_packets(s, from, true);
}

// pass_from passes the packets from one on.
static __attribute__((noinline)) void pass_from(struct fast_state *s, size_t from)
{
	const struct fast_view *b = (const struct fast_view *)s->view;
	if (!(b->more || b->hot || s->numbered || s->keep) && s->strip)
		from = pass_packets(s, from, false);
	if (unlikely(from < s->ints))
		pass_with_more(s, from);
}

// pass_until_look passes the packets in front of the one that is looked at, and returns how many they are. They are any
// number: of packets that come together it must not always be the first, or others are never looked at.
static __attribute__((noinline)) size_t pass_until_look(struct fast_state *s)
{
	const uint32_t n = s->ints, from = n > 0 ? (uint32_t)(s->look - 1) % n : 0;
	s->ints = from;
	s->look = 0;
	pass_from(s, 0);
	s->ints = n;
	s->look = 1;
	return from;
}

// fast_pass passes every packet that is as its flow's last one was.
void fast_pass(struct fast_state *s)
{
	s->deferred = 0;
	s->samples = 0;
	pass_from(s, unlikely(s->look > 1) ? pass_until_look(s) : 0);
}

// strip_unwatched takes INT out of all packets, where nobody asks for their flows; it defers all where one
// is not sound, or where they keep their INT.
static __attribute__((noinline)) void strip_unwatched(struct fast_state *s)
{
	const uint32_t n = s->ints;
	bool sound = s->strip;
	uint32_t mx = 0;
	for (uint32_t j = 0; j < n; j++) {
		const struct fast_template *t = &s->templates[s->template[j]];
		sound &= t->sound;
		mx += t->mx;
	}
	if (sound) {
		s->mx = mx;
		fast_strip(s, UINT64_MAX >> (FAST_BURST - n));
		return;
	}
	for (uint32_t j = 0; j < n; j++)
		s->deferred_at[j] = (uint8_t)j;
	s->deferred = n;
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
		strip_unwatched(s);
		return;
	}
	fast_lookup(s);
	if (!s->missing)
		fast_pass(s);
}
