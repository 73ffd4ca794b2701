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
static inline uint16_t repaired(const struct fast_sum *c, uint32_t was, uint32_t gone)
{
	uint32_t is = folded16((was ^ c->flip) + ((gone & c->removed) ^ c->flip) + c->add) ^ c->flip;
	return likely(was | c->always) ? (uint16_t)is : 0;
}

static inline void repair_lengths(uint8_t *f, uint32_t len, const struct fast_length *l)
{
	store16(f + l->at, __builtin_bswap16((uint16_t)(len - l->base)));
}

// repair_all is for templates with much to repair.
static __attribute__((noinline)) void repair_all(uint8_t *f, uint32_t len, const struct fast_template *t, uint32_t gone, uint16_t port)
{
	for (uint32_t i = 0; i < t->lengths; i++)
		repair_lengths(f, len, &t->length[i]);
	store16(f + t->port_to, port);
	for (uint32_t i = 0; i < t->edits; i++) {
		const struct fast_edit *e = &t->edit[i];
		store16(f + e->at, (uint16_t)((load16(f + e->at) & e->keep) | e->value));
	}
	for (uint32_t i = 0; i < t->sums; i++)
		store16(f + t->sum[i].at, repaired(&t->sum[i], load16(f + t->sum[i].at), gone));
}

// strip takes INT out of the packet m, which is as t says, and repairs what its insertion
// changed.
static inline __attribute__((always_inline)) void strip(struct fast_mbuf *m, const struct fast_template *t)
{
	uint8_t *f = m->buf_addr + m->data_off;
	uint32_t n = t->removed, gone = 0;
	uint16_t port = load16(f + t->port_from);
	if (likely(t->sum_removed))
		gone = fold(sum_of(f + t->start, n) + (~(uint32_t)port & t->port_mask));
	move(f, t->start, n);
	f += n;
	uint32_t len = m->pkt_len - n;
	m->data_off += (uint16_t)n;
	m->data_len -= (uint16_t)n;
	m->pkt_len = len;
	if (unlikely(!t->few)) {
		repair_all(f, len, t, gone, port);
		return;
	}
	// One checksum stands there twice: both are read before one is written.
	repair_lengths(f, len, &t->length[0]);
	repair_lengths(f, len, &t->length[1]);
	store16(f + t->port_to, port);
	uint8_t *a = f + t->sum[0].at, *b = f + t->sum[1].at;
	uint16_t x = repaired(&t->sum[0], load16(a), gone), y = repaired(&t->sum[1], load16(b), gone);
	store16(a, x);
	store16(b, y);
}

#endif
