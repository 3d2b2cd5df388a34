/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: profile.proto, gzipped, for `go tool pprof` and compatible tools.
 *
 * With samples: their addresses with modules and build ids, and for each the
 * functions with lines, also inlined ones. Without samples: the call tree,
 * whose scopes have no addresses.
 */
#include "render/profiles/costs.h"
#include "render/profiles.h"

#include <stdlib.h>

#define PLACES_MOST 32u

/* Field numbers of profile.proto. */
enum {
	PROFILE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5, PROFILE_STRING = 6,
	PROFILE_TIME = 9, PROFILE_DURATION = 10, PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12, PROFILE_COMMENT = 13, PROFILE_DEFAULT = 14,
	TYPE_TYPE = 1, TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2,
	MAPPING_ID = 1, MAPPING_START = 2, MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4, MAPPING_FILE = 5, MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9, MAPPING_HAS_INLINES = 10,
	LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1, LINE_LINE = 2,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4, FUNCTION_LINE = 5
};

struct pprof {
	tare_view *view;
	struct tr_sink *sink;
	struct tr_buf out, part, inner;
	struct tr_functions strings; /* only their names are used */
	struct tr_functions functions;
	const tare_module *modules;
	size_t n_modules;
	const tare_stack *stacks;
	size_t n_stacks;
	uint32_t *location; /* number by stack; 0: none */
	double carry;
};

static uint64_t string_of(struct pprof *p, const char *text)
{
	struct tr_named_function key = { text, "", "", 0 };
	uint32_t i = tr_functions_find(&p->strings, &key);

	if (i == UINT32_MAX)
		p->out.failed = true;
	return i;
}

static void end_part(struct pprof *p, unsigned field)
{
	tr_wire_bytes(&p->out, field, p->part.data, p->part.len);
	p->part.len = 0;
}

static void put_type(struct pprof *p, unsigned field, const char *type,
		     const char *unit)
{
	tr_wire_u64(&p->part, TYPE_TYPE, string_of(p, type));
	tr_wire_u64(&p->part, TYPE_UNIT, string_of(p, unit));
	end_part(p, field);
}

static void put_line(struct pprof *p, const struct tr_named_function *function,
		     uint32_t line)
{
	uint32_t number = tr_functions_find(&p->functions, function);

	if (number == UINT32_MAX) {
		p->out.failed = true;
		return;
	}
	p->inner.len = 0;
	tr_wire_u64(&p->inner, LINE_FUNCTION, number + (uint64_t)1);
	if (line)
		tr_wire_u64(&p->inner, LINE_LINE, line);
	tr_wire_bytes(&p->part, LOCATION_LINE, p->inner.data, p->inner.len);
}

/* Locations are in `inner`, innermost first. */
static void end_sample(struct pprof *p, uint64_t count, uint64_t ns)
{
	tr_wire_bytes(&p->part, SAMPLE_LOCATION, p->inner.data, p->inner.len);
	p->inner.len = 0;
	tr_wire_varint(&p->inner, count);
	tr_wire_varint(&p->inner, ns);
	tr_wire_bytes(&p->part, SAMPLE_VALUE, p->inner.data, p->inner.len);
	end_part(p, PROFILE_SAMPLE);
	p->sink->rows++;
}

/* ---- samples ----------------------------------------------------------- */

static void put_mapping(struct pprof *p, size_t i)
{
	const tare_module *m = &p->modules[i];

	tr_wire_u64(&p->part, MAPPING_ID, i + 1);
	tr_wire_u64(&p->part, MAPPING_START, m->from);
	tr_wire_u64(&p->part, MAPPING_LIMIT, m->to);
	if (m->from > m->bias)
		tr_wire_u64(&p->part, MAPPING_OFFSET, m->from - m->bias);
	tr_wire_u64(&p->part, MAPPING_FILE,
		    string_of(p, m->path[0] ? m->path : m->name));
	tr_wire_u64(&p->part, MAPPING_BUILD_ID, string_of(p, m->build_id));
	/* Names are complete: the reader need not look up symbols. */
	tr_wire_u64(&p->part, MAPPING_HAS_FUNCTIONS, 1);
	tr_wire_u64(&p->part, MAPPING_HAS_FILES, 1);
	tr_wire_u64(&p->part, MAPPING_HAS_LINES, 1);
	tr_wire_u64(&p->part, MAPPING_HAS_INLINES, 1);
	end_part(p, PROFILE_MAPPING);
}

