//go:build cgo

// C loop pass: counts and strips packets that give no event, notes the deferred ones;
// fast_receive: match, look up and pass, or strip what nobody watches, in one call.

#include "compare.h"
#include "strip.h"

// The general path: packets that give no event although their flow is not settled, watches ask
// for facts, nodes have units of their own, or INT has sequence numbers or no hops.

// What general returns for a packet.
enum { GENERAL_DEFER, GENERAL_NO_WATCH, GENERAL_NO_PATH, GENERAL_SAME_PATH };

// facts_of is watch.Facts.Hash, as far as templates have facts.
static inline uint32_t facts_of(const struct fast_state *s, const struct fast_template *t, const uint8_t *f)
{
	uint64_t word = 0, h = 0;
#define MIX(v) (h = (h ^ (v)) * s->facts_key, h = h << 32 | h >> 32)
	if (s->asks & FAST_ASKS_VLAN && t->vlan_at)
		word = be16(f + t->vlan_at) & 0xfff;
	if (s->asks & FAST_ASKS_DSCP)
		word |= (uint64_t)(t->dscp_at ? be16(f + t->dscp_at) >> t->dscp_shift & 0x3f : t->dscp) << 16;
	if (s->asks & FAST_ASKS_LAYER)
		word |= (uint64_t)t->inside << 24;
	if (s->asks & FAST_ASKS_LINK)
		word |= (uint64_t)s->link_number << 56;
	MIX(word);
	if (s->asks & FAST_ASKS_DEVICE)
		for (uint32_t i = 0; i < t->all_hops; i++)
			MIX(be32(f + t->stack + i * t->hop_len));
	MIX(1);
#undef MIX
	return (uint32_t)(h >> 32);
}

// same_path tells whether a packet's nodes and interfaces are those of its flow's current path.
static inline bool same_path(const struct fast_flow *w, const struct fast_template *t, const uint8_t *f)
{
	if (t->path != w->path_hops)
		return false;
	const uint8_t *hop = f + t->stack;
	uint32_t other = 0;
	for (uint32_t i = 0; i < t->all_hops; i++, hop += t->hop_len)
		other |= (load32(hop) ^ w->hops[i].node) | (interfaces_of(t, hop) ^ w->hops[i].interfaces);
	return !other;
}

// test is event.FastBand.Test: it shifts x into window, and tells whether that is an event.
static inline bool test(const struct fast_band *band, uint32_t ref, uint32_t x, uint8_t *window)
{
	uint32_t delta = x > ref ? x - ref : ref - x;
	*window = (uint8_t)(*window << 1);
	if (delta <= band->absolute || (double)delta <= band->relative * (double)ref)
		return false;
	*window |= 1;
	return __builtin_popcount(*window & band->last) >= band->k;
}

// windows are those of a flow as they will be when its packet is passed.
struct windows {
	uint8_t hops[16];
	uint8_t end;
	bool change;
	bool summed;  // all latencies are known
	uint64_t sum; // of those that are
};

// stands_first tells whether no hop in front of hop i is the same node: of a node that a path
// has twice, only Go knows which reference counts.
static inline bool stands_first(const struct fast_flow *w, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (w->hops[k].node == w->hops[i].node)
			return false;
	return true;
}

// latencies_pass tells whether the latencies of hops and of the whole path give no event, and
// makes the windows.
static inline bool latencies_pass(const struct fast_state *s, const struct fast_flow *w, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f, struct windows *v)
{
	const struct fast_view *b = (const struct fast_view *)s->view;
	const uint8_t *hop = f + t->stack;
	uint64_t sum = 0;
	bool summed = t->latency;
	for (uint32_t i = 0; t->latency && i < t->all_hops; i++, hop += t->hop_len) {
		uint32_t x = be32(hop + t->latency), ref = w->hops[i].ref;
		if (x == UINT32_MAX) {
			summed = false;
			continue;
		}
		x = scaled(x, model_of(b, be32(hop))->latency);
		sum += x;
		if (!p->watches_hops || (!v->hops[i] && ref != UINT32_MAX && within(x, ref, p->absolute)))
			continue;
		if (ref == UINT32_MAX || !stands_first(w, i) || test(&p->hops, ref, x, &v->hops[i]))
			return false;
		v->change = true;
	}
	v->sum = sum;
	v->summed = summed;
	if (!p->watches_end)
		return true;
	if (p->ptp) {
		if ((sum = stamped(s, t, p, f)) == UINT64_MAX)
			return false;
	} else if (!summed) {
		return true;
	}
	if (!(w->bound & FAST_END_KNOWN))
		return false;
	uint32_t x = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX - 1;
	v->change |= v->end != 0 || sum - w->end_ref + p->end > p->end_twice;
	return !test(&p->end_to_end, w->end_ref, x, &v->end);
}

