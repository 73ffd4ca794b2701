//go:build cgo

// C: the key of a packet's flow, and its hash.

#ifndef INTSINK_FAST_KEY_H
#define INTSINK_FAST_KEY_H

#include "bytes.h"

static inline uint64_t folded(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;
	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

// hash is flows.hasher.hash.
static inline uint64_t hash(const struct fast_index *i, const struct fast_key *k, bool version6)
{
	uint64_t a = k->addrs[0], b = k->ports_proto;
	if (unlikely(version6)) {
		a = folded(a ^ i->more[0], k->addrs[1] ^ i->more[1]);
		b ^= folded(k->addrs[2] ^ i->more[1], k->addrs[3] ^ i->more[2]);
	}
	return folded(folded(a ^ i->keys[0], b ^ i->keys[1]), i->keys[2]);
}

// set_addresses makes the addresses of k those at a.
static inline void set_addresses(struct fast_key *k, const uint8_t *a, bool version6)
{
	if (likely(!version6)) {
		k->addrs[0] = load64(a);
		return;
	}
#ifdef FAST_AVX2
	const piece order = _mm256_set_epi64x(0x08090a0b0c0d0e0f, 0x0001020304050607, 0x08090a0b0c0d0e0f, 0x0001020304050607);
	_mm256_storeu_si256((__m256i *)k->addrs, _mm256_shuffle_epi8(load_piece(a), order));
#else
	for (int i = 0; i < 4; i++)
		k->addrs[i] = be64(a + 8 * i);
#endif
}

// set_key makes the key of packet j of the INT packets, f, which is of template t, and its hash.
// It fetches the bucket that the hash names.
static inline __attribute__((always_inline)) void set_key(struct fast_state *s, size_t j, const struct fast_template *t, const uint8_t *src, const uint8_t *dst, const uint8_t *addresses, bool version6)
{
	struct fast_key *k = &s->keys[j];
	uint64_t ports = (uint64_t)load16(src) << 48 | (uint64_t)load16(dst) << 32;
	k->ports_proto = t->key_rest | (ports & t->ports_mask);
	set_addresses(k, addresses, version6);
	uint64_t h = hash(&s->index, k, version6);
	s->hashes[j] = h;
	__builtin_prefetch((const void *)(s->index.buckets + (h & s->index.mask)));
}

#endif
