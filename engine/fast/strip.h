//go:build cgo

// C: takes INT out of a packet by its template: lengths, checksums (one's complement sums, RFC 1071),
// move of the headers.

#ifndef INTSINK_FAST_STRIP_H
#define INTSINK_FAST_STRIP_H

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

// shorten makes m a packet that starts where t's INT no longer is. Its three lengths are
// changed at once, with the VLAN tag behind them, which stays (rte_mbuf: pkt_len, data_len,
// vlan_tci).
static inline void shorten(struct fast_mbuf *m, const struct fast_template *t, uint32_t by)
{
	_Static_assert(offsetof(struct fast_mbuf, data_len) == offsetof(struct fast_mbuf, pkt_len) + 4, "all lengths in eight bytes");
	uint8_t *lengths = (uint8_t *)m + offsetof(struct fast_mbuf, pkt_len);
	uint64_t v = load64(lengths) - t->shorten;
	memcpy(lengths, &v, sizeof v);
	m->data_off += (uint16_t)by;
}

// strip_any takes INT out of a packet, one field after the other.
static __attribute__((noinline)) void strip_any(struct fast_mbuf *m, const struct fast_template *t)
{
	uint8_t *f = m->buf_addr + m->data_off;
	const uint16_t port = load16(f + t->port_from);
	uint32_t gone = 0;
	if (t->sum_removed)
		gone = fold16(sum_of(f + t->start, t->words, ~(uint32_t)port & t->port_mask));
	memmove(f + t->removed, f, t->start);
	f += t->removed;
	shorten(m, t, t->removed);
	for (uint32_t i = 0; i < t->lengths; i++)
		store16(f + t->length[i].at, __builtin_bswap16((uint16_t)(m->pkt_len - t->length[i].base)));
	store16(f + t->port_to, port);
	for (uint32_t i = 0; i < t->edits; i++) {
		const struct fast_edit *e = &t->edit[i];
		store16(f + e->at, (uint16_t)((load16(f + e->at) & e->keep) | e->value));
	}
	for (uint32_t i = 0; i < t->sums; i++) {
		const struct fast_sum *c = &t->sum[i];
		uint32_t was = load16(f + c->at);
		uint16_t is = (uint16_t)(fold16((was ^ c->flip) + ((gone & c->removed) ^ c->flip) + c->add) ^ c->flip);
		if (was | c->always)
			store16(f + c->at, is);
	}
}

// The headers in front of INT move to the right in pieces of 32 bytes, which are patched on
// their way: the last piece may overlap the first, and is as much changed there.
#ifdef FAST_AVX2
static inline piece patched(const uint8_t *f, const struct fast_patch *p)
{
	piece x = _mm256_sub_epi16(swapped(load_piece(f)), load_piece(p->minus));
	return swapped(_mm256_xor_si256(x, load_piece(p->flip)));
}

static inline void put(uint8_t *f, piece x)
{
	_mm256_storeu_si256((__m256i *)f, x);
}

// load_whole is a piece that is not patched.
static inline piece load_whole(const uint8_t *f)
{
	return load_piece(f);
}
#else
static inline piece patched(const uint8_t *f, const struct fast_patch *p)
{
	piece x;
	for (int i = 0; i < 16; i++)
		x.v[i] = __builtin_bswap16((uint16_t)((be16(f + 2 * i) - p->minus[i]) ^ p->flip[i]));
	return x;
}

static inline void put(uint8_t *f, piece x)
{
	memcpy(f, x.v, sizeof x.v);
}

static inline piece load_whole(const uint8_t *f)
{
	piece x;
	memcpy(x.v, f, sizeof x.v);
	return x;
}
#endif

// move moves the headers, in so many patches. All of them are read before their place is written: the pieces
// between the first and the last stand in front of what the last is moved to.
static inline void move(uint8_t *f, uint8_t *start, const struct fast_template *t, uint32_t by, const uint16_t *patches)
{
	uint8_t *last = start - 32;
	piece a = patched(f, &t->patch[0]), b = patched(last, &t->patch[1]);
	put(last + by, b);
	for (uint32_t i = 2; unlikely(i < *patches); i++) {
		last -= 32;
		put(last + by, patched(last, &t->patch[i]));
	}
	put(f + by, a);
}

// new_ip_sum is the checksum of an IPv4 header: RFC 1624, equation 3, with a sum that is one
// too large, for a result that is never all ones.
static inline uint16_t new_ip_sum(const uint8_t *f, const struct fast_template *t)
{
	uint16_t s;
	bool carry = __builtin_add_overflow(load16(f + t->ip_sum_at), (uint16_t)t->ip_sum_add, &s);
	return (uint16_t)(s - 1 + carry);
}

// new_sum is the checksum of TCP or UDP whose numbers have the sum s: a sum of zero is written
// in one way only, and by UDP not at all, where there was none.
static inline uint16_t new_sum(const struct fast_template *t, uint16_t was, uint32_t s)
{
	uint16_t is = fold16(s);
	if (unlikely(was == 0 && t->l4_udp))
		return 0;
	if (unlikely(is == 0xffff && !t->l4_udp))
		return 0;
	return is;
}

// strip_ifa takes out the two parts of IFA: what stands between them moves to the end of the second, in pieces of 32 bytes
// whose first may begin in front of it, then all in front of them.
static inline __attribute__((always_inline)) void strip_ifa(struct fast_mbuf *m, uint8_t *f, const struct fast_template *t)
{
	const uint8_t *from = f + t->ifa_second;
	uint8_t *to = f + t->end;
	const uint16_t ip = new_ip_sum(f, t);
	for (uint32_t i = t->ifa_pieces; i; i--) {
		from -= 32;
		to -= 32;
		put(to, load_whole(from));
	}
	shorten(m, t, t->removed);
	move(f, f + t->start, t, t->removed, &t->ifa_patches);
	store16(f + t->removed + t->ip_sum_at, ip);
}

// strip_alone is strip for what has no checksum of TCP or UDP to repair.
static __attribute__((noinline)) void strip_alone(struct fast_mbuf *m, const struct fast_template *t)
{
	if (!t->patches) {
		if (t->ifa)
			strip_ifa(m, m->buf_addr + m->data_off, t);
		else
			strip_any(m, t);
		return;
	}
	uint8_t *f = m->buf_addr + m->data_off;
	const uint16_t port = load16(f + t->port_from), ip = new_ip_sum(f, t);
	shorten(m, t, t->removed);
	move(f, f + t->start, t, t->removed, &t->patches);
	f += t->removed;
	store16(f + t->port_to, port);
	store16(f + t->ip_sum_at, ip);
}

// strip takes INT out of the packet m, which begins at f and is as t says, and repairs what its insertion
// changed. It asks for none of the headers: without an IPv4 header, two bytes that stay as
// they are stand in the place of its checksum.
static inline __attribute__((always_inline)) void strip(struct fast_mbuf *m, uint8_t *f, const struct fast_template *t)
{
	if (unlikely(!t->l4_sum_at)) {
		strip_alone(m, t);
		return;
	}
	const uint32_t by = t->removed;
	uint8_t *start = f + t->start;
	const uint16_t port = load16(f + t->port_from), was = load16(f + t->l4_sum_at);
	const uint32_t s = sum_gone(start, t, was + t->l4_sum_add + (~(uint32_t)port & t->port_mask));
	shorten(m, t, by);
	move(f, start, t, by, &t->patches);
	f += by;
	store16(f + t->ip_sum_at, new_ip_sum(f, t));
	store16(f + t->port_to, port);
	store16(f + t->l4_sum_at, new_sum(t, was, s));
}

#endif
