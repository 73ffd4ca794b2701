//go:build cgo && !purego

// C: one's complement sums (RFC 1071) of packet bytes.

#ifndef INTSINK_FAST_SUM_H
#define INTSINK_FAST_SUM_H

#include "bytes.h"

// fold is the one's complement sum of the four 16-bit words of s; zero only for zero.
static inline uint16_t fold(uint64_t s)
{
	uint32_t t = (uint32_t)((s + (s << 32 | s >> 32)) >> 32);
	return (uint16_t)((t + (t << 16 | t >> 16)) >> 16);
}

// sum_some adds n words of 32 bits at p to s. With an n that the compiler knows that is one
// instruction for two words: a chain of additions with carry.
static inline __attribute__((always_inline)) uint64_t sum_some(const uint8_t *p, const uint32_t n, uint64_t s)
{
#ifdef FAST_AVX2
	unsigned long long sum = s;
	unsigned char carry = 0;
#pragma GCC unroll 32
	for (uint32_t i = 0; i < n / 2; i++)
		carry = _addcarry_u64(carry, sum, load64(p + 8 * i), &sum);
	if (n % 2)
		carry = _addcarry_u64(carry, sum, load32(p + 4 * (n - 1)), &sum);
	_addcarry_u64(carry, sum, 0, &sum);
	return sum;
#else
	for (uint32_t i = 0; i < n; i++)
		s += load32(p + 4 * i);
	return s;
#endif
}

// sum_words is sum_some for n below 64, which are most lengths of INT: each is code of its own
// without a loop. The reference's 19 words cost 20 instructions in place of 40. It is
// not inlined because gcc 12 then stores every step of the sum.
static __attribute__((noinline)) uint64_t sum_words(uint64_t s, const uint8_t *p, size_t n)
{
#ifdef FAST_AVX2
#define CASE(n) case n: return sum_some(p, n, s)
#define CASES(n) CASE(n); CASE(n + 1); CASE(n + 2); CASE(n + 3); CASE(n + 4); CASE(n + 5); CASE(n + 6); CASE(n + 7)
	switch (n) {
		CASES(0); CASES(8); CASES(16); CASES(24); CASES(32); CASES(40); CASES(48); CASES(56);
	default:
		__builtin_unreachable();
	}
#undef CASES
#undef CASE
#else
	return sum_some(p, n, s);
#endif
}

#endif
