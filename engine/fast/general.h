//go:build cgo

// The general path: packets that give no event although their flow is not settled, watches ask
// for facts, nodes have units of their own, or INT has sequence numbers or no hops.

#ifndef INTSINK_FAST_GENERAL_H
#define INTSINK_FAST_GENERAL_H

#include "compare.h"

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

// general tells whether packet j gives no event; then it updates what its flow knows, but for
// the totals.
static __attribute__((noinline)) int general(struct fast_state *s, uint32_t j)
{
	const struct fast_template *t = &s->templates[s->template[j]];
	struct fast_flow *w = s->flows[j];
	const struct fast_mbuf *m = ((struct fast_mbuf *const *)s->vec)[s->at[j]];
	const uint8_t *f = m->buf_addr + m->data_off;
	struct fast_view *b = (struct fast_view *)s->view;
	const uint32_t watch = w->bound >> 16 & 0xff, bytes = w->bytes + (m->pkt_len - t->removed);
	if (s->template[j] == FAST_NONE || !t->sound || w->bound & FAST_HELD || (w->bound & 0xffff) != s->generation || w->packets == UINT32_MAX || bytes < w->bytes)
		return GENERAL_DEFER;
	if (s->keep & FAST_ASK && (!t->facts || facts_of(s, t, f) != w->facts))
		return GENERAL_DEFER;
	if (watch == FAST_NO_WATCH) {
		s->mx += t->mx;
		return GENERAL_NO_WATCH;
	}
	const struct fast_policy *p = &b->policies[watch];
	if (watch >= s->policies || p->in_go || w->next_refresh == 0 || // a new flow
	    ~(s->refresh - w->next_refresh) & p->refresh)
		return GENERAL_DEFER;
	struct windows v = {.end = w->end_window, .change = false};
	memcpy(v.hops, w->windows, sizeof v.hops);
	if (t->all_hops) {
		if (!same_path(w, t, f) || !latencies_pass(s, w, t, p, f, &v))
			return GENERAL_DEFER;
		const bool may_reach = !p->factor || !v.summed || v.sum >= p->latency || p->tx != UINT32_MAX;
		if (p->fabric && ((may_reach && mark_thresholds(b, t, p, f)) || (b->hot && !no_episode(b, t, p, f))))
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
	s->mx += t->mx;
	return t->all_hops ? GENERAL_SAME_PATH : GENERAL_NO_PATH;
}

#endif
