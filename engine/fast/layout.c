//go:build cgo

// Gives offsets and sizes of all structs in C, for layout_test.go to compare with Go.

#include "fast.h"

// fast_layout tells where everything stands, for Go to compare.
void fast_layout(uint64_t *out)
{
#define AT(type, field) (uint64_t)offsetof(struct fast_##type, field)
#define SIZE(type) (uint64_t)sizeof(struct fast_##type)
	const uint64_t all[] = {
		AT(mbuf, buf_addr), AT(mbuf, data_off), AT(mbuf, pkt_len), AT(mbuf, data_len),
		// flows.Layout
		SIZE(key), AT(key, addrs), SIZE(hop), AT(hop, interfaces), AT(hop, ref),
		SIZE(flow), AT(flow, bound), AT(flow, path_hops), AT(flow, next_refresh), AT(flow, seen), AT(flow, packets), AT(flow, bytes),
		AT(flow, path_seen), AT(flow, end_ref), AT(flow, hops), AT(flow, windows), AT(flow, cold), AT(flow, last_report), AT(flow, last_events), AT(flow, loss),
		AT(loss, seen), AT(loss, num_holes), AT(loss, pending), AT(loss, listed), AT(loss, anew),
		SIZE(bucket), AT(bucket, tags),
		SIZE(index), AT(index, more), AT(index, mask), AT(index, buckets), AT(index, flows),
		// event.FastLayout
		AT(view, hot), AT(view, links), AT(view, link_at), AT(view, queues), AT(view, interfaces), AT(view, policies), AT(view, models), AT(view, others), AT(view, limits), AT(view, limits_key),
		SIZE(policy), AT(policy, mask), AT(policy, fabric), AT(policy, link), AT(policy, ptp), AT(policy, by_flow),
		AT(policy, absolute), AT(policy, twice), AT(policy, end), AT(policy, end_twice), AT(policy, clock_offset),
		AT(policy, left), AT(policy, every), AT(policy, raise), AT(policy, latency), AT(policy, tx), AT(policy, refresh), AT(policy, link_absolute), AT(policy, most), AT(policy, most_together), AT(policy, hops), AT(policy, loss), AT(policy, factor), AT(policy, random),
		SIZE(link), AT(link, used), AT(link, tick), AT(link, key), AT(link, ref), AT(link, last), AT(link, window), AT(link, least),
		// State
		SIZE(block), AT(block, mask), AT(block, length), SIZE(kind), SIZE(patch), AT(patch, flip),
		SIZE(shape), AT(shape, length_at), AT(shape, at), AT(shape, variant_mask), AT(shape, variant), AT(shape, block),
		SIZE(template), AT(template, at), AT(template, special_at), AT(template, plain), AT(template, next), AT(template, addresses), AT(template, key_rest),
		AT(template, flags_at), AT(template, egress), AT(template, l4_udp), AT(template, stack), AT(template, removed), AT(template, port_mask), AT(template, patches),
		AT(template, sum_removed), AT(template, l4_sum_add), AT(template, in_flow), AT(template, shorten), AT(template, pieces), AT(template, last), AT(template, patch), AT(template, block),
		AT(template, checks), AT(template, edits), AT(template, length), AT(template, sum), AT(template, edit), AT(template, hop_order), AT(template, hop_word), AT(template, lanes), AT(template, sum_from), AT(template, links), AT(template, sound), AT(template, number_at), AT(template, dscp), AT(template, latency), FAST_NODES_ALONE, FAST_NO_LATENCY,
		SIZE(model), SIZE(band),
		SIZE(sum), AT(sum, removed), AT(sum, add), SIZE(edit),
		SIZE(state), AT(state, index), AT(state, view), AT(state, vec), AT(state, n), AT(state, refresh), AT(state, look),
		AT(state, now), AT(state, facts_key), AT(state, mx), AT(state, link_number), AT(state, ints), AT(state, unknown), AT(state, samples), AT(state, at), AT(state, deferred_at),
		AT(state, hashes), AT(state, flows), AT(state, keys), AT(state, hint_key), AT(state, hints), AT(state, guesses), AT(state, kinds), AT(state, of_kind), AT(state, shape), AT(state, templates),
		SIZE(queue), SIZE(link_ends), AT(link_ends, received), AT(link_ends, mx), AT(link_ends, state), SIZE(loop), AT(loop, announced), AT(loop, back), AT(loop, at), AT(loop, synced), AT(loop, most_empty),
		AT(loop, why), AT(loop, received), AT(loop, empty), AT(loop, done), AT(loop, now), AT(loop, last), AT(loop, longest), AT(loop, polls), AT(loop, bursts), AT(loop, packets), AT(loop, link),
		FAST_TICK_SHIFT, FAST_REFRESH_SHIFT, FAST_SAMPLE, FAST_LINKS, FAST_BURST_SIZES,
	};
	_Static_assert(offsetof(struct fast_flow, path_hops) == offsetof(struct fast_flow, bound) + 6, "FAST_PATH_HOPS");
	_Static_assert(offsetof(struct fast_flow, bytes) == offsetof(struct fast_flow, packets) + 4, "count of pass.c");
	_Static_assert(offsetof(struct fast_mbuf, data_len) == offsetof(struct fast_mbuf, pkt_len) + 4, "shorten of strip.h");
	_Static_assert(sizeof all / sizeof all[0] == FAST_LAYOUT, "FAST_LAYOUT");
	for (uint32_t i = 0; i < FAST_LAYOUT; i++)
		out[i] = all[i];
}
