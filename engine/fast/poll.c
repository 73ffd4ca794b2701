//go:build cgo

// C loop poll: takes bursts from receive to transmit for as long as Go has nothing to do with them.

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 199309L // clock_gettime
#endif

#include <time.h>

#include "bytes.h"

// The scheduler of Go makes a goroutine wait every ten milliseconds where it finds it in Go: a worker in C
// polls on. And a call from Go costs as much as a packet or two.

// clock_now is the time of Go's clock, which never goes back.
static int64_t clock_now(const struct fast_loop *l)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + l->clock;
	return now > l->now ? now : l->now;
}

// arrived counts a burst of n packets that was received, and takes its time.
static void arrived(struct fast_loop *l, uint32_t n)
{
	l->bursts[(32 - __builtin_clz(n)) & (FAST_BURST_SIZES - 1)]++;
	l->packets += n;
	l->now = clock_now(l);
	if (l->began == 0)
		l->began = l->now;
}

// is_due tells whether Go wants to see the burst.
static bool is_due(const struct fast_loop *l)
{
	return l->due <= 0 || l->now >= l->due_at ||
	       __atomic_load_n((const uint64_t *)l->announced, __ATOMIC_ACQUIRE) != l->synced;
}

// is_done tells whether nothing is left to do with the n packets of l->vec but to transmit them; if
// not, l->reason says how far it came.
static bool is_done(struct fast_loop *l, struct fast_link_ends *k, uint32_t n)
{
	struct fast_state *s = (struct fast_state *)k->state;
	l->n = n;
	if (unlikely(is_due(l))) {
		l->reason = FAST_DUE;
		return false;
	}
	s->vec = l->vec;
	s->link_number = l->at;
	s->n = n;
	s->now = l->now;
	s->tick = (uint32_t)(l->now >> FAST_TICK_SHIFT);
	s->refresh = (uint32_t)(l->now >> FAST_REFRESH_SHIFT);
	s->look = l->look <= 0 && l->now >= l->look_at ? l->look_from : 0;
	s->types = s->deferred = 0;
	s->samples = s->met = s->kept = s->tallied = 0;
	fast_receive(s);
	if (unlikely(s->unknown | s->missing | s->samples | s->kept | s->tallied | s->deferred | (k->plain & (n - s->ints)))) {
		l->reason = FAST_BEGUN;
		return false;
	}
	l->done++;
	l->due -= s->ints;
	l->look -= s->ints;
	k->received += n;
	k->with_int += s->ints;
	k->types += s->types;
	return true;
}

// is_quiet polls a link, and tells whether there is nothing for Go to do; if there is, l->reason
// says what.
static bool is_quiet(struct fast_loop *l, struct fast_link_ends *k)
{
	struct fast_mbuf **vec = (struct fast_mbuf **)l->vec, **back = (struct fast_mbuf **)l->back;
	uint32_t n = k->network.receive(k->network.queue, vec), sent = 0;
	if (n > 0) {
		arrived(l, n);
		if (!is_done(l, k, n))
			return false;
		sent = k->host.transmit(k->host.queue, vec, (uint16_t)n);
	}
	uint32_t received = k->host.receive(k->host.queue, back);
	if (unlikely(received > 0 || sent < n)) {
		if (received > 0)
			arrived(l, received);
		l->n = n;
		l->transmitted = sent;
		l->received = received;
		l->reason = FAST_SENT;
		return false;
	}
	k->forwarded += n;
	return true;
}

// end_poll counts a poll of all links, and returns the gap between it and the one before.
static int64_t end_poll(struct fast_loop *l)
{
	bool found = l->began != 0;
	if (!found)
		l->began = l->now = clock_now(l);
	int64_t gap = l->began - l->last;
	if (gap > l->longest)
		l->longest = gap;
	if (l->empty == 0)
		l->busy_ns += gap;
	l->polls[found]++;
	l->empty = found ? 0 : l->empty + 1;
	l->last = l->began;
	l->began = 0;
	l->at = 0;
	return gap;
}

// fast_poll polls all links in turn, from l->at on, until there is something for Go to do.
void fast_poll(struct fast_loop *l)
{
	l->done = 0;
	for (;;) {
		while (l->at < l->links) {
			if (!is_quiet(l, &l->link[l->at++]))
				return;
		}
		int64_t gap = end_poll(l);
		if (l->now >= l->time || gap >= l->long_gap || l->empty > l->most_empty) {
			l->reason = FAST_PAUSE;
			return;
		}
	}
}
