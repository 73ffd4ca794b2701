//go:build cgo

// C loop match: compares packets with the template that was guessed, then searches by shape; leaves each
// packet's template, key and hash in the state, and the bits of unknown ones.

#include "guess.h"
#include "streak.h"

// Finds the template of each packet of a burst: headers that match a template are not parsed.

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
