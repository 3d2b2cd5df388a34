/* SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

#include <string.h>

#define KIB 1024u
#define TOKENS_A_BLOCK 16u
#define KV_BLOCK (TOKENS_A_BLOCK * 1280u) /* 20 KiB, of blocks of 32 */
#define TENSORS 6u

static unsigned below(struct workload *load, unsigned n)
{
	load->random ^= load->random << 13;
	load->random ^= load->random >> 7;
	load->random ^= load->random << 17;
	return (unsigned)((load->random >> 33) % n);
}

/* ---- pieces ------------------------------------------------------------ */

/* Marks the first and last bytes: enough to detect overwriting. */
static void mark(struct piece *piece, unsigned char with)
{
	size_t n = piece->bytes < 64 ? piece->bytes : 64;

	piece->mark = with;
	memset(piece->memory, with, n);
	memset(piece->memory + piece->bytes - n, with, n);
}

static bool is_unspoiled(const struct piece *piece)
{
	size_t n = piece->bytes < 64 ? piece->bytes : 64;

	for (size_t i = 0; i < n; i++)
		if (piece->memory[i] != piece->mark ||
		    piece->memory[piece->bytes - 1 - i] != piece->mark)
			return false;
	return true;
}

static bool take(struct workload *load, enum kind kind, size_t bytes,
		 struct piece *piece)
{
	piece->memory = pool_alloc(&load->pool[kind], bytes);
	piece->bytes = bytes;
	if (piece->memory)
		mark(piece, (unsigned char)(1 + below(load, 255)));
	return piece->memory != NULL;
}

static void give(struct workload *load, enum kind kind, struct piece *piece)
{
	if (!piece->memory)
		return;
	load->spoiled += !is_unspoiled(piece);
	pool_free(&load->pool[kind], piece->memory, piece->bytes);
	piece->memory = NULL;
}

/* ---- requests ---------------------------------------------------------- */

static void end_request(struct workload *load, struct request *r)
{
	while (r->n_blocks > 0)
		give(load, KV_CACHE, &r->block[--r->n_blocks]);
	r->wanted = 0;
}

/* Makes room: removes the largest request. False: there is none. */
static bool evict(struct workload *load)
{
	struct request *most = NULL;

	for (unsigned i = 0; i < REQUESTS_MOST; i++)
		if (load->request[i].n_blocks &&
		    (!most || load->request[i].n_blocks > most->n_blocks))
			most = &load->request[i];
	if (!most)
		return false;
	end_request(load, most);
	load->evicted++;
	return true;
}

static void take_or_evict(struct workload *load, enum kind kind, size_t bytes,
			  struct piece *piece)
{
	while (!take(load, kind, bytes, piece) && evict(load))
		;
}

static void add_token(struct workload *load, struct request *r)
{
	struct piece piece;

	if (r->tokens++ % TOKENS_A_BLOCK == 0 && r->n_blocks < BLOCKS_MOST) {
		take_or_evict(load, KV_CACHE, KV_BLOCK, &piece);
		/* The request may have been evicted itself. */
		if (!r->wanted)
			give(load, KV_CACHE, &piece);
		else if (piece.memory)
			r->block[r->n_blocks++] = piece;
	}
	if (r->wanted && r->tokens >= r->wanted) {
		end_request(load, r);
		load->finished++;
	}
}

static unsigned serve_requests(struct workload *load)
{
	unsigned active = 0;

	TARE_SCOPE("kv_cache");
	for (unsigned i = 0; i < REQUESTS_MOST; i++) {
		struct request *r = &load->request[i];

		if (!r->wanted && below(load, 8) == 0)
			*r = (struct request){ .wanted =
						       32 + below(load, 480) };
		if (r->wanted) {
			active++;
			add_token(load, r);
		}
	}
	return active;
}

/* ---- a step ------------------------------------------------------------ */

/* A layer's work: computes its tensor from a part of the weights. */
static void compute(const struct workload *load, struct piece *tensor,
		    unsigned layer)
{
	const struct piece *weight = &load->weight[layer % WEIGHTS_MOST];
	size_t n = tensor->bytes < weight->bytes ? tensor->bytes :
						   weight->bytes;
	unsigned char mark_was = tensor->mark;

	if (!tensor->memory)
		return;
	for (size_t i = 0; i < n; i++)
		tensor->memory[i] = (unsigned char)(tensor->memory[i] * 5 +
						    weight->memory[i]);
	mark(tensor, mark_was);
}

