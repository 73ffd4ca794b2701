//go:build cgo && !purego

// C loop strip: takes INT out of the packets that kept it until they were reported.

#include "strip.h"

// fast_strip takes INT out of the packets whose bits are set in which, all with templates.
void fast_strip(struct fast_state *s, uint64_t which)
{
	struct fast_mbuf *const *vec = (struct fast_mbuf *const *)s->vec;
	for (; which; which &= which - 1) {
		uint32_t j = (uint32_t)__builtin_ctzll(which);
		struct fast_mbuf *m = vec[s->at[j]];
		const struct fast_template *t = &s->templates[s->template[j]];
		in_register(t);
		strip(m, m->buf_addr + m->data_off, t);
	}
}
