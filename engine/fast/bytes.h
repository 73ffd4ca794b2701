//go:build cgo && !purego

// Loads, stores and comparisons of packet bytes. A load takes the bytes as they stand,
// wherever; be16 and be64 take them as numbers of the network's order. On amd64 all is
// compiled for AVX2 and BMI2, which Go asks the processor for before it calls.

#ifndef INTSINK_FAST_BYTES_H
#define INTSINK_FAST_BYTES_H

#if defined(__x86_64__) && !defined(FAST_PORTABLE)
#pragma GCC target("avx2,bmi,bmi2,movbe")
#include <immintrin.h>
#define FAST_AVX2 1
#endif

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fast.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the keys of flows are in little endian order"
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

// in_register keeps gcc from computing an address again wherever it is used.
#define in_register(p) __asm__("" : "+r"(p))

static inline uint16_t load16(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint32_t load32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static inline void store16(uint8_t *p, uint16_t v)
{
	memcpy(p, &v, sizeof v);
}

static inline uint16_t be16(const uint8_t *p)
{
	return __builtin_bswap16(load16(p));
}

static inline uint32_t be32(const uint8_t *p)
{
	return __builtin_bswap32(load32(p));
}

static inline uint64_t be64(const uint8_t *p)
{
	return __builtin_bswap64(load64(p));
}

// same tells whether 16 bytes are as b wants them.
static inline bool same(const uint8_t *p, const struct fast_block *b)
{
#ifdef FAST_AVX2
	__m128i x = _mm_xor_si128(_mm_loadu_si128((const __m128i *)p), _mm_loadu_si128((const __m128i *)b->want));
	return _mm_testz_si128(x, _mm_loadu_si128((const __m128i *)b->mask));
#else
	uint64_t x = (load64(p) ^ load64(b->want)) & load64(b->mask);
	uint64_t y = (load64(p + 8) ^ load64(b->want + 8)) & load64(b->mask + 8);
	return (x | y) == 0;
#endif
}

// fold is the one's complement sum of the four 16-bit words of s; zero only for zero.
static inline uint16_t fold(uint64_t s)
{
	uint32_t t = (uint32_t)((s + (s << 32 | s >> 32)) >> 32);
	return (uint16_t)((t + (t << 16 | t >> 16)) >> 16);
}

#ifdef FAST_AVX2
// tail_masks[tail] is a mask of the words that follow the last 32 bytes: 8 - tail of them.
static const int32_t tail_masks[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
#endif

// sum_of adds the words of 32 bits from p to end, whole blocks of 32 bytes, and 8 - tail
// words behind that.
static inline __attribute__((always_inline)) uint64_t sum_of(const uint8_t *p, const uint8_t *end, uint32_t tail)
{
#ifdef FAST_AVX2
	const __m256i zero = _mm256_setzero_si256();
	__m256i x = _mm256_maskload_epi32((const int *)end, _mm256_loadu_si256((const __m256i *)(tail_masks + tail)));
	__m256i sum = _mm256_add_epi64(_mm256_blend_epi32(x, zero, 0xaa), _mm256_srli_epi64(x, 32));
	for (; p < end; p += 32) {
		x = _mm256_loadu_si256((const __m256i *)p);
		sum = _mm256_add_epi64(sum, _mm256_blend_epi32(x, zero, 0xaa));
		sum = _mm256_add_epi64(sum, _mm256_srli_epi64(x, 32));
	}
	__m128i h = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
	return (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(h, _mm_srli_si128(h, 8)));
#else
	uint64_t s = 0;
	for (end += 4 * (8 - tail); p < end; p += 4)
		s += load32(p);
	return s;
#endif
}

#endif
