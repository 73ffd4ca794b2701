//go:build cgo && !purego

#ifndef INTSINK_FAST_STRIP_H
#define INTSINK_FAST_STRIP_H

#include "bytes.h"

// move copies the n bytes in front of INT by so many bytes to the right. Most fit into two
// loads, which may overlap; more go from the back, so that nothing is written over before
// it is read.
static inline void move(uint8_t *f, uint32_t n, uint32_t by)
{
#ifdef FAST_AVX2
	if (likely(n >= 32)) {
		__m256i head = _mm256_loadu_si256((const __m256i *)f);
		for (; unlikely(n > 64); n -= 32)
			_mm256_storeu_si256((__m256i *)(f + n - 32 + by), _mm256_loadu_si256((const __m256i *)(f + n - 32)));
		__m256i tail = _mm256_loadu_si256((const __m256i *)(f + n - 32));
		_mm256_storeu_si256((__m256i *)(f + by), head);
		_mm256_storeu_si256((__m256i *)(f + n - 32 + by), tail);
		return;
	}
#endif
	memmove(f + by, f, n);
}

// folded16 is the one's complement sum of the two halves of s; zero only for zero.
static inline uint32_t folded16(uint32_t s)
{
	return (s + (s << 16 | s >> 16)) >> 16;
}

// repaired is what checksum c becomes; gone is the sum of what goes.
static inline __attribute__((always_inline)) uint16_t repaired(const struct fast_sum *c, uint32_t add, uint32_t was, uint32_t gone)
{
	uint32_t is = folded16((was ^ c->flip) + ((gone & c->removed) ^ c->flip) + add) ^ c->flip;
	return likely(was | c->always) ? (uint16_t)is : 0;
}

static inline __attribute__((always_inline)) void repair_length(uint8_t *f, uint32_t len, const struct fast_length *l)
{
	store16(f + l->at, __builtin_bswap16((uint16_t)(len - l->base)));
}

static inline void repair_edit(uint8_t *f, const struct fast_edit *e)
{
	store16(f + e->at, (uint16_t)((load16(f + e->at) & e->keep) | e->value));
}

// repair_all is for templates with much to repair.
static __attribute__((noinline)) void repair_all(uint8_t *f, uint32_t len, const struct fast_template *t, uint32_t gone, uint16_t port)
{
	for (uint32_t i = 0; i < t->lengths; i++)
		repair_length(f, len, &t->length[i]);
	store16(f + t->port_to, port);
	for (uint32_t i = 0; i < t->edits; i++)
		repair_edit(f, &t->edit[i]);
	for (uint32_t i = 0; i < t->sums; i++)
		store16(f + t->sum[i].at, repaired(&t->sum[i], t->sum[i].add, load16(f + t->sum[i].at), gone));
}

// repairs are two lengths and two checksums, at offsets from an IP header. One of either
// stands there twice: both checksums are read before one is written.
struct repairs {
	struct fast_length length[2];
	struct fast_sum sum[2];
};

// What most packets need. The compiler makes code of its own for each: offsets become
// numbers in its instructions.
static const struct repairs ipv4_udp = {{{2, 0}, {24, 20}}, {{10, 0xffff, 0xffff, 0, 0}, {26, 0, 0, 0xffff, 0}}};
static const struct repairs ipv4_tcp = {{{2, 0}, {2, 0}}, {{10, 0xffff, 0xffff, 0, 0}, {36, 0xffff, 0xffff, 0xffff, 0}}};
static const struct repairs ipv6_udp = {{{4, 40}, {44, 40}}, {{46, 0, 0, 0xffff, 0}, {46, 0, 0, 0xffff, 0}}};
static const struct repairs ipv6_tcp = {{{4, 40}, {4, 40}}, {{56, 0xffff, 0xffff, 0xffff, 0}, {56, 0xffff, 0xffff, 0xffff, 0}}};
static const struct repairs ipv4_alone = {{{2, 0}, {2, 0}}, {{10, 0xffff, 0xffff, 0, 0}, {10, 0xffff, 0xffff, 0, 0}}};

static inline __attribute__((always_inline)) void repair(uint8_t *f, uint32_t len, const struct fast_template *t, const struct repairs *r, uint32_t gone, uint16_t port)
{
	uint8_t *h = f + t->ip;
	len -= t->ip;
	repair_length(h, len, &r->length[0]);
	repair_length(h, len, &r->length[1]);
	store16(f + t->port_to, port);
	for (uint32_t i = 0; unlikely(i < t->edits); i++)
		repair_edit(f, &t->edit[i]);
	uint32_t a = load16(h + r->sum[0].at), b = load16(h + r->sum[1].at);
	a = repaired(&r->sum[0], t->sum[0].add, a, gone);
	b = repaired(&r->sum[1], t->sum[1].add, b, gone);
	store16(h + r->sum[0].at, (uint16_t)a);
	store16(h + r->sum[1].at, (uint16_t)b);
}

// strip takes INT out of the packet m, which is as t says, and repairs what its insertion
// changed.
static inline __attribute__((always_inline)) void strip(struct fast_mbuf *m, const struct fast_template *t)
{
	uint8_t *f = m->buf_addr + m->data_off;
	uint32_t n = t->removed, gone = 0;
	uint16_t port = load16(f + t->port_from);
	if (likely(t->sum_removed))
		gone = fold(sum_of(f + t->start, f + t->sum_end, t->tail) + (~(uint32_t)port & t->port_mask));
	move(f, t->start, n);
	f += n;
	uint32_t len = m->pkt_len - n;
	m->data_off += (uint16_t)n;
	m->data_len -= (uint16_t)n;
	m->pkt_len = len;
	switch (t->repair) {
	case FAST_IPV4_UDP:
		repair(f, len, t, &ipv4_udp, gone, port);
		break;
	case FAST_IPV4_TCP:
		repair(f, len, t, &ipv4_tcp, gone, port);
		break;
	case FAST_IPV6_UDP:
		repair(f, len, t, &ipv6_udp, gone, port);
		break;
	case FAST_IPV6_TCP:
		repair(f, len, t, &ipv6_tcp, gone, port);
		break;
	case FAST_IPV4_ALONE:
		repair(f, len, t, &ipv4_alone, gone, port);
		break;
	default:
		repair_all(f, len, t, gone, port);
	}
}

#endif
