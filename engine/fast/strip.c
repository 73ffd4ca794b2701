//go:build cgo

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

// fast_strip_frame takes INT out of one frame that is as t says, and tells by how many bytes the
// packet begins later.
uint32_t fast_strip_frame(const struct fast_template *t, uint8_t *frame, uint32_t len, uint32_t pkt_len)
{
	struct fast_mbuf m = {.buf_addr = frame, .data_len = (uint16_t)len, .pkt_len = pkt_len};
	strip(&m, frame, t);
	return m.data_off;
}
