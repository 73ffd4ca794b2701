//go:build cgo

// C loops match and look up: which template, key and hash each packet of a burst has, and which flow.
// A packet is compared with a guess, then by shape; without a template its bit of unknown is set. A
// flow is found in the primary bucket of its hash; without one it stays for Table.Resolve.

#include "bytes.h"

enum { HINTS_FROM = 12, HINTS_LEN = 16 }; // the bytes that a hint is made of

// kind_of is kindOf.
static inline uint32_t kind_of(const uint8_t *f)
{
	return (uint32_t)(f[12] ^ f[13]) / (256 / FAST_KINDS);
}

// hint_of is State.hintOf.
static inline uint32_t hint_of(const struct fast_state *s, const uint8_t *f)
{
	const uint8_t *kinds = (const uint8_t *)s->kinds;
	const struct fast_kind *k = (const struct fast_kind *)(kinds + ((f[12] ^ f[13]) & 0xf0)); // of 16 bytes, by four bits
	uint64_t a = load64(f + HINTS_FROM) & k->mask[0], b = load64(f + HINTS_FROM + 8) & k->mask[1];
	return (uint32_t)((a ^ (b << 29 | b >> 35)) * s->hint_key >> 54);
}

// first_of is the first template of shape p for the length of INT and the bitmap in a packet, or
// FAST_NONE.
static inline uint8_t first_of(const struct fast_shape *p, const uint8_t *f, uint32_t len)
{
	if (unlikely(len < p->need))
		return FAST_NONE;
	return p->variant[(load64(f + p->length_at) & p->variant_mask) * p->variant_by / (UINT64_MAX / FAST_VARIANTS + 1)];
}

// guessed is what g says of a packet. It has no branch: of packets that are mixed at random, the processor would
// predict too many wrong.
static inline uint32_t guessed(const struct fast_guess *g, const uint8_t *f, uint32_t len)
{
	return g->of[f[g->at < len ? g->at : 0] != g->value];
}

// guess is the template that a packet is compared with first, which is right for most: that of all packets with
// its hint, or of two that one byte tells apart; else the first for its length of INT, of the first shape of its
// hint.
static inline const struct fast_template *guess(struct fast_state *s, const uint8_t *f, uint32_t len)
{
	if (unlikely(len < HINTS_FROM + HINTS_LEN))
		return &s->templates[FAST_NONE];
	const uint32_t h = hint_of(s, f);
	const struct fast_guess *g = &s->guesses[h];
	uint32_t t = guessed(g, f, len);
	if (unlikely(t >= FAST_NONE)) {
		t = first_of(&s->shape[s->hints[h] & 0xff], f, len);
		if (g->of[0] == FAST_NONE)
			s->guesses[h] = (struct fast_guess){.of = {(uint8_t)t, (uint8_t)t}}; // until it is wrong
	}
	return &s->templates[t];
}

// compared tells whether t compares all bits of byte at, whatever the length of the packet, and with which value.
static bool compared(const struct fast_template *t, uint32_t at, uint8_t *value)
{
	for (uint32_t i = 0; i < t->blocks; i++) {
		const struct fast_block *b = &t->block[i];
		const uint32_t from = at - t->at[i], shift = from % 2 ? 0 : 8;
		if (from >= 32 || b->length[from / 2] || (uint8_t)(b->mask[from / 2] >> shift) != 0xff)
			continue;
		*value = (uint8_t)(b->want[from / 2] >> shift);
		return true;
	}
	return false;
}

// tell_apart is a guess between a and b, by the first byte that both compare with different values.
static struct fast_guess tell_apart(const struct fast_template *a, const struct fast_template *b)
{
	for (uint32_t at = 0; at <= UINT8_MAX; at++) {
		uint8_t value, other;
		if (compared(a, at, &value) && compared(b, at, &other) && value != other)
			return (struct fast_guess){(uint8_t)at, value, {a->number, b->number}};
	}
	return (struct fast_guess){.of = {FAST_MANY, FAST_MANY}};
}

