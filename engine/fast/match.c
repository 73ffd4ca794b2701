//go:build cgo && !purego

// C loop match: which template each packet has; its key and hash.

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
	if (version6) {
		a = folded(a ^ i->more[0], k->addrs[1] ^ i->more[1]);
		b ^= folded(k->addrs[2] ^ i->more[1], k->addrs[3] ^ i->more[2]);
	}
	return folded(folded(a ^ i->keys[0], b ^ i->keys[1]), i->keys[2]);
}

// is_special tells whether the port at p is one of four, if that counts.
static inline bool is_special(const struct fast_state *s, const struct fast_template *t, const uint8_t *p)
{
#ifdef FAST_AVX2
	__m128i x = _mm_cmpeq_epi16(_mm_set1_epi16((short)load16(p)), _mm_loadl_epi64((const __m128i *)&s->special));
	return !_mm_testz_si128(x, _mm_loadl_epi64((const __m128i *)&t->special_mask));
#else
	uint64_t ports = s->special;
	uint16_t port = load16(p);
	const uint64_t ones = UINT64_C(0x0001000100010001);
	uint64_t x = ports ^ port * ones;
	return ((x - ones) & ~x & ones << 15 & t->special_mask) != 0;
#endif
}

static inline bool is_shape(const struct fast_shape *p, const uint8_t *f, uint32_t len)
{
	if (unlikely(len < p->need) || !same(f + p->at[0], &p->block[0]))
		return false;
	uint32_t n = p->blocks;
	if (unlikely(n == 1))
		return true;
	if (!same(f + p->at[1], &p->block[1]))
		return false;
	for (uint32_t i = 2; unlikely(i < n); i++)
		if (!same(f + p->at[i], &p->block[i]))
			return false;
	return true;
}

static inline uint32_t difference(const struct fast_length *l, const uint8_t *f, uint32_t pkt_len)
{
	return ((uint32_t)be16(f + l->at) + l->base) ^ pkt_len;
}

// is_template tells whether a packet of the template's shape is as the template says, up
// to what a mask can not say: lengths that agree, and ports. Two lengths are compared,
// whether there are two, one or none.
static inline bool is_template(const struct fast_state *s, const struct fast_template *t, const uint8_t *f, uint32_t len, uint32_t pkt_len)
{
	if (unlikely(len < t->need || pkt_len > FAST_MAX_FRAME))
		return false;
	uint32_t bad = 0;
	if (likely(t->checks)) {
		bad = difference(&t->length[0], f, pkt_len) | difference(&t->length[1], f, pkt_len);
		for (uint32_t i = 2; unlikely(i < t->checks); i++)
			bad |= difference(&t->length[i], f, pkt_len);
	}
	if (unlikely(bad || is_special(s, t, f + t->special_at)))
		return false;
	for (uint32_t i = 0; unlikely(i < t->behind); i++)
		if (!same(f + t->behind_at[i], &t->behind_block[i]))
			return false;
	return true;
}

// template_of is the template of a packet with the headers of shape p, or NULL.
static inline const struct fast_template *template_of(const struct fast_state *s, const struct fast_shape *p, const uint8_t *f, uint32_t len, uint32_t pkt_len)
{
	for (uint8_t i = p->variant[f[p->length_at] % FAST_VARIANTS]; i < FAST_TEMPLATES; i = s->templates[i].next) {
		const struct fast_template *t = &s->templates[i];
		in_register(t);
		if (likely(same(f + p->shim, &t->header)) && likely(is_template(s, t, f, len, pkt_len)))
			return t;
	}
	return NULL;
}

// hint_of is a number that packets of one shape mostly have in common: made of the EtherType
// and of the protocol of an untagged packet.
static inline uint32_t hint_of(const uint8_t *f)
{
	uint16_t type = load16(f + 12);
	return (uint8_t)(type * 5u ^ (type >> 8) ^ (type == 0x0008 ? f[23] ^ f[15] : f[20] ^ f[17]));
}

