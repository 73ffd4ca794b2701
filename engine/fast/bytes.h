//go:build cgo

// C: loads, stores and compares packet bytes, in vectors on AVX2.

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

#ifdef FAST_AVX2
typedef __m256i piece; // 32 bytes

static inline piece load_piece(const void *p)
{
	return _mm256_loadu_si256((const __m256i *)p);
}

// swapped turns 16 numbers of the network's order into ours, and back.
static inline piece swapped(piece x)
{
	return _mm256_shuffle_epi8(x, _mm256_set_epi64x(0x0e0f0c0d0a0b0809, 0x0607040502030001, 0x0e0f0c0d0a0b0809, 0x0607040502030001));
}
#else
typedef struct { uint16_t v[16]; } piece;
#endif

// is_block tells whether 32 bytes of a packet of some length are as b wants them.
static inline bool is_block(const uint8_t *p, const struct fast_block *b, uint16_t pkt_len)
{
#ifdef FAST_AVX2
	piece length = _mm256_and_si256(_mm256_set1_epi16((short)pkt_len), load_piece(b->length));
	piece x = _mm256_sub_epi16(swapped(load_piece(p)), length);
	return _mm256_testz_si256(_mm256_xor_si256(x, load_piece(b->want)), load_piece(b->mask));
#else
	uint16_t bad = 0;
	for (int i = 0; i < 16; i++)
		bad |= (uint16_t)((be16(p + 2 * i) - (pkt_len & b->length[i])) ^ b->want[i]) & b->mask[i];
	return bad == 0;
#endif
}

#endif