static inline void set_windows(struct fast_flow *w, const struct windows *v)
{
	memcpy(w->windows, v->hops, sizeof w->windows);
	w->end_window = v->end;
	uint64_t any = load64(v->hops) | load64(v->hops + 8) | v->end;
	w->bound = (w->bound & ~FAST_UNSETTLED) | (any ? FAST_UNSETTLED : 0);
}

// shifted returns eight windows after a packet of n hops whose values are within their deadbands:
// the first n windows are shifted by one bit. The others stay.
static inline uint64_t shifted(const uint8_t *windows, uint32_t n)
{
	uint64_t all = load64(windows), stay = n < 8 ? UINT64_MAX << 8 * n : 0;
	return (all & stay) | (all << 1 & UINT64_C(0xfefefefefefefefe) & ~stay);
}

// shift_windows is set_windows where every latency of a path of n hops is within its deadband.
static inline void shift_windows(struct fast_flow *w, uint32_t n)
{
	uint64_t a = shifted(w->windows, n), b = shifted(w->windows + 8, n > 8 ? n - 8 : 0);
	memcpy(w->windows, &a, sizeof a);
	memcpy(w->windows + 8, &b, sizeof b);
	w->end_window = (uint8_t)(w->end_window << 1);
	w->bound = (w->bound & ~FAST_UNSETTLED) | (a | b | w->end_window ? FAST_UNSETTLED : 0);
}

// number_of is the sequence number of a packet.
static inline uint64_t number_of(const struct fast_template *t, const uint8_t *f)
{
	return be64(f + t->number_at) << (64 - t->number_bits) >> (64 - t->number_bits);
}

// is_next is flows.Flow.NextInSequence.
static inline bool is_next(const struct fast_flow *w, uint64_t n, uint32_t bits)
{
	if (!(w->bound & FAST_HAS_LOSS))
		return false;
	const struct fast_loss *l = w->loss;
	return !l->anew && (n - l->top) << (64 - bits) == UINT64_C(1) << (64 - bits) && ((l->num_holes == 0 && l->pending == 0) || l->listed);
}

// advance is flows.Flow.Advance.
static inline void advance(struct fast_loss *l, uint64_t n)
{
	uint64_t next = l->top + 1;
	l->seen[next / 64 % 16] &= ~(UINT64_C(1) << next % 64);
	l->seen[n / 64 % 16] |= UINT64_C(1) << n % 64;
	l->top = n;
}

// which_full is full_hops where below_usual has not asked it.
static __attribute__((noinline)) uint32_t which_full(struct fast_view *b, const struct fast_template *t, const struct fast_policy *p, const uint8_t *f)
{
	bool hot;
	return full_hops(b, t, p, f, &hot);
}

// note_met notes that packet j, whose hops are those of f, crosses a queue that may be in an episode.
static __attribute__((noinline)) void note_met(struct fast_state *s, uint32_t j, const uint8_t *f)
{
	struct fast_view *b = (struct fast_view *)s->view;
	s->met |= UINT64_C(1) << j;
	s->full_hops[j] = which_full(b, &s->templates[s->template[j]], &b->policies[s->flows[j]->bound >> 16 & 0xff], f);
}

