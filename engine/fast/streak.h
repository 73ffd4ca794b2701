//go:build cgo

// C: packets in a row that are of one template.

#ifndef INTSINK_FAST_STREAK_H
#define INTSINK_FAST_STREAK_H

#include "key.h"

// is_special tells whether the port at p is one of four.
static inline bool is_special(uint64_t ports, const uint8_t *p)
{
#ifdef FAST_AVX2
	__m128i x = _mm_cmpeq_epi16(_mm_set1_epi16((short)load16(p)), _mm_cvtsi64_si128((long long)ports));
	return !_mm_testz_si128(x, x);
#else
	const uint64_t ones = UINT64_C(0x0001000100010001);
	uint64_t x = ports ^ load16(p) * ones;
	return ((x - ones) & ~x & ones << 15) != 0;
#endif
}

// has_more_blocks tells whether 32 bytes each, behind the first two of them, are as t wants them.
static inline bool has_more_blocks(const struct fast_template *t, const uint8_t *f, uint16_t pkt_len)
{
	for (uint32_t i = 2; unlikely(i < t->blocks); i++)
		if (!is_block(f + t->at[i], &t->block[i], pkt_len))
			return false;
	return true;
}

// is_template tells whether a packet is as t says. Two blocks are compared in any case.
static inline bool is_template(const struct fast_template *t, uint64_t special, const uint8_t *f, uint32_t len, uint32_t pkt_len)
{
	if (unlikely(len < t->need) || unlikely(pkt_len > FAST_MAX_FRAME))
		return false;
	const uint16_t l = (uint16_t)pkt_len;
	if (unlikely(!is_block(f + t->at[0], &t->block[0], l)) || unlikely(!is_block(f + t->at[1], &t->block[1], l)))
		return false;
	return has_more_blocks(t, f, l) && likely(!is_special(special, f + t->special_at));
}

enum {
	LONG_STREAK = 4,  // packets: a shorter streak costs more than it saves
	STREAKS_LUCK = 2, // how many more streaks may be short than long
};

// streak tells how many packets from vec[i] on are as t says, which has INT. They become packets j
// and so on. It finds what recognise would find, 3.7 ns less a packet; mixed headers cost 0.8 ns more.
static __attribute__((noinline)) size_t streak(struct fast_state *s, const struct fast_template *t, struct fast_mbuf *const *vec, const size_t from, size_t n, size_t j)
{
	const uint64_t special = s->special;
	size_t i;
	for (i = from; i < n; i++, j++) {
		const struct fast_mbuf *m = vec[i];
		const uint8_t *f = m->buf_addr + m->data_off;
		if (!is_template(t, special, f, m->data_len, m->pkt_len))
			break;
		s->at[j] = (uint8_t)i;
		s->template[j] = t->number;
		set_key(s, j, t, f + t->src, f + t->dst, f + t->addresses, t->version6);
	}
	return i - from;
}

// skip is the place of the first packet from vec[i] on that is not as t says, which is
// plain; n where all are. It finds what recognise would find, with all that is compared in
// registers.
static __attribute__((noinline)) size_t skip(const struct fast_state *s, const struct fast_template *t, struct fast_mbuf *const *vec, size_t i, size_t n)
{
	const struct fast_block block = t->block[0];
	const uint32_t at = t->at[0], port = t->special_at, need = t->need;
#ifdef FAST_AVX2
	const piece want = swapped(load_piece(block.want)), mask = swapped(load_piece(block.mask));
#endif
	for (; i < n; i++) {
		const struct fast_mbuf *m = vec[i];
		const uint8_t *f = m->buf_addr + m->data_off;
		if (m->data_len < need || m->pkt_len > FAST_MAX_FRAME || is_special(s->special, f + port))
			break;
#ifdef FAST_AVX2
		if (!_mm256_testz_si256(_mm256_xor_si256(load_piece(f + at), want), mask))
			break;
#else
		if (!is_block(f + at, &block, 0))
			break;
#endif
	}
	return i;
}

#endif
