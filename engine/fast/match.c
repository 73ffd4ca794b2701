//go:build cgo && !purego

// C loop match: tries shapes by hint, then their templates; leaves each packet's template, key and
// hash in the state, and the bits of unknown ones.

#include "bytes.h"

// Where the packets of a burst are like the packets that templates were made of, whose
// headers nobody looks at again.

static inline uint64_t folded(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;
	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

// hash is flows.hasher.hash.
static inline uint64_t hash(const struct fast_index *i, const struct fast_key *k, bool version6)
{
	uint64_t a = k->addrs[0], b = k->rest;
	if (unlikely(version6)) {
		a = folded(a ^ i->more[0], k->addrs[1] ^ i->more[1]);
		b ^= folded(k->addrs[2] ^ i->more[1], k->addrs[3] ^ i->more[2]);
	}
	return folded(folded(a ^ i->keys[0], b ^ i->keys[1]), i->keys[2]);
}

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

static inline bool is_shape(const struct fast_shape *p, const uint8_t *f, uint32_t len)
{
	if (len < p->need)
		return false;
	for (uint32_t i = 0; i < p->blocks; i++)
		if (!is_block(f + p->at[i], &p->block[i], 0))
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
	for (uint32_t i = 2; unlikely(i < t->blocks); i++)
		if (!is_block(f + t->at[i], &t->block[i], l))
			return false;
	return likely(!is_special(special, f + t->special_at));
}

// first_of is the first template of shape p for the length of INT in a packet, or FAST_NONE.
static inline uint8_t first_of(const struct fast_shape *p, const uint8_t *f, uint32_t len)
{
	return likely(len >= p->need) ? p->variant[f[p->length_at] % FAST_VARIANTS] : FAST_NONE;
}

// template_of is the template of a packet if its headers are of shape p, or NULL.
static const struct fast_template *template_of(const struct fast_state *s, const struct fast_shape *p, const uint8_t *f, uint32_t len, uint32_t pkt_len)
{
	for (uint8_t i = first_of(p, f, len); i < FAST_TEMPLATES; i = s->templates[i].next)
		if (is_template(&s->templates[i], s->special, f, len, pkt_len))
			return &s->templates[i];
	return NULL;
}

// search tries the shapes of hint, then all, and makes the right one the first that is tried
// for packets with such a hint.
static __attribute__((noinline)) const struct fast_template *search(struct fast_state *s, uint32_t *hint, const uint8_t *f, uint32_t len, uint32_t pkt_len)
{
	const struct fast_template *t;
	for (uint32_t k = 0; k < 32; k += 8) {
		t = template_of(s, &s->shape[*hint >> k & 0xff], f, len, pkt_len);
		if (t != NULL)
			return t;
	}
	for (uint32_t n = 0; n < s->shapes; n++) {
		const struct fast_shape *p = &s->shape[n];
		if (!is_shape(p, f, len))
			continue;
		t = template_of(s, p, f, len, pkt_len);
		if (t != NULL) {
			*hint = *hint << 8 | n;
			return t;
		}
	}
	return NULL;
}

enum { HINTS_FROM = 12, HINTS_LEN = 16 }; // the bytes that a hint is made of

// hint_of is State.hintOf: for packets of one shape the same, and for few others.
static inline uint32_t *hint_of(struct fast_state *s, const uint8_t *f)
{
	const uint8_t *kinds = (const uint8_t *)s->kinds;
	const struct fast_kind *k = (const struct fast_kind *)(kinds + ((f[12] ^ f[13]) & 0xf0)); // of 16 bytes, by four bits
	uint64_t a = load64(f + HINTS_FROM) & k->mask[0], b = load64(f + HINTS_FROM + 8) & k->mask[1];
	return &s->hints[(a ^ (b << 29 | b >> 35)) * s->hint_key >> 56];
}

// recognise is the template of a packet, or NULL. Most are of the first shape of their hint,
// and of its first template for their length of INT.
static inline const struct fast_template *recognise(struct fast_state *s, uint64_t special, const uint8_t *f, uint32_t len, uint32_t pkt_len)
{
	if (unlikely(len < HINTS_FROM + HINTS_LEN))
		return NULL;
	uint32_t *hint = hint_of(s, f);
	const struct fast_template *t = &s->templates[first_of(&s->shape[*hint & 0xff], f, len)];
	in_register(t);
	if (likely(is_template(t, special, f, len, pkt_len)))
		return t;
	return search(s, hint, f, len, pkt_len);
}

static inline void set_key(struct fast_key *k, const struct fast_template *t, const uint8_t *f)
{
	uint64_t ports = (uint64_t)load16(f + t->src) << 48 | (uint64_t)load16(f + t->dst) << 32;
	const uint8_t *a = f + t->addresses;
	k->rest = t->key_rest | (ports & t->ports_mask);
	if (unlikely(t->version6)) {
#ifdef FAST_AVX2
		const piece order = _mm256_set_epi64x(0x08090a0b0c0d0e0f, 0x0001020304050607, 0x08090a0b0c0d0e0f, 0x0001020304050607);
		_mm256_storeu_si256((__m256i *)k->addrs, _mm256_shuffle_epi8(load_piece(a), order));
#else
		for (int i = 0; i < 4; i++)
			k->addrs[i] = be64(a + 8 * i);
#endif
	} else {
		k->addrs[0] = load64(a);
	}
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

// fast_match finds out which packets have INT, and makes their keys and hashes. What it
// does not know stands among these, in unknown.
void fast_match(struct fast_state *s)
{
	struct fast_mbuf *const *vec = (struct fast_mbuf *const *)s->vec;
	const uint64_t special = s->special;
	uint64_t unknown = 0;
	const size_t n = s->n;
	size_t j = 0;
	for (size_t i = 0; i < n; i++) {
		const struct fast_mbuf *m = vec[i];
		const uint8_t *f = m->buf_addr + m->data_off;
		const struct fast_template *t = recognise(s, special, f, m->data_len, m->pkt_len);
		if (unlikely(t == NULL)) {
			s->at[j] = (uint8_t)i;
			s->template[j] = FAST_NONE;
			unknown |= UINT64_C(1) << j++;
			continue;
		}
		if (t->kind != FAST_INT) {
			if (likely(t->plain))
				i = skip(s, t, vec, i + 1, n) - 1;
			continue;
		}
		s->at[j] = (uint8_t)i;
		s->template[j] = t->number;
		set_key(&s->keys[j], t, f);
		uint64_t h = hash(&s->index, &s->keys[j], t->version6);
		s->hashes[j] = h;
		__builtin_prefetch((const void *)(s->index.buckets + (h & s->index.mask)));
		j++;
	}
	s->ints = (uint32_t)j;
	s->unknown = unknown;
}