// general tells whether packet j gives no event; then it updates what its flow knows, but for
// the totals.
static __attribute__((noinline)) int general(struct fast_state *s, uint32_t j)
{
	const struct fast_template *t = &s->templates[s->template[j]];
	struct fast_flow *w = s->flows[j];
	const struct fast_mbuf *m = ((struct fast_mbuf *const *)s->vec)[s->at[j]];
	const uint8_t *f = m->buf_addr + m->data_off;
	struct fast_view *b = (struct fast_view *)s->view;
	in_register(t);
	const uint32_t watch = w->bound >> 16 & 0xff, bytes = w->bytes + (m->pkt_len - t->removed);
	if (s->template[j] == FAST_NONE || !t->sound || w->bound & FAST_HELD || (w->bound & 0xffff) != s->generation || w->packets == UINT32_MAX || bytes < w->bytes)
		return GENERAL_DEFER;
	if (s->keep & FAST_ASK && (!t->facts || facts_of(s, t, f) != w->facts))
		return GENERAL_DEFER;
	if (watch == FAST_NO_WATCH) {
		s->types += t->types;
		return GENERAL_NO_WATCH;
	}
	const struct fast_policy *p = &b->policies[watch];
	if (watch >= s->policies || p->in_go || w->next_refresh == 0 || // a new flow
	    ~(s->refresh - w->next_refresh) & p->refresh)
		return GENERAL_DEFER;
	struct windows v = {.change = false};
	bool met = false;
	struct hops_of_ifa room;
	if (t->ifa && t->all_hops) {
		if (translate(t, f, &room))
			return GENERAL_DEFER;
		f = room.before;
	}
	if (t->all_hops) {
		v.end = w->end_window;
		memcpy(v.hops, w->windows, sizeof v.hops);
		if (!same_path(w, t, f) || !latencies_pass(s, w, t, p, f, &v))
			return GENERAL_DEFER;
		const bool may_reach = !p->factor || !v.summed || v.sum >= p->latency || p->tx != UINT32_MAX;
		if ((met = p->fabric && b->hot && !no_episode(s, b, t, p, f)))
			b->crosses = 0; // it is for packets that no_event has compared
		if (met && (p->tx != UINT32_MAX || p->sample_left == 1)) // event.Detector.Meet knows of queues alone
			return GENERAL_DEFER;
		if (!met && p->fabric && may_reach && mark_thresholds(b, t, p, f))
			return GENERAL_DEFER;
		if (p->link && (t->narrow || (t->links && !find_links(s, b, t, p, f))))
			return GENERAL_DEFER;
	}
	if (p->loss && t->number_bits) {
		uint64_t n = number_of(t, f);
		if (!is_next(w, n, t->number_bits))
			return GENERAL_DEFER;
		advance(w->loss, n);
	}
	if (v.change)
		set_windows(w, &v);
	s->types += t->types;
	if (met)
		note_met(s, j, f);
	return t->all_hops ? GENERAL_SAME_PATH : GENERAL_NO_PATH;
}

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
	l->mask = 0xffffff | (uint32_t)p->mask << 24 | FAST_HELD | FAST_SUSPECT | FAST_PATH_HOPS;
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

// finish takes INT out of a packet that was counted, unless it is a sample, crosses a queue that may be in an episode, was marked by
// a queue, or belongs to a flow that a rule of mitigation may select: Go needs its INT, or the whole packet, first.
static inline void finish(struct fast_state *s, uint32_t j, struct fast_policy *p)
{
	const bool keeps = s->flows[j]->bound & FAST_SUSPECT || s->templates[s->template[j]].marked;
	if (unlikely(keeps))
		s->kept |= UINT64_C(1) << j;
	if ((p != NULL && --p->sample_left == 0 && is_sample(p, s->hashes[j])) || s->met >> j & 1)
		s->samples |= UINT64_C(1) << j;
	else if (s->strip && !keeps) {
		struct fast_mbuf *m = ((struct fast_mbuf *const *)s->vec)[s->at[j]];
		strip(m, m->buf_addr + m->data_off, &s->templates[s->template[j]]);
	}
}

