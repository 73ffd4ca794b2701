//go:build cgo && !purego

// C: a sample that no collector takes now, for their budgets, is counted as shed here; Go need not see it.

#ifndef INTSINK_FAST_SHED_H
#define INTSINK_FAST_SHED_H

#include "fast.h"

// not_zero is x, or 1 for 0, which says in a flow that there is no such time.
static inline uint32_t not_zero(uint32_t x)
{
	return x + !x;
}

// shed is the rest of shed_sample, at a time at which some samples are shed.
static __attribute__((noinline)) bool shed(struct fast_state *s, struct fast_policy *p, uint32_t j)
{
	struct fast_flow *w = s->flows[j];
	const struct fast_mbuf *m = ((struct fast_mbuf *const *)s->vec)[s->at[j]];
	if (!p->shed_any && (!(p->shed_templates >> s->template[j] & 1) || m->pkt_len < p->shed_length))
		return false;
	if (!(w->bound & FAST_HAS_COLD) || !s->strip)
		return false;
	uint64_t random = (s->hashes[j] ^ (uint64_t)s->now) * UINT64_C(0x9e3779b97f4a7c15); // event.randomOf
	uint64_t jitter = (uint64_t)((unsigned __int128)random * p->refresh_span >> 64);
	w->next_refresh = not_zero((uint32_t)((uint64_t)(s->now + p->refresh_least + (int64_t)jitter) >> FAST_REFRESH_SHIFT) + 1);
	w->last_report = not_zero(s->tick);
	w->last_events = FAST_SAMPLE;
	w->cold->shed++;
	p->shed++;
	return true;
}

// shed_sample is event.FastView.ShedSample: it does with packet j, a sample, what a report of it would do, and
// counts it as shed. False: Go has to see the packet.
static inline bool shed_sample(struct fast_state *s, struct fast_policy *p, uint32_t j)
{
	return s->now < p->shed_until && shed(s, p, j);
}

#endif