// improve makes g, by which a packet was guessed wrong that is of template t, a better guess.
static void improve(const struct fast_state *s, struct fast_guess *g, const struct fast_template *t, const uint8_t *f, uint32_t len)
{
	if (g->of[0] == FAST_MANY || guessed(g, f, len) == t->number) // guessed before g became what it is
		return;
	if (g->of[0] == FAST_NONE)
		*g = (struct fast_guess){.of = {t->number, t->number}};
	else if (g->of[0] == g->of[1])
		*g = tell_apart(&s->templates[g->of[0]], t);
	else
		*g = (struct fast_guess){.of = {FAST_MANY, FAST_MANY}};
}

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

// fetch asks for a line of the flow table, into the second cache: it waits for twice as many lines at once as the first
// (AMD EPYC of 2023: two lines of memory for each of 64 packets take 11 ns a packet, 19 by way of the first).
static inline void fetch(const void *p)
{
	__builtin_prefetch(p, 0, 2);
}

// tag_of is flows.tagOf.
static inline uint16_t tag_of(uint64_t hash) { return (uint16_t)(hash >> 48) | 1; }

// slots_of tells which slots of a bucket have a tag, two bits each.
static inline uint32_t slots_of(const struct fast_bucket *b, uint16_t tag)
{
#ifdef FAST_AVX2
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)b->tags), _mm_set1_epi16((short)tag)));
#else
	uint32_t slots = 0;
	for (uint32_t i = 0; i < 8; i++)
		slots |= (b->tags[i] == tag ? UINT32_C(3) : 0) << 2 * i;
	return slots;
#endif
}

// flow_in is the number of the flow in the first of some slots.
static inline uint32_t flow_in(const struct fast_bucket *b, uint32_t slots)
{
	return load32((const uint8_t *)b->flows + 2 * __builtin_ctz(slots)); // four bytes for two bits
}