// hold leaves to Go the packets of flows that cross the same queues as packet j, which is Go's, and come behind it: in a queue the order of
// packets counts. It does not where the packet goes on with an episode as others do, and none of the burst can be one that is reported.
static __attribute__((noinline)) void hold(struct fast_state *s, uint32_t j)
{
	const struct fast_view *b = (const struct fast_view *)s->view;
	struct fast_tallies *a = (struct fast_tallies *)b->tallies;
	const struct fast_template *t = &s->templates[s->template[j]];
	struct fast_mbuf *m = ((struct fast_mbuf *const *)s->vec)[s->at[j]];
	const uint8_t *f = m->buf_addr + m->data_off;
	struct crossed c = {.bytes = 0};
	in_register(t);
	if (s->template[j] == FAST_NONE || !(t->tells & FAST_HOPS) || t->ifa) {
		a->held = UINT64_MAX;
		return;
	}
	const size_t step = t->hop_len;
	for (const uint8_t *hop = f + t->stack, *end = hop + t->all_hops * step; hop < end; hop += step) {
		const uint32_t place = tell_hop(t, hop, &c) ? place_of(a, c.key) : FAST_RECORDS;
		if (place < FAST_RECORDS && !goes_on(&a->of[place], &c, a->of[place].watch, s->now, FAST_BURST * FAST_MOST_HOPS))
			a->held |= UINT64_C(1) << place;
	}
}

// MOST_TRIED is by how many watches' thresholds mark_deferred compares a packet whose watch only Go can tell.
enum { MOST_TRIED = 8 };

// mark_deferred makes the queues and interfaces of packet j that reach a threshold known to the packets behind it: Go has it begin their
// episodes, and packets behind are in them though they may reach none. Of a flow that is new only Go knows the watch: any may be it.
static __attribute__((noinline)) void mark_deferred(struct fast_state *s, uint32_t j)
{
	struct fast_view *b = (struct fast_view *)s->view;
	const struct fast_template *t = &s->templates[s->template[j]];
	const struct fast_mbuf *m = ((struct fast_mbuf *const *)s->vec)[s->at[j]];
	const uint8_t *f = m->buf_addr + m->data_off;
	const uint64_t bound = s->flows[j]->bound;
	struct hops_of_ifa room;
	uint32_t watch = 0, end = s->policies < MOST_TRIED ? s->policies : MOST_TRIED;
	in_register(t);
	if (b->hot & FAST_HOT_INTERFACES)
		stop_busy(b, s->template[j] == FAST_NONE || !t->sound ? NULL : t, f);
	if (s->template[j] == FAST_NONE || !t->sound || !t->all_hops)
		return;
	if ((bound & 0xffff) == s->generation) {
		watch = bound >> 16 & 0xff;
		end = watch < s->policies ? watch + 1 : 0;
	}
	if (t->ifa) {
		if (translate(t, f, &room))
			return;
		f = room.before;
	}
	for (; watch < end; watch++)
		if (b->policies[watch].fabric)
			mark_thresholds(b, t, &b->policies[watch], f);
}

// defer leaves packet j, of a flow, to Go, with what is of its flow or its full queues and comes behind it.
static inline void defer(struct fast_state *s, uint32_t j)
{
	const struct fast_view *b = (const struct fast_view *)s->view;
	s->flows[j]->bound |= FAST_HELD;
	if (unlikely(b->more))
		mark_deferred(s, j);
	if (unlikely(b->hot & FAST_HOT_QUEUES))
		hold(s, j);
}

// remember has goes_again know the next packet of a flow, if it is as packet j, whose hop at alone has a full queue.
static __attribute__((noinline)) void remember(struct fast_state *s, uint32_t j, const struct fast_template *t, const uint8_t *f, uint32_t at, uint32_t place, uint32_t share)
{
	const struct fast_view *b = (const struct fast_view *)s->view;
	struct fast_flow *w = s->flows[j];
	struct fast_again *g = &w->cold->again;
	const uint8_t *hop = f + t->stack;
	if (!(t->tells & FAST_AGAIN) || b->records || t->all_hops > FAST_MOST_HOPS || b->models || b->policies[w->bound >> 16 & 0xff].ptp)
		return;
	for (uint32_t i = 0; i < t->all_hops; i++, hop += t->hop_len)
		g->queues[i] = (uint8_t)queue_of(t, hop);
	g->epoch = (uint32_t)b->epoch;
	g->path = w->path_hash;
	g->watch = (uint8_t)(w->bound >> 16);
	g->hop = (uint8_t)at;
	g->place = (uint8_t)place;
	g->share = (uint8_t)share;
}