/* One layer after the other, freed in the opposite order. */
static void forward(struct workload *load, unsigned active)
{
	struct piece tensor[TENSORS];

	TARE_SCOPE("forward");
	for (unsigned i = 0; i < TENSORS; i++) {
		take_or_evict(load, ACTIVATIONS,
			      (size_t)(active + 1) * (KIB << i % 4) + 100,
			      &tensor[i]);
		compute(load, &tensor[i], i);
	}
	pool_observe(&load->pool[ACTIVATIONS]); /* now all are allocated */
	for (unsigned i = TENSORS; i-- > 0;)
		give(load, ACTIVATIONS, &tensor[i]);
}

static void use_scratch(struct workload *load)
{
	TARE_SCOPE("scratch");
	for (unsigned i = 0; i < 24; i++) {
		struct piece *piece = &load->scratch[below(load,
							   SCRATCH_MOST)];

		give(load, SCRATCH, piece);
		take_or_evict(load, SCRATCH, 16 + below(load, 6000), piece);
	}
}

void workload_step(struct workload *load)
{
	TARE_SCOPE("token");

	forward(load, serve_requests(load));
	use_scratch(load);
	for (unsigned i = 0; i < KINDS; i++)
		if (i != ACTIVATIONS)
			pool_observe(&load->pool[i]);
	TARE_GAUGE("arena.fragmented", "%",
		   arena_fragmentation(&load->arena) * 100);
	TARE_GAUGE("arena.free", "B", (double)load->arena.buddy.free_bytes);
	TARE_GAUGE("arena.largest", "B",
		   (double)buddy_largest_free(&load->arena.buddy));
}

/* ---- begin and end ----------------------------------------------------- */

int workload_init(struct workload *load, size_t arena_bytes, uint64_t seed)
{
	static const char *const names[KINDS] = { "weights", "kv_cache",
						  "activations", "scratch" };

	*load = (struct workload){ .random = seed * 2654435769u + 1 };
	if (arena_init(&load->arena, arena_bytes))
		return -1;
	for (unsigned i = 0; i < KINDS; i++)
		pool_init(&load->pool[i], &load->arena, names[i]);
	TARE_SCOPE("load weights");
	for (unsigned i = 0; i < WEIGHTS_MOST; i++)
		if (!take(load, WEIGHTS,
			  load->arena.buddy.size / 128 + below(load, 90000),
			  &load->weight[i]))
			return -1;
	return 0;
}

bool workload_is_sound(const struct workload *load)
{
	for (unsigned i = 0; i < WEIGHTS_MOST; i++)
		if (!is_unspoiled(&load->weight[i]))
			return false;
	for (unsigned i = 0; i < REQUESTS_MOST; i++)
		for (unsigned k = 0; k < load->request[i].n_blocks; k++)
			if (!is_unspoiled(&load->request[i].block[k]))
				return false;
	for (unsigned i = 0; i < SCRATCH_MOST; i++)
		if (load->scratch[i].memory &&
		    !is_unspoiled(&load->scratch[i]))
			return false;
	return !load->spoiled && arena_is_sound(&load->arena);
}

bool workload_end(struct workload *load)
{
	size_t slabs = 0;
	bool is_whole;

	for (unsigned i = 0; i < REQUESTS_MOST; i++)
		end_request(load, &load->request[i]);
	for (unsigned i = 0; i < SCRATCH_MOST; i++)
		give(load, SCRATCH, &load->scratch[i]);
	for (unsigned i = 0; i < WEIGHTS_MOST; i++)
		give(load, WEIGHTS, &load->weight[i]);
	is_whole = arena_is_sound(&load->arena);
	for (unsigned i = 0; i < KINDS; i++) {
		const struct pool *pool = &load->pool[i];

		is_whole &= pool->allocs == pool->frees &&
			    !pool->asked_bytes && !pool->taken_bytes;
		slabs += pool->slab_bytes;
	}
	/* Only the empty slabs that pools keep are not free. */
	return is_whole && load->arena.buddy.free_bytes + slabs ==
				   load->arena.buddy.size;
}