// bucket_of is the first bucket that the flow of packet j may be in, other_bucket_of the other one (flows.Table.alternate).
static inline const struct fast_bucket *bucket_of(const struct fast_state *s, size_t j)
{
	return (const struct fast_bucket *)(s->index.buckets + (s->hashes[j] & s->index.mask));
}
static inline const struct fast_bucket *other_bucket_of(const struct fast_state *s, size_t j)
{
	uint64_t h = s->hashes[j];
	return (const struct fast_bucket *)(s->index.buckets + ((h ^ tag_of(h) * s->index.alternate >> 24 << 6) & s->index.mask));
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
	fetch(bucket_of(s, j));
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

// has_more_blocks tells whether 32 bytes each, behind the first two of them, are as t wants them.
static inline bool has_more_blocks(const struct fast_template *t, const uint8_t *f, uint16_t pkt_len)
{
	for (uint32_t i = 2; unlikely(i < t->blocks); i++)
		if (!is_block(f + t->at[i], &t->block[i], pkt_len))
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
	return has_more_blocks(t, f, l) && likely(!is_special(special, f + t->special_at));
}

enum {
	LONG_STREAK = 4,  // packets: a shorter streak costs more than it saves
	STREAKS_LUCK = 2, // how many more streaks may be short than long
};

// streak tells how many packets from vec[i] on are as t says, which has INT. They become packets j
// and so on. It finds what recognise would find, 3.7 ns less a packet; mixed headers cost 0.8 ns more.
static __attribute__((noinline)) size_t streak(struct fast_state *s, const struct fast_template *t, struct fast_mbuf *const *vec, const size_t from, size_t n, size_t j)
{
	const uint64_t special = s->special;
	size_t i;
	for (i = from; i < n; i++, j++) {
		const struct fast_mbuf *m = vec[i];
		const uint8_t *f = m->buf_addr + m->data_off;
		if (!is_template(t, special, f, m->data_len, m->pkt_len))
			break;
		s->at[j] = (uint8_t)i;
		s->template[j] = t->number;
		set_key(s, j, t, f + t->src, f + t->dst, f + t->addresses, t->version6);
	}
	return i - from;
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

static inline bool is_shape(const struct fast_shape *p, const uint8_t *f, uint32_t len)
{
	if (len < p->need)
		return false;
	for (uint32_t i = 0; i < p->blocks; i++)
		if (!is_block(f + p->at[i], &p->block[i], 0))
			return false;
	return true;
}

// template_of is the template of a packet if its headers are of shape p, or NULL.
static const struct fast_template *template_of(const struct fast_state *s, const struct fast_shape *p, const uint8_t *f, uint32_t len, uint32_t pkt_len)
{
	for (uint8_t i = first_of(p, f, len); i < FAST_TEMPLATES; i = s->templates[i].next)
		if (is_template(&s->templates[i], s->special, f, len, pkt_len))
			return &s->templates[i];
	return NULL;
}

// search tries the shapes of hint, then all with such an EtherType, and makes the right one the
// first that is tried for packets with such a hint.
static __attribute__((noinline)) const struct fast_template *search(struct fast_state *s, uint32_t *hint, const uint8_t *f, uint32_t len, uint32_t pkt_len)
{
	const struct fast_template *t;
	for (uint32_t k = 0; k < 32; k += 8) {
		t = template_of(s, &s->shape[*hint >> k & 0xff], f, len, pkt_len);
		if (t != NULL)
			return t;
	}
	uint32_t left = s->of_kind[kind_of(f)];
	for (uint32_t k = 0; k < 32; k += 8)
		left &= ~(UINT32_C(1) << (*hint >> k & 0xff));
	for (; left; left &= left - 1) {
		const uint32_t n = (uint32_t)__builtin_ctz(left);
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

// find is the template of a packet, or NULL, where the guess was wrong: the next packets are guessed better.
static __attribute__((noinline)) const struct fast_template *find(struct fast_state *s, const uint8_t *f, uint32_t len, uint32_t pkt_len)
{
	const uint32_t h = hint_of(s, f);
	const struct fast_template *t = search(s, &s->hints[h], f, len, pkt_len);
	if (t != NULL)
		improve(s, &s->guesses[h], t, f, len);
	return t;
}

// recognise is the template of a packet, or NULL; t is guessed.
static inline __attribute__((always_inline)) const struct fast_template *recognise(struct fast_state *s, uint64_t special, const struct fast_template *t, const uint8_t *f, uint32_t len, uint32_t pkt_len)
{
	in_register(t);
	if (likely(is_template(t, special, f, len, pkt_len)))
		return t;
	if (unlikely(len < HINTS_FROM + HINTS_LEN))
		return NULL;
	return find(s, f, len, pkt_len);
}

// take makes packet i, of template t, packet j of those with INT.
static inline __attribute__((always_inline)) void take(struct fast_state *s, size_t i, size_t j, const struct fast_template *t, const uint8_t *f)
{
	s->at[j] = (uint8_t)i;
	s->template[j] = t->number;
	set_key(s, j, t, f + t->src, f + t->dst, f + t->addresses, t->version6);
}

static inline void take_unknown(struct fast_state *s, size_t i, size_t j)
{
	s->at[j] = (uint8_t)i;
	s->template[j] = FAST_NONE;
	s->unknown |= UINT64_C(1) << j;
}

// match_streaks is fast_match for packets that come in streaks of one template: it compares a packet
// with the template of the packet before it alone, until that saves nothing. It returns the first
// packet that it did not look at.
static inline size_t match_streaks(struct fast_state *s)
{
	struct fast_mbuf *const *vec = (struct fast_mbuf *const *)s->vec;
	const size_t n = s->n;
	size_t i = 0, j = 0;
	for (int luck = STREAKS_LUCK; i < n && luck > 0; i++) {
		const struct fast_mbuf *m = vec[i];
		const uint8_t *f = m->buf_addr + m->data_off;
		const struct fast_template *t = recognise(s, s->special, guess(s, f, m->data_len), f, m->data_len, m->pkt_len);
		if (unlikely(t == NULL)) {
			take_unknown(s, i, j++);
			luck--;
			continue;
		}
		if (t->kind != FAST_INT) {
			if (likely(t->plain))
				i = skip(s, t, vec, i + 1, n) - 1;
			continue;
		}
		take(s, i, j++, t, f);
		const size_t others = streak(s, t, vec, i + 1, n, j);
		luck += others >= LONG_STREAK ? 1 : -1;
		i += others;
		j += others;
	}
	s->ints = (uint32_t)j;
	return i;
}

// match_rest is fast_match from packet i on. It guesses all templates before it compares the first, which
// saves 3 of 21 ns a packet: each loop is short, so that the processor works on more packets at once.
static __attribute__((noinline)) void match_rest(struct fast_state *s, size_t i)
{
	struct fast_mbuf *const *vec = (struct fast_mbuf *const *)s->vec;
	const struct fast_template *guesses[FAST_BURST];
	const uint64_t special = s->special;
	const size_t n = s->n;
	size_t j = s->ints;
	for (size_t k = i; k < n; k++)
		guesses[k] = guess(s, vec[k]->buf_addr + vec[k]->data_off, vec[k]->data_len);
	for (; i < n; i++) {
		const struct fast_mbuf *m = vec[i];
		const uint8_t *f = m->buf_addr + m->data_off;
		const struct fast_template *t = recognise(s, special, guesses[i], f, m->data_len, m->pkt_len);
		if (unlikely(t == NULL))
			take_unknown(s, i, j++);
		else if (likely(t->kind == FAST_INT))
			take(s, i, j++, t, f);
		else if (likely(t->plain))
			i = skip(s, t, vec, i + 1, n) - 1;
	}
	s->ints = (uint32_t)j;
}

// fast_match finds out which packets have INT, and makes their keys and hashes. What it
// does not know stands among these, in unknown.
void fast_match(struct fast_state *s)
{
	s->unknown = 0;
	size_t i = match_streaks(s);
	if (i < s->n)
		match_rest(s, i);
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

// find_in is the flow of packet j in a bucket, or NULL (flows.Index.find).
static inline struct fast_flow *find_in(const struct fast_state *s, size_t j, const struct fast_bucket *b)
{
	for (uint32_t slots = slots_of(b, tag_of(s->hashes[j])) & 0x5555; slots; slots &= slots - 1) {
		struct fast_flow *f = (struct fast_flow *)s->index.flows + flow_in(b, slots);
		if (is_key(&f->key, &s->keys[j]))
			return f;
	}
	return NULL;
}

// find_others looks for the flows of the packets in missing where they are not the first of their bucket with their tag:
// behind that one, or in their other bucket. It returns which are in neither. In a table that is half full, every second
// burst has a packet of such a flow, and would have to go through Go; in a flood, most flows are in neither.
static __attribute__((noinline)) uint64_t find_others(struct fast_state *s, uint64_t missing)
{
	for (uint64_t left = missing; left; left &= left - 1)
		fetch(other_bucket_of(s, (size_t)__builtin_ctzll(left)));
	for (uint64_t left = missing; left; left &= left - 1) {
		size_t j = (size_t)__builtin_ctzll(left);
		struct fast_flow *f = find_in(s, j, bucket_of(s, j));
		if (f == NULL)
			f = find_in(s, j, other_bucket_of(s, j));
		s->flows[j] = f;
		if (f != NULL) {
			f->seen = s->now;
			missing &= ~(UINT64_C(1) << j);
		}
	}
	return missing;
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
		const struct fast_bucket *b = bucket_of(s, j);
		uint32_t slots = slots_of(b, tag_of(s->hashes[j]));
		struct fast_flow *f = table + (likely(slots) ? flow_in(b, slots) : 0);
		fetch(f);
		fetch(&f->seen);
		s->flows[j] = f;
	}
	for (size_t j = 0; j < n; j++) {
		struct fast_flow *f = s->flows[j];
		if (likely(is_key(&f->key, &s->keys[j])))
			f->seen = now;
		else
			missing |= UINT64_C(1) << j;
	}
	s->missing = unlikely(missing) ? find_others(s, missing) : 0;
}