// tally_one is tally_all for one queue, most packets' way to be tallied.
static inline bool tally_one(struct fast_state *s, struct fast_tallies *a, const struct fast_template *t, const uint8_t *f, uint32_t at, uint8_t watch, uint32_t j, struct crossed *c)
{
	const uint8_t *hop = f + t->stack + at * t->hop_len;
	if (!tell_hop(t, hop, c))
		return false;
	const uint32_t place = place_of(a, c->key);
	if (place == FAST_RECORDS || a->held >> place & 1 || !goes_on(&a->of[place], c, watch, s->now, 1))
		return false;
	struct fast_tally *q = &a->of[place];
	const uint32_t share = share_of(s->flows[j], q->id);
	tally(s, a, q, place, share, c, j);
	s->records[j] = q->id;
	if (share != FAST_NO_SHARE)
		remember(s, j, t, f, at, place, share);
	return true;
}

// tally_all adds packet j to the tallies of the queues of some of its hops. It returns false, and has done nothing, where one of them is not
// in an episode that is recorded, or the packet is more than one that goes on with it.
static __attribute__((noinline)) bool tally_all(struct fast_state *s, struct fast_tallies *a, const struct fast_template *t, const uint8_t *f, uint32_t which, uint8_t watch, uint32_t j, struct crossed *c)
{
	uint8_t places[FAST_MOST_HOPS];
	const uint32_t n = (uint32_t)__builtin_popcount(which);
	uint32_t k = 0;
	for (uint32_t left = which; left; left &= left - 1) {
		if (!tell_hop(t, f + t->stack + (uint32_t)__builtin_ctz(left) * t->hop_len, c))
			return false;
		const uint32_t place = place_of(a, c->key);
		if (place == FAST_RECORDS || a->held >> place & 1 || !goes_on(&a->of[place], c, watch, s->now, n))
			return false;
		places[k++ % FAST_MOST_HOPS] = (uint8_t)place;
	}
	k = 0;
	for (uint32_t left = which; left; left &= left - 1) {
		tell_values(t, f + t->stack + (uint32_t)__builtin_ctz(left) * t->hop_len, c);
		const uint32_t place = places[k++ % FAST_MOST_HOPS];
		struct fast_tally *q = &a->of[place];
		tally(s, a, q, place, share_of(s->flows[j], q->id), c, j);
		s->records[j] = q->id;
	}
	return true;
}

// tally_other adds what a hop of packet j, which has no flow, says of its queue.
static inline void tally_other(struct fast_state *s, struct fast_tallies *a, const struct fast_template *t, const uint8_t *hop, uint32_t j, struct crossed *c)
{
	const struct fast_view *b = (const struct fast_view *)s->view;
	if (!name_queue(t, hop, c))
		return;
	const uint32_t place = place_of(a, c->key);
	if (place == FAST_RECORDS)
		return;
	tell_values(t, hop, c);
	if (unlikely(b->models || b->others.latency != 1 || b->others.queue != 1)) {
		const struct fast_model *unit = model_of(b, be32(hop));
		if (c->latency != UINT32_MAX)
			c->latency = scaled(c->latency, unit->latency);
		if (c->occupancy != UINT32_MAX)
			c->occupancy = scaled(c->occupancy, unit->queue);
	}
	struct fast_tally *q = &a->of[place];
	a->others |= UINT64_C(1) << place;
	s->tallied |= UINT64_C(1) << j;
	add(&q->others, c, q->usual);
	const uint32_t weight = pick(q);
	if (unlikely(weight))
		draw(s, c->latency, c->bytes, place, j, weight, FAST_KEEPS_SHARE);
}

// note_other adds a packet without a flow to the tallies of the queues on its way. It returns false where it cannot read the hops as package
// event does.
static __attribute__((noinline)) bool note_other(struct fast_state *s, uint32_t j)
{
	const struct fast_template *t = &s->templates[s->template[j]];
	const struct fast_mbuf *m = ((struct fast_mbuf *const *)s->vec)[s->at[j]];
	const uint8_t *f = m->buf_addr + m->data_off;
	struct crossed c = {.bytes = m->pkt_len - t->removed, .ecn = ecn_of(t, f)};
	struct fast_tallies *a = (struct fast_tallies *)((const struct fast_view *)s->view)->tallies;
	struct hops_of_ifa room;
	in_register(t);
	if (!t->all_hops)
		return true;
	if (!(t->tells & FAST_HOPS) || t->all_hops > FAST_MOST_HOPS)
		return false;
	if (t->ifa) {
		if (translate(t, f, &room))
			return false;
		f = room.before;
	}
	const size_t step = t->hop_len;
	for (const uint8_t *hop = f + t->stack, *end = hop + t->all_hops * step; hop < end; hop += step)
		tally_other(s, a, t, hop, j, &c);
	return true;
}

