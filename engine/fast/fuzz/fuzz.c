// libFuzzer program: runs the C loops over packets that end at a guard page.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fast.h"

enum { BUCKETS = 16, FLOWS = FAST_BURST + 2, LINKS = 64, MOST = 24 };

static uint8_t numbers[FAST_BURST][8]; // the bytes of each packet that end with its sequence number
static struct fast_state *trained, *state;
static struct fast_view *trained_view, *view;
static struct fast_tallies *tallies;

static void *load(const char *dir, const char *name, size_t size)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "rb");
	void *p = malloc(size);
	if (f == NULL || fread(p, 1, size, f) != size) {
		fprintf(stderr, "fuzz: %s: no %zu bytes; make fuzz-fast writes it\n", path, size);
		exit(1);
	}
	fclose(f);
	return p;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("FAST_STATE");
	(void)argc;
	(void)argv;
	trained = load(dir ? dir : ".", "state", sizeof *trained);
	trained_view = load(dir ? dir : ".", "view", sizeof *trained_view);
	state = malloc(sizeof *state);
	view = malloc(sizeof *view);
	tallies = malloc(sizeof *tallies);
	return 0;
}

// value is a value of a hop of IFA.
static uint32_t value(const struct fast_bits *b, const uint8_t *hop)
{
	uint32_t v;
	memcpy(&v, hop + b->at, sizeof v);
	return b->mask ? __builtin_bswap32(v) >> b->shift & b->mask : UINT32_MAX;
}

// settle makes the flow of packet j known, with its hops as its references.
// Some have windows, some number their packets, some have other facts than the packet.
static void settle(struct fast_flow *flows, struct fast_bucket *buckets, struct fast_loss *losses, uint32_t j)
{
	const struct fast_template *t = &state->templates[state->template[j]];
	struct fast_mbuf *m = ((struct fast_mbuf **)state->vec)[state->at[j]];
	struct fast_flow *w = &flows[j + 1];
	uint32_t watch = j % (state->policies ? state->policies : 1);
	if (t->number_bits)
		memcpy(numbers[j], m->buf_addr + m->data_off + t->number_at, sizeof numbers[j]);
	w->key = state->keys[j];
	w->bound = state->generation | watch << 16 | (uint32_t)view->policies[watch].flags << 24;
	w->next_refresh = state->refresh + 1;
	if (t->common) {
		const uint8_t *hop = m->buf_addr + m->data_off + (t->ifa ? t->ifa_stack : t->stack);
		uint32_t sum = 0;
		w->path_hops = (uint8_t)t->all_hops;
		for (uint32_t i = 0; i < t->all_hops; i++, hop += t->ifa ? t->ifa_len : t->hop_len) {
			uint32_t latency;
			memcpy(&w->hops[i], hop, 8);
			memcpy(&latency, hop + 8, 4);
			w->hops[i].ref = __builtin_bswap32(latency);
			if (t->ifa) {
				w->hops[i].node = __builtin_bswap32(value(&t->ifa_node, hop));
				w->hops[i].interfaces = __builtin_bswap32(value(&t->ifa_ingress, hop) << 16 | value(&t->ifa_egress, hop));
				w->hops[i].ref = value(&t->ifa_latency, hop);
			}
			sum += w->hops[i].ref;
		}
		w->end_ref = sum;
	}
	if (j % 3 == 0) {
		w->windows[j % 16] = 1;
		w->bound |= FAST_UNSETTLED;
	}
	if (t->number_bits && j % 4) {
		uint64_t n;
		memcpy(&n, numbers[j], sizeof n);
		w->loss = &losses[j];
		w->loss->top = __builtin_bswap64(n) - 1;
		w->bound |= FAST_HAS_LOSS;
	}
	const uint16_t tag = (uint16_t)(state->hashes[j] >> 48) | 1;
	const uint64_t other = tag * state->index.alternate >> 24 << 6, at = state->hashes[j] ^ (j % 5 == 1 ? other : 0);
	struct fast_bucket *b = (struct fast_bucket *)((uint8_t *)buckets + (at & state->index.mask));
	for (int s = 0; s < 8; s++) {
		if (b->tags[s] != 0)
			continue;
		b->tags[s] = tag;
		b->flows[s] = j + 1;
		break;
	}
}