static void put_places(struct pprof *p, const tare_stack *stack)
{
	const char *module = stack->module < p->n_modules ?
				     p->modules[stack->module].name :
				     "";
	tare_place place[PLACES_MOST];
	size_t n = tare_view_places(p->view, stack->module, stack->address,
				    place, PLACES_MOST);

	for (size_t i = 0; i < n; i++) {
		struct tr_named_function f = { place[i].function,
					       place[i].file, module,
					       place[i].first_line };

		put_line(p, &f, place[i].line);
	}
}

/* Stacks that are not code: cut short or lost. */
static void put_no_code(struct pprof *p, const tare_stack *stack)
{
	struct tr_named_function f = { stack->kind == TARE_STACK_CUT ?
					       "[stacks cut short]" :
					       "[stacks lost]",
				       "", "", 0 };

	put_line(p, &f, 0);
}

static void put_location(struct pprof *p, const tare_stack *stack,
			 uint32_t number)
{
	tr_wire_u64(&p->part, LOCATION_ID, number);
	if (stack->module < p->n_modules)
		tr_wire_u64(&p->part, LOCATION_MAPPING,
			    stack->module + (uint64_t)1);
	if (stack->kind == TARE_STACK_CODE) {
		tr_wire_u64(&p->part, LOCATION_ADDRESS, stack->address);
		put_places(p, stack);
	} else {
		put_no_code(p, stack);
	}
	end_part(p, PROFILE_LOCATION);
}

struct place_key {
	uint64_t address;
	uint32_t module, kind, stack;
};

