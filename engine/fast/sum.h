//go:build cgo

// C: one's complement sums (RFC 1071) of what goes.

#ifndef INTSINK_FAST_SUM_H
#define INTSINK_FAST_SUM_H

#include "bytes.h"

// fold16 is the one's complement sum of the two halves of s; zero only for zero.
static inline uint16_t fold16(uint32_t s)
{
	return (uint16_t)((s + (s << 16 | s >> 16)) >> 16);
}

// sum_of adds n words of 32 bits at p to s, as numbers of 16 bits.
static inline uint32_t sum_of(const uint8_t *p, uint32_t n, uint32_t s)
{
	for (uint32_t i = 0; i < 2 * n; i++)
		s += load16(p + 2 * i);
	return s;
}

// sum_gone adds the removed bytes, at p, to s, less 1 << 16 for each of their words of 32 bits.
// The code depends on their number only: it adds whole pieces, then the last 32 bytes with a mask
// for those that were in no piece. The code of a length has no loop: of the reference's 76 bytes
// the sum is 22 instructions.
static inline __attribute__((always_inline)) uint32_t sum_gone(const uint8_t *p, const struct fast_template *t, uint32_t s)
{
#ifdef FAST_AVX2
	// Numbers of 16 bits, each less 1 << 15, are signed: they can be multiplied, by -1, and added
	// in pairs in one instruction.
	piece half = _mm256_set1_epi16((short)0x8000), minus = _mm256_set1_epi16(-1);
	in_vector(half);
	in_vector(minus);
	piece sums = _mm256_madd_epi16(_mm256_and_si256(_mm256_xor_si256(load_piece(p + t->removed - 32), half), load_piece(t->last)), minus);
#define CASE(n) case n: sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_xor_si256(load_piece(p + 32 * (n - 1)), half), minus)); __attribute__((fallthrough));
	switch (t->pieces) {
		CASE(7) CASE(6) CASE(5) CASE(4) CASE(3) CASE(2) CASE(1)
	case 0:
		break;
	default:
		__builtin_unreachable();
	}
#undef CASE
	in_vector(sums);
	__m128i h = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
	h = _mm_add_epi32(h, _mm_shuffle_epi32(h, 0x4e));
	h = _mm_add_epi32(h, _mm_shuffle_epi32(h, 0xb1));
	return s - (uint32_t)_mm_cvtsi128_si32(h);
#else
	return sum_of(p, t->words, s - ((uint32_t)t->words << 16));
#endif
}

#endif