// record opens a record of a queue of packet j, with which packets of the first watch go on, and has its flow have a share of it.
static void record(struct fast_cold *cold, uint32_t j)
{
	const struct fast_template *t = &state->templates[state->template[j]];
	const struct fast_mbuf *m = ((struct fast_mbuf **)state->vec)[state->at[j]];
	const uint8_t *hop = m->buf_addr + m->data_off + t->stack;
	struct fast_tally *q = &tallies->of[j];
	uint32_t node, at;
	if (!t->common || t->ifa || !t->all_hops)
		return;
	hop += j % t->all_hops * t->hop_len;
	memcpy(&node, hop, sizeof node);
	q->queue[0] = (uint64_t)__builtin_bswap32(node) << 32 | (t->path & FAST_NODES_ALONE ? 0xffff : (uint64_t)(hop[6] << 8 | hop[7]));
	q->queue[1] = t->queue ? hop[t->queue] : 0xff;
	q->id = j + 1;
	q->usual = j * 1000;
	q->first = (int64_t)j * 5 - 20;
	q->until = j % 3 ? INT64_MAX : state->now;
	q->left = j % 2 ? UINT64_MAX : 2;
	q->latencies.span = q->occupancies.span = UINT32_MAX;
	q->goes = j % 5 != 4;
	q->watch = (uint8_t)(j % (state->policies ? state->policies : 1));
	for (at = (uint32_t)((q->queue[0] ^ q->queue[1] << 16) * UINT64_C(0x9e3779b97f4a7c15) >> 55); tallies->places[at % FAST_RECORD_PLACES]; at++)
		;
	tallies->places[at % FAST_RECORD_PLACES] = (uint8_t)(j + 1);
	cold->shares[j % FAST_SHARES] = (struct fast_share){.record = j + 1, .taken = 1 + j % 2 * UINT32_MAX};
}

// check_tallies aborts where the sums of tallies are not those of the packets that are in them.
static void check_tallies(void)
{
	uint64_t packets = 0, least = 0;
	for (uint32_t i = 0; i < FAST_RECORDS; i++) {
		const struct fast_tally *q = &tallies->of[i];
		const uint64_t own = q->own.ecn[0] + q->own.ecn[1] + q->own.ecn[2] + q->own.ecn[3], others = q->others.ecn[0] + q->others.ecn[1] + q->others.ecn[2] + q->others.ecn[3];
		packets += own + others;
		if (own + others != 0 && !((tallies->counted | tallies->others) >> i & 1))
			abort();
		if (own > 0 && (!q->goes || (q->left < 2 && own > 2)))
			abort();
	}
	for (uint64_t left = state->tallied; left; left &= left - 1)
		least++;
	if (packets < least || packets > least * FAST_MOST_HOPS || state->tallied & (state->met | state->samples) || state->draws > packets)
		abort();
	for (uint32_t k = 0; k < state->deferred; k++)
		if (state->tallied >> state->deferred_at[k] & 1)
			abort();
}

// A port whose packets are those of the input, once, and one that takes packets but for every fifth
// burst's last.
static struct fast_mbuf **arriving;
static uint32_t arrivals, departures;

static uint16_t receive(uint64_t queue, struct fast_mbuf **vec)
{
	uint16_t n = queue == 0 ? (uint16_t)arrivals : 0;
	memcpy(vec, arriving, n * sizeof *vec);
	arrivals -= n;
	return n;
}

static uint16_t transmit(uint64_t queue, struct fast_mbuf **vec, uint16_t n)
{
	(void)queue;
	for (uint16_t i = 0; i < n; i++) {
		volatile uint8_t last = vec[i]->data_len ? vec[i]->buf_addr[vec[i]->data_off + vec[i]->data_len - 1] : 0;
		(void)last;
	}
	departures = n % 5 == 0 ? n - 1u : n;
	return (uint16_t)departures;
}

// poll takes the packets of vec[:n] through fast_poll. It tells whether Go would have something to do
// with them; if not, they must have left.
static int poll(struct fast_mbuf **vec, uint32_t n)
{
	static const uint64_t announced;
	static struct fast_loop l;
	struct fast_mbuf *burst[FAST_BURST], *back[FAST_BURST];
	struct fast_queue network = {0, receive, transmit}, host = {1, receive, transmit};
	l = (struct fast_loop){
		.announced = (uint64_t)&announced, .vec = (uint64_t)burst, .back = (uint64_t)back, .links = 1,
		.time = INT64_MAX, .long_gap = INT64_MAX, .due = 1000, .due_at = INT64_MAX, .look = n & 1 ? 0 : 1000, .look_at = 0, .look_from = (uint8_t)(1 + n),
		.now = state->now, .last = state->now, .link[0] = {.network = network, .host = host, .state = (uint64_t)state},
	};
	arriving = vec;
	arrivals = n;
	departures = 0;
	fast_poll(&l);
	if (l.reason == FAST_BEGUN && l.n == n) {
		memcpy(vec, burst, n * sizeof *vec);
		state->vec = (uint64_t)vec;
		return 1;
	}
	if (l.link[0].received != n || l.packets != n || departures + (l.reason == FAST_SENT ? l.n - l.transmitted : 0) != n)
		abort();
	return 0;
}

