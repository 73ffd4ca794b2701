//go:build cgo && !purego

// C: loads, stores and comparisons of packet bytes, in vectors on AVX2.

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

// in_vector keeps gcc from computing a vector in one register and copying it to another.
#define in_vector(v) __asm__("" : "+x"(v))

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

#ifdef FAST_AVX2
// swapped turns the numbers of the network's order in x into ours, and back.
static inline __m256i swapped(__m256i x)
{
	return _mm256_shuffle_epi8(x, _mm256_set_epi64x(0x0e0f0c0d0a0b0809, 0x0607040502030001, 0x0e0f0c0d0a0b0809, 0x0607040502030001));
}
#endif

#endif
