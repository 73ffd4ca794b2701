//go:build cgo

// C loop look up: the flow of each matched packet in the primary bucket of its hash; without one it
// stays for Table.Resolve (flows/lookup.go).

#include "bytes.h"

// The flow of each packet, where the table has it in the first bucket that its hash names.

// flow_of is the number of a flow of bucket b with a tag, or 0.
static inline uint32_t flow_of(const struct fast_bucket *b, uint16_t tag)
{
#ifdef FAST_AVX2
	__m128i x = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)b->tags), _mm_set1_epi16((short)tag));
	uint32_t hits = (uint32_t)_mm_movemask_epi8(x); // two bits for a tag, which has four bytes of flows
	return likely(hits) ? load32((const uint8_t *)b->flows + 2 * _tzcnt_u32(hits)) : 0;
#else
	for (uint32_t i = 0; i < 8; i++)
		if (b->tags[i] == tag)
			return b->flows[i];
	return 0;
#endif
}

// is_key is flows.Key.Equal.
static inline bool is_key(const struct fast_key *a, const struct fast_key *b)
{
#ifdef FAST_AVX2
	__m128i y = _mm_xor_si128(_mm_loadu_si128((const __m128i *)a), _mm_loadu_si128((const __m128i *)b)); // rest and addrs[0]
	if (likely((b->ports_proto & 2) == 0))
		return _mm_testz_si128(y, y);
	piece x = _mm256_xor_si256(load_piece(a->addrs), load_piece(b->addrs));
	return a->ports_proto == b->ports_proto && _mm256_testz_si256(x, x);
#else
	if (likely((b->ports_proto & 2) == 0))
		return ((a->ports_proto ^ b->ports_proto) | (a->addrs[0] ^ b->addrs[0])) == 0;
	return a->ports_proto == b->ports_proto && memcmp(a->addrs, b->addrs, sizeof a->addrs) == 0;
#endif
}

// fast_lookup finds the flows of all packets. Each pass only asks for what the next one
// needs, so that the cache misses of the burst overlap.
void fast_lookup(struct fast_state *s)
{
	struct fast_flow *table = (struct fast_flow *)s->index.flows;
	uint64_t missing = 0;
	int64_t now = s->now;
	const size_t n = s->ints;
	for (size_t j = 0; j < n; j++) {
		uint64_t h = s->hashes[j];
		const struct fast_bucket *b = (const struct fast_bucket *)(s->index.buckets + (h & s->index.mask));
		struct fast_flow *f = table + flow_of(b, (uint16_t)(h >> 48) | 1);
		__builtin_prefetch(f);
		__builtin_prefetch(&f->seen, 1);
		s->flows[j] = f;
	}
	for (size_t j = 0; j < n; j++) {
		struct fast_flow *f = s->flows[j];
		if (likely(is_key(&f->key, &s->keys[j])))
			f->seen = now;
		else
			missing |= UINT64_C(1) << j;
	}
	s->missing = missing;
}