// check_numbers aborts where a packet was passed whose sequence number its flow does not have.
static void check_numbers(void)
{
	uint64_t other = state->watched ? state->unknown : UINT64_MAX;
	for (uint32_t k = 0; k < state->deferred; k++)
		other |= UINT64_C(1) << state->deferred_at[k];
	for (uint32_t j = 0; j < state->ints; j++) {
		const struct fast_flow *w = state->flows[j];
		const struct fast_template *t = &state->templates[state->template[j]];
		uint64_t n;
		if (other >> j & 1 || w == NULL || !t->number_bits || !view->policies[w->bound >> 16 & 0xff].loss)
			continue;
		memcpy(&n, numbers[j], sizeof n);
		n = __builtin_bswap64(n) << (64 - t->number_bits);
		if ((int64_t)((w->loss->top << (64 - t->number_bits)) - n) < 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fast_mbuf mbufs[MOST] = {0}, *vec[FAST_BURST];
	uint8_t *frames[MOST];
	uint32_t n = 0;
	while (size > 3 && n < MOST) {
		size_t len = (data[0] | data[1] << 8) & 0x7ff;
		uint8_t more = data[2];
		data += 3;
		size -= 3;
		if (len > size)
			len = size;
		frames[n] = malloc(len ? len : 1);
		memcpy(frames[n], data, len);
		mbufs[n].buf_addr = frames[n];
		mbufs[n].data_len = (uint16_t)len;
		mbufs[n].pkt_len = (uint32_t)len + (more > 0xf0 ? more : 0);
		vec[n] = &mbufs[n];
		n++;
		data += len;
		size -= len;
		for (uint32_t row = n + more / 16 % 8; n < row && n < MOST; n++) { // packets in a row that are alike
			frames[n] = malloc(len ? len : 1);
			memcpy(frames[n], frames[n - 1], len);
			mbufs[n] = mbufs[n - 1];
			mbufs[n].buf_addr = frames[n];
			vec[n] = &mbufs[n];
		}
	}
	struct fast_bucket *buckets = calloc(BUCKETS, sizeof *buckets);
	struct fast_flow *flows = calloc(FLOWS, sizeof *flows);
	struct fast_loss *losses = calloc(FAST_BURST, sizeof *losses);
	struct fast_cold *colds = calloc(FAST_BURST, sizeof *colds);
	struct fast_link *links = calloc(LINKS + 1, sizeof *links);
	*state = *trained;
	*view = *trained_view;
	state->vec = (uint64_t)vec;
	state->n = n;
	state->view = (uint64_t)view;
	state->index.buckets = (uint64_t)buckets;
	state->index.flows = (uint64_t)flows;
	state->index.mask = (BUCKETS - 1) * sizeof *buckets;
	state->index.alternate = UINT64_C(0x9e3779b185ebca87);
	state->strip = 1;
	state->watched = n % 8 != 7;
	state->deferred = 0;
	state->keep = n % 4 == 0 ? FAST_ASK : 0;
	state->asks = n;
	state->facts_key = 1;
	for (uint32_t i = 0; n % 3 == 0 && i < FAST_POLICIES; i++) { // every packet is a sample
		view->policies[i].sample_left = view->policies[i].sample_every = 1;
	}
	memset(tallies, 0, sizeof *tallies);
	view->tallies = (uint64_t)tallies;
	const uint32_t full = n % 5 == 0; // all queues may be in an episode, and some packets have no flow
	if (full) {
		view->hot |= FAST_HOT_QUEUES;
		memset(view->queues, 0xff, sizeof view->queues);
		for (uint32_t i = 0; n % 2 && i < FAST_POLICIES; i++) { // and nothing else is asked of packets, but their numbers
			view->policies[i].alone = 1;
			view->policies[i].link = 0;
		}
	}
	view->links.entries = (uint64_t)links;
	view->links.mask = (LINKS - 1) & ~3u;
	links[LINKS].key[0] = UINT64_MAX;
	for (uint32_t i = 0; i < FAST_LINK_HINTS; i++)
		view->link_at[i] = LINKS * sizeof *links;
	fast_match(state);
	for (uint32_t j = 0; j < state->ints; j++) {
		if (state->unknown >> j & 1 || state->templates[state->template[j]].kind != FAST_INT)
			continue;
		if (!(full && j % 7 == 3))
			settle(flows, buckets, losses, j);
		if (full)
			record(&colds[j], j);
		if (full && j % 7 != 3 && j % 2) {
			flows[j + 1].cold = &colds[j];
			flows[j + 1].bound |= FAST_HAS_COLD;
		}
	}
	int left = poll(vec, n);
	if (left && state->ints > 0 && (state->unknown || state->missing)) {
		for (uint32_t j = 0; j < state->ints; j++) {
			if (state->unknown >> j & 1)
				memset(&state->keys[j], 0, sizeof state->keys[j]), state->hashes[j] = 0;
		}
		fast_lookup(state);
		fast_pass(state);
	}
	for (uint32_t k = 0; left && k < state->deferred; k++) {
		uint8_t j = state->deferred_at[k];
		if (state->template[j] != FAST_NONE)
			fast_strip(state, UINT64_C(1) << j);
	}
	check_numbers();
	check_tallies();
	free(buckets);
	free(colds);
	free(flows);
	free(links);
	free(losses);
	for (uint32_t i = 0; i < n; i++)
		free(frames[i]);
	return 0;
}