// search tries the shape of the last packet with such headers, then all.
static __attribute__((noinline)) const struct fast_template *search(struct fast_state *s, const struct fast_shape **last, const uint8_t *f, uint32_t len, uint32_t pkt_len)
{
	if (unlikely(len < 24))
		return NULL;
	uint8_t *hint = &s->hints[hint_of(f)];
	uint32_t n = s->shapes;
	for (uint32_t i = 0; i <= n; i++) {
		uint32_t at = i == 0 ? *hint : i - 1;
		const struct fast_shape *p = &s->shape[at];
		if (at >= n || !is_shape(p, f, len))
			continue;
		const struct fast_template *t = template_of(s, p, f, len, pkt_len);
		if (t != NULL) {
			*hint = (uint8_t)at;
			*last = p;
			return t;
		}
	}
	return NULL;
}

// recognise is the template of a packet, or NULL. last is the shape of the packet before.
static inline const struct fast_template *recognise(struct fast_state *s, const struct fast_shape **last, const uint8_t *f, uint32_t len, uint32_t pkt_len)
{
	if (likely(is_shape(*last, f, len))) {
		const struct fast_template *t = template_of(s, *last, f, len, pkt_len);
		if (likely(t != NULL))
			return t;
	}
	return search(s, last, f, len, pkt_len);
}

static inline void set_key(struct fast_key *k, const struct fast_template *t, const uint8_t *f)
{
	uint64_t ports = (uint64_t)load16(f + t->src) << 48 | (uint64_t)load16(f + t->dst) << 32;
	const uint8_t *a = f + t->addresses;
	k->rest = t->key_rest | (ports & t->ports_mask);
	if (t->version6) {
		for (int i = 0; i < 4; i++)
			k->addrs[i] = be64(a + 8 * i);
	} else {
		k->addrs[0] = load64(a);
	}
}

// is_plain tells whether packets of shape p and template t, which are not INT, are known by
// one block and a port alone.
static inline bool is_plain(const struct fast_shape *p, const struct fast_template *t)
{
	return p->blocks == 1 && !t->checks && !t->behind && !(load64(t->header.mask) | load64(t->header.mask + 8));
}

// skip is the place of the first packet from vec[i] on that is not as p and t say, for which
// is_plain holds; n where all are. It finds what recognise would find, with all that is
// compared in registers.
static inline uint32_t skip(const struct fast_state *s, const struct fast_shape *p, const struct fast_template *t, struct fast_mbuf *const *vec, uint32_t i, uint32_t n)
{
	const struct fast_block block = p->block[0];
	const uint32_t at = p->at[0], port = t->special_at, need = p->need > t->need ? p->need : t->need;
	for (; i < n; i++) {
		const struct fast_mbuf *m = vec[i];
		const uint8_t *f = m->buf_addr + m->data_off;
		if (m->data_len < need || m->pkt_len > FAST_MAX_FRAME || !same(f + at, &block) || is_special(s, t, f + port))
			break;
	}
	return i;
}

// fast_match finds out which packets have INT, and makes their keys and hashes. What it
// does not know stands among these, in unknown.
void fast_match(struct fast_state *s)
{
	struct fast_mbuf *const *vec = (struct fast_mbuf *const *)s->vec;
	const struct fast_shape *last = &s->shape[s->last];
	uint64_t unknown = 0;
	uint32_t j = 0, n = s->shapes ? s->n : 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct fast_mbuf *m = vec[i];
		const uint8_t *f = m->buf_addr + m->data_off;
		const struct fast_template *t = recognise(s, &last, f, m->data_len, m->pkt_len);
		if (unlikely(t == NULL)) {
			s->at[j] = (uint8_t)i;
			s->template[j] = FAST_NONE;
			unknown |= UINT64_C(1) << j++;
			continue;
		}
		if (t->kind != FAST_INT) {
			if (likely(is_plain(last, t)))
				i = skip(s, last, t, vec, i + 1, n) - 1;
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
	for (uint32_t i = n; i < s->n; i++) {
		s->at[j] = (uint8_t)i;
		s->template[j] = FAST_NONE;
		unknown |= UINT64_C(1) << j++;
	}
	s->last = (uint32_t)(last - s->shape);
	s->ints = j;
	s->unknown = unknown;
}