static int by_place(const void *a, const void *b)
{
	const struct place_key *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* An address on several stacks is one location. */
static int put_locations(struct pprof *p)
{
	struct place_key *key = calloc(p->n_stacks + 1, sizeof(*key));
	uint32_t number = 0;

	p->location = calloc(p->n_stacks + 1, sizeof(*p->location));
	if (!key || !p->location) {
		free(key);
		return TARE_ENOMEM;
	}
	for (size_t i = 0; i < p->n_stacks; i++)
		key[i] = (struct place_key){ p->stacks[i].address,
					     p->stacks[i].module,
					     p->stacks[i].kind, (uint32_t)i };
	qsort(key, p->n_stacks, sizeof(*key), by_place);
	for (size_t i = 0; i < p->n_stacks; i++) {
		if (key[i].kind == TARE_STACK_WHOLE)
			continue;
		if (!number || by_place(&key[i - 1], &key[i]))
			put_location(p, &p->stacks[key[i].stack], ++number);
		p->location[key[i].stack] = number;
	}
	free(key);
	return 0;
}

static void put_stack(struct pprof *p, uint32_t index)
{
	const tare_stack *stack = &p->stacks[index];
	uint64_t ns = tr_round_carry(stack->weight_ns, &p->carry);

	if (!stack->samples && !ns)
		return;
	p->inner.len = 0;
	for (uint32_t i = index; i < p->n_stacks; i = p->stacks[i].parent) {
		if (p->location[i])
			tr_wire_varint(&p->inner, p->location[i]);
		if (p->stacks[i].parent >= i)
			break;
	}
	end_sample(p, stack->samples, ns);
}

static int put_samples(struct pprof *p)
{
	int err = tare_view_modules(p->view, &p->modules, &p->n_modules);

	if (!err)
		err = tare_view_stacks(p->view, &p->stacks, &p->n_stacks);
	if (err)
		return err;
	put_type(p, PROFILE_TYPE, "samples", "count");
	put_type(p, PROFILE_TYPE, "cpu", "nanoseconds");
	for (size_t i = 0; i < p->n_modules; i++)
		put_mapping(p, i);
	err = put_locations(p);
	if (err)
		return err;
	for (size_t i = 0; i < p->n_stacks; i++)
		put_stack(p, (uint32_t)i);
	return 0;
}

static void put_rate(struct pprof *p)
{
	const tare_sampling *sampling = tare_view_sampling(p->view);

	put_type(p, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
	/* A damaged ledger may hold any rate: none above an hour. */
	if (sampling && sampling->asked_hz > 1.0 / 3600)
		tr_wire_u64(&p->out, PROFILE_PERIOD,
			    (uint64_t)(1e9 / sampling->asked_hz));
	tr_wire_u64(&p->out, PROFILE_DEFAULT, string_of(p, "cpu"));
}

/* ---- calls ------------------------------------------------------------- */

/* For costs without addresses: calls and allocations. */
static int put_calls(struct pprof *p, enum tare_frames_from from)
{
	const struct tr_cost_names *names = &tr_cost_names[from];
	struct tr_call_costs costs;
	int err = tr_costs_take(p->view, from, &p->functions, &costs);

	if (err)
		return err;
	put_type(p, PROFILE_TYPE, names->counts, "count");
	put_type(p, PROFILE_TYPE, names->weights, names->unit);
	tr_wire_u64(&p->out, PROFILE_DEFAULT, string_of(p, names->weights));
	for (uint32_t i = 0; i < p->functions.n; i++) {
		struct tr_named_function f = p->functions.function[i];

		tr_wire_u64(&p->part, LOCATION_ID, i + (uint64_t)1);
		put_line(p, &f, f.line);
		end_part(p, PROFILE_LOCATION);
	}
	for (uint32_t i = 1; i < costs.n; i++) {
		uint32_t at = i;

		p->inner.len = 0;
		for (uint32_t n = 0; at && n < TR_PATH_MOST; n++) {
			tr_wire_varint(&p->inner, costs.cost[at].function +
						  (uint64_t)1);
			at = costs.cost[at].parent;
		}
		end_sample(p, costs.cost[i].count, costs.cost[i].ns);
	}
	tr_costs_release(&costs);
	return 0;
}

/* ---- all --------------------------------------------------------------- */

static void put_functions(struct pprof *p)
{
	for (uint32_t i = 0; i < p->functions.n; i++) {
		const struct tr_named_function *f = &p->functions.function[i];

		tr_wire_u64(&p->part, FUNCTION_ID, i + (uint64_t)1);
		tr_wire_u64(&p->part, FUNCTION_NAME, string_of(p, f->name));
		tr_wire_u64(&p->part, FUNCTION_SYSTEM_NAME,
			    string_of(p, f->name));
		tr_wire_u64(&p->part, FUNCTION_FILE, string_of(p, f->file));
		if (f->line)
			tr_wire_u64(&p->part, FUNCTION_LINE, f->line);
		end_part(p, PROFILE_FUNCTION);
	}
}

/* Protobuf strings must be UTF-8, or Go refuses the file. */
static void put_strings(struct pprof *p)
{
	for (uint32_t i = 0; i < p->strings.n; i++) {
		const char *text = p->strings.function[i].name;
		size_t len = strlen(text);

		p->part.len = 0;
		while (len) {
			uint32_t code;
			size_t step = tr_utf8_decode(text, len, &code);

			if (step)
				tr_buf_add(&p->part, text, step);
			else
				tr_buf_adds(&p->part, "\xef\xbf\xbd");
			text += step ? step : 1;
			len -= step ? step : 1;
		}
		end_part(p, PROFILE_STRING);
	}
}

static void put_run(struct pprof *p)
{
	const tare_run *run = tare_view_run(p->view);
	uint64_t comment[] = { string_of(p, run->command),
			       string_of(p, run->id) };

	tr_wire_u64(&p->out, PROFILE_TIME, (uint64_t)run->start_ns);
	if (run->end_ns > run->start_ns)
		tr_wire_u64(&p->out, PROFILE_DURATION,
			    (uint64_t)run->end_ns - (uint64_t)run->start_ns);
	for (size_t i = 0; i < 2; i++)
		tr_wire_u64(&p->out, PROFILE_COMMENT, comment[i]);
}

static int put_all(struct pprof *p, const tare_export_options *options)
{
	enum tare_frames_from from;
	int err = tr_costs_source(p->view, options, &from);

	if (err)
		return err;
	(void)string_of(p, ""); /* number 0 must be "" */
	err = from == TARE_FRAMES_SAMPLES ? put_samples(p) :
					    put_calls(p, from);
	if (err)
		return err;
	if (from == TARE_FRAMES_SAMPLES)
		put_rate(p);
	put_functions(p);
	put_run(p);
	put_strings(p);
	if (p->out.failed || p->part.failed || p->inner.failed)
		return TARE_ENOMEM;
	tr_sink_gzip(p->sink, p->out.data, p->out.len);
	return 0;
}

int tr_export_pprof(struct tr_sink *sink, tare_view *const *views, size_t n,
		    const tare_export_options *options)
{
	struct pprof p = { .view = views[0], .sink = sink };
	int err = n == 1 ? put_all(&p, options) : TARE_EINVAL;

	tr_buf_release(&p.out);
	tr_buf_release(&p.part);
	tr_buf_release(&p.inner);
	tr_functions_release(&p.strings);
	tr_functions_release(&p.functions);
	free(p.location);
	return err;
}
