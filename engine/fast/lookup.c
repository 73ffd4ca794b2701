//go:build cgo && !purego

// C loop look up: the flow of each packet in the primary bucket of its hash.

#include "bytes.h"

// The flow of each packet, where the table has it in the first bucket that its hash names.

// slot is a bucket's first one with a tag, 8 where there is none.
static inline uint32_t slot(const struct fast_bucket *b, uint16_t tag)
{
#ifdef FAST_AVX2
	__m128i x = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)b->tags), _mm_set1_epi16((short)tag));
	return (uint32_t)_tzcnt_u32((uint32_t)_mm_movemask_epi8(x) | 1u << 16) / 2;
#else
	for (uint32_t i = 0; i < 8; i++)
		if (b->tags[i] == tag)
			return i;
	return 8;
#endif
}

// is_key is flows.Key.equal.
static inline bool is_key(const struct fast_key *a, const struct fast_key *b)
{
	uint64_t x = (a->rest ^ b->rest) | (a->addrs[0] ^ b->addrs[0]);
	if (unlikely((uint8_t)a->rest != 4))
		x |= (a->addrs[1] ^ b->addrs[1]) | (a->addrs[2] ^ b->addrs[2]) | (a->addrs[3] ^ b->addrs[3]);
	return x == 0;
}

// fast_lookup finds the flows of all packets. Each pass only asks for what the next one
// needs, so that the cache misses of the burst overlap.
void fast_lookup(struct fast_state *s)
{
	struct fast_flow *table = (struct fast_flow *)s->index.flows;
	uint64_t missing = 0;
	int64_t now = s->now;
	uint32_t n = s->ints;
	for (uint32_t j = 0; j < n; j++) {
		uint64_t h = s->hashes[j];
		const struct fast_bucket *b = (const struct fast_bucket *)(s->index.buckets + (h & s->index.mask));
		uint32_t at = slot(b, (uint16_t)(h >> 48) | 1);
		struct fast_flow *f = at < 8 ? table + b->flows[at] : table;
		__builtin_prefetch(f);
		__builtin_prefetch(&f->seen, 1);
		s->flows[j] = f;
	}
	for (uint32_t j = 0; j < n; j++) {
		struct fast_flow *f = s->flows[j];
		if (likely(is_key(&f->key, &s->keys[j])))
			f->seen = now;
		else
			missing |= UINT64_C(1) << j;
	}
	s->missing = missing;
}