// meets passes a packet without the general path: no_event has compared all of it but links, and it crosses a queue that may be in
// an episode. It returns false where the general path has to look, such as at links, sequence numbers, or latencies in another unit
// than nanoseconds, which may have wrapped.
static __attribute__((noinline)) bool meets(struct fast_state *s, uint32_t j)
{
	const struct fast_template *t = &s->templates[s->template[j]];
	struct fast_flow *w = s->flows[j];
	struct fast_mbuf *m = ((struct fast_mbuf *const *)s->vec)[s->at[j]];
	struct fast_view *b = (struct fast_view *)s->view;
	struct fast_policy *p = &b->policies[w->bound >> 16 & 0xff];
	const uint32_t bytes = m->pkt_len - t->removed;
	const uint64_t crosses = b->crosses;
	uint32_t which = (uint32_t)b->full;
	uint8_t *f = m->buf_addr + m->data_off;
	in_register(t);
	b->full = b->crosses = 0;
	if (!crosses || !p->alone || !(t->tells & FAST_ALONE) || p->sample_left == 1 || w->next_refresh == 0 || w->bound & FAST_UNSETTLED || !count(w, bytes))
		return false;
	w->path_seen = s->tick;
	p->sample_left--;
	if (unlikely(!which))
		which = which_full(b, t, p, f);
	const bool keeps = t->marked || w->bound & FAST_SUSPECT;
	if (unlikely(keeps)) {
		s->kept |= UINT64_C(1) << j;
		s->types += t->types;
	}
	if (likely(t->tells & FAST_TELLS)) {
		struct fast_tallies *a = (struct fast_tallies *)b->tallies;
		const uint8_t watch = w->bound >> 16 & 0xff;
		struct crossed c = {.bytes = bytes, .ecn = ecn_of(t, f)};
		if (likely(which & (which - 1) ? tally_all(s, a, t, f, which, watch, j, &c) : tally_one(s, a, t, f, (uint32_t)__builtin_ctz(which), watch, j, &c))) {
			if (s->strip && !b->records && !keeps)
				strip(m, f, t);
			return true;
		}
	}
	hold(s, j);
	s->full_hops[j] = which;
	s->samples |= UINT64_C(1) << j;
	s->met |= UINT64_C(1) << j;
	return true;
}

