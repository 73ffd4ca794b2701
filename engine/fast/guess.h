//go:build cgo

// C: hints, and the template that a packet is compared with first.

#ifndef INTSINK_FAST_GUESS_H
#define INTSINK_FAST_GUESS_H

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

#endif