// pass_general passes packet j where it gives no event by the general path.
static __attribute__((noinline)) bool pass_general(struct fast_state *s, uint32_t j)
{
	const struct fast_view *b = (const struct fast_view *)s->view;
	if (unlikely(b->full | b->crosses) && meets(s, j))
		return true;
	int told = general(s, j);
	if (told == GENERAL_DEFER)
		return false;
	struct fast_flow *w = s->flows[j];
	const struct fast_mbuf *m = ((struct fast_mbuf *const *)s->vec)[s->at[j]];
	count(w, m->pkt_len - s->templates[s->template[j]].removed); // there is room: general has asked
	if (told == GENERAL_SAME_PATH)
		w->path_seen = s->tick;
	if (s->met >> j & 1)
		hold(s, j);
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

// is_sound tells whether a packet of a template of IFA has such hops.
static __attribute__((noinline)) bool is_sound(const struct fast_template *t, const struct fast_mbuf *m)
{
	return t->sound == 2 && laid_out(t, m->buf_addr + m->data_off);
}

// pass_packets is fast_pass from packet j on; it returns how far it came. The compiler makes four loops of it. Without ifa it
// ends at the first packet with IFA.
// more: a watch asks for more than paths and latencies of hops, or for facts; nodes have a unit of latency; packets
// keep their INT or have sequence numbers. Each hop's queue, utilization and latency are compared with thresholds,
// too, latencies are multiplied, links are looked up, numbers and facts of the packet are read.
// Without more, 40 instructions a packet less, it ends at the first packet of a flow with windows, and where a queue is
// suspected of congestion, or in an episode: with more it goes on from there.
static inline __attribute__((always_inline)) size_t pass_packets(struct fast_state *s, size_t j, const bool more, const bool ifa)
{
	struct fast_mbuf *const *vec = (struct fast_mbuf *const *)s->vec;
	struct limits l = {0};
	const size_t n = s->ints;
	const uint32_t past = s->refresh + 1, tick = s->tick;
	const bool strips = !more || s->strip, keep = s->keep & FAST_KEEP, asks = s->keep & FAST_ASK;
	use(&l, s, 0);
	for (; unlikely((keep || s->look) && j < n); j++) {
		if (s->flows[j] != NULL) {
			defer(s, (uint32_t)j);
			s->look = 0;
		}
		s->deferred_at[s->deferred++] = (uint8_t)j;
	}
	for (; j < n; j++) {
		struct fast_flow *w = s->flows[j];
		const struct fast_template *t = &s->templates[s->template[j]];
		in_register(t);
		if (unlikely(w == NULL)) { // the table has no room for it: there is nothing that it could be news to
			if (t->sound != 1 && !is_sound(t, vec[s->at[j]]))
				goto alone;
			if (unlikely(((const struct fast_view *)s->view)->hot & FAST_HOT_QUEUES) && !note_other(s, (uint32_t)j))
				goto alone;
			s->flowless |= UINT64_C(1) << j;
			continue;
		}
		uint64_t bound = load64((const uint8_t *)w + offsetof(struct fast_flow, bound)) ^ (ifa ? t->in_flow & ~FAST_IFA : t->in_flow);
		uint64_t other = (bound ^ l.state) & l.mask;
		if (unlikely(other)) {
			if (!ifa && t->ifa)
				break;
			const uint64_t minor = FAST_UNSETTLED | FAST_SUSPECT | FAST_PATH_HOPS;
			if (other & ~minor && (other = use(&l, s, bound)) & ~minor)
				goto general;
			if (!more && other == FAST_SUSPECT && !(s->kept & (s->kept - 1)))
				goto general; // there are few of them: the others of the burst are worth more
			if (!more && other)
				break;
		}
		if (unlikely((w->next_refresh - past) & l.policy->refresh))
			goto defer;
		struct fast_mbuf *m = vec[s->at[j]];
		uint8_t *f = m->buf_addr + m->data_off;
		if (more && unlikely(other | asks) && ((other && !is_expected(w, t, l.policy, f)) || (asks && (!t->facts || facts_of(s, t, f) != w->facts))))
			goto general;
		if (unlikely(!(ifa && t->ifa ? no_event_of_ifa(s, j, t, &l, w, f, more) : no_event(s, j, t, &l, w, f, more))))
			goto general;
		if (unlikely(!count(w, m->pkt_len - t->removed)))
			goto defer;
		w->path_seen = tick;
		if (ifa)
			s->types += t->types;
		if (more && unlikely(other)) {
			take_in(w, t, l.policy, f);
			if (t->marked || w->bound & FAST_SUSPECT) {
				s->types += ifa ? 0 : t->types;
				finish(s, (uint32_t)j, l.policy);
				continue;
			}
		}
		if (unlikely(--l.policy->sample_left == 0) && is_sample(l.policy, s->hashes[j]))
			s->samples |= UINT64_C(1) << j;
		else if (ifa && t->ifa && likely(strips))
			strip_ifa(m, f, t);
		else if (likely(strips))
			strip(m, f, t);
		continue;
	general:
		if (pass_general(s, (uint32_t)j))
			continue;
	defer:
		defer(s, (uint32_t)j);
	alone:
		s->deferred_at[s->deferred++] = (uint8_t)j;
		if (!more && ((const struct fast_view *)s->view)->hot) {
			j++;
			break;
		}
	}
	return j;
}

static __attribute__((noinline)) size_t pass_with_more(struct fast_state *s, size_t from)
{
	return pass_packets(s, from, true, false);
}

static __attribute__((noinline)) size_t pass_with_ifa(struct fast_state *s, size_t from)
{
	return pass_packets(s, from, false, true);
}

static __attribute__((noinline)) void pass_with_all(struct fast_state *s, size_t from)
{
	pass_packets(s, from, true, true);
}

// is_quiet_burst tells whether the loops without more may be used.
static inline bool is_quiet_burst(const struct fast_state *s)
{
	const struct fast_view *b = (const struct fast_view *)s->view;
	return !(b->more || b->hot || s->numbered || s->keep) && s->strip;
}

// pass_rest passes the packets from one on that the first loop has left.
static __attribute__((noinline)) void pass_rest(struct fast_state *s, size_t from)
{
	if (is_quiet_burst(s) && s->templates[s->template[from]].ifa)
		from = pass_with_ifa(s, from);
	if (from < s->ints)
		from = pass_with_more(s, from);
	if (from < s->ints)
		pass_with_all(s, from);
}

// pass_from passes the packets from one on.
static __attribute__((noinline)) void pass_from(struct fast_state *s, size_t from)
{
	if (is_quiet_burst(s))
		from = pass_packets(s, from, false, false);
	if (unlikely(from < s->ints))
		pass_rest(s, from);
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

// fast_strip takes INT out of the packets whose bits are set in which, all with templates.
void fast_strip(struct fast_state *s, uint64_t which)
{
	struct fast_mbuf *const *vec = (struct fast_mbuf *const *)s->vec;
	for (; which; which &= which - 1) {
		uint32_t j = (uint32_t)__builtin_ctzll(which);
		struct fast_mbuf *m = vec[s->at[j]];
		const struct fast_template *t = &s->templates[s->template[j]];
		in_register(t);
		strip(m, m->buf_addr + m->data_off, t);
	}
}

// pass_flowless is the rest of passing packets that have no flow.
static __attribute__((noinline)) void pass_flowless(struct fast_state *s)
{
	for (uint64_t left = s->flowless; left; left &= left - 1)
		s->types += s->templates[s->template[__builtin_ctzll(left)]].types;
	if (s->strip)
		fast_strip(s, s->flowless);
}

// fast_pass passes every packet that is as its flow's last one was.
void fast_pass(struct fast_state *s)
{
	s->deferred = 0;
	s->samples = s->met = s->kept = s->flowless = s->tallied = 0;
	s->draws = 0;
	pass_from(s, unlikely(s->look > 1) ? pass_until_look(s) : 0);
	if (unlikely(s->flowless))
		pass_flowless(s);
}

// fast_strip_frame takes INT out of one frame that is as t says, and tells by how many bytes the
// packet begins later.
uint32_t fast_strip_frame(const struct fast_template *t, uint8_t *frame, uint32_t len, uint32_t pkt_len)
{
	struct fast_mbuf m = {.buf_addr = frame, .data_len = (uint16_t)len, .pkt_len = pkt_len};
	strip(&m, frame, t);
	return m.data_off;
}

// strip_or_defer is strip_unwatched where no template alone says that all packets are sound.
static __attribute__((noinline)) void strip_or_defer(struct fast_state *s, uint64_t types)
{
	const uint32_t n = s->ints;
	bool sound = s->strip;
	for (uint32_t j = 0; sound && j < n; j++) {
		const struct fast_template *t = &s->templates[s->template[j]];
		sound = t->sound == 1 || is_sound(t, ((struct fast_mbuf *const *)s->vec)[s->at[j]]);
	}
	if (sound) {
		s->types = types;
		fast_strip(s, UINT64_MAX >> (FAST_BURST - n));
		return;
	}
	for (uint32_t j = 0; j < n; j++)
		s->deferred_at[j] = (uint8_t)j;
	s->deferred = n;
}

// strip_unwatched takes INT out of all packets, where nobody asks for their flows; it defers all where one
// is not sound, or where they keep their INT.
static __attribute__((noinline)) void strip_unwatched(struct fast_state *s)
{
	const uint32_t n = s->ints;
	bool sound = s->strip;
	uint64_t types = 0;
	for (uint32_t j = 0; j < n; j++) {
		const struct fast_template *t = &s->templates[s->template[j]];
		sound &= t->sound;
		types += t->types;
	}
	if (!sound) {
		strip_or_defer(s, types);
		return;
	}
	s->types = types;
	fast_strip(s, UINT64_MAX >> (FAST_BURST - n));
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
