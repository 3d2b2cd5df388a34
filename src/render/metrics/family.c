/* SPDX-License-Identifier: Apache-2.0 */
#include "render/metrics/family.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NAME 256u /* without suffixes; holds for undamaged ledgers */

/* ---- tables ------------------------------------------------------------ */

uint32_t tr_hash_bytes(uint32_t hash, const char *text, size_t len)
{
	uint64_t h = hash ^ len, x;

	/* Eight bytes per step; the product's high half mixes all of them. */
	for (; len >= 8; text += 8, len -= 8) {
		memcpy(&x, text, 8);
		h = (h ^ x) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	x = 0;
	memcpy(&x, text, len);
	h = (h ^ x) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h ^ h >> 32);
}

static uint32_t hash_text(uint32_t hash, const char *text)
{
	return tr_hash_bytes(hash, text, strlen(text));
}

/* Makes room for one more; hash_of(i) hashes entry i, counted from 1. */
bool tr_index_room(struct tr_index *index, const void *owner,
		   uint32_t (*hash_of)(const void *owner, uint32_t entry))
{
	uint32_t mask = index->mask ? index->mask * 2 + 1 : 63, *at;

	if (index->at && index->n * 2 <= index->mask)
		return true;
	at = calloc((size_t)mask + 1, sizeof(*at));
	if (!at)
		return false;
	for (uint32_t i = 0; index->at && i <= index->mask; i++) {
		uint32_t place;

		if (!index->at[i])
			continue;
		place = hash_of(owner, index->at[i]) & mask;
		while (at[place])
			place = (place + 1) & mask;
		at[place] = index->at[i];
	}
	free(index->at);
	index->at = at;
	index->mask = mask;
	return true;
}

void tr_index_put(struct tr_index *index, uint32_t hash, uint32_t entry)
{
	uint32_t place = hash & index->mask;

	while (index->at[place])
		place = (place + 1) & index->mask;
	index->at[place] = entry;
	index->n++;
}

/* Returns an array with room for one more element, or NULL. */
void *tr_grow(void *array, size_t n, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : 8;

	if (n < *cap)
		return array;
	array = realloc(array, more * size);
	if (array)
		*cap = more;
	return array;
}

/* ---- names of samples -------------------------------------------------- */

static uint32_t sample_hash(const void *owner, uint32_t entry)
{
	const tare_exporter *e = owner;

	return hash_text(1, e->names[entry - 1]);
}

static bool is_taken(const tare_exporter *e, const char *name)
{
	uint32_t place;

	if (!e->by_sample.at)
		return false;
	place = hash_text(1, name) & e->by_sample.mask;
	for (; e->by_sample.at[place];
	     place = (place + 1) & e->by_sample.mask)
		if (!strcmp(e->names[e->by_sample.at[place] - 1], name))
			return true;
	return false;
}

static bool take_name(tare_exporter *e, const char *name)
{
	char *copy;

	TR_GROW(e, e->names, e->n_names, e->cap_names);
	copy = strdup(name);
	if (!copy || !tr_index_room(&e->by_sample, e, sample_hash)) {
		free(copy);
		e->failed = true;
		return false;
	}
	e->names[e->n_names++] = copy;
	tr_index_put(&e->by_sample, hash_text(1, name), (uint32_t)e->n_names);
	return true;
}

/* Suffixes of the samples that a family of each type may have. */
static const char *const endings[][6] = {
	[TR_METRIC_COUNTER] = { "", "_total", "_created", NULL },
	[TR_METRIC_GAUGE] = { "", NULL },
	[TR_METRIC_HISTOGRAM] = { "", "_bucket", "_count", "_sum", "_created",
				  NULL },
	[TR_METRIC_INFO] = { "", "_info", NULL },
};

static bool join(char *out, size_t size, const char *name, const char *ending)
{
	size_t a = strlen(name), b = strlen(ending);

	if (a + b >= size)
		return false;
	memcpy(out, name, a);
	memcpy(out + a, ending, b + 1);
	return true;
}

static bool is_free(const tare_exporter *e, const char *name,
		    enum tr_metric_type type)
{
	char sample[1024];

	for (size_t i = 0; endings[type][i]; i++)
		if (!join(sample, sizeof(sample), name, endings[type][i]) ||
		    is_taken(e, sample))
			return false;
	return true;
}

bool tr_family_claim(tare_exporter *e, const char *name,
		     enum tr_metric_type type)
{
	char sample[1024];

	if (!is_free(e, name, type))
		return false;
	for (size_t i = 0; endings[type][i]; i++)
		if (!join(sample, sizeof(sample), name, endings[type][i]) ||
		    !take_name(e, sample))
			return false;
	return true;
}

/* ---- groups ------------------------------------------------------------ */

/* The families of each kind of series. */
struct shape {
	enum tr_metric_type type;
	enum tr_metric_part part;
	const char *ending; /* after the name, before the unit */
	bool has_unit;
	const char *help;
};

/* Each list ends with a row without a suffix. */
static const struct shape shapes[][TR_GROUP_FAMILIES + 1] = {
	[TARE_KIND_SCOPE] = {
		{ TR_METRIC_HISTOGRAM, TR_PART_SPREAD, "", true,
		  "duration of calls" },
		{ TR_METRIC_COUNTER, TR_PART_FAILURES, "_failures", false,
		  "calls that failed" },
		{ TR_METRIC_COUNTER, TR_PART_ITEMS, "_items", false,
		  "items that the calls took in" },
	},
	[TARE_KIND_COUNTER] = {
		{ TR_METRIC_COUNTER, TR_PART_COUNT, "", true, "counter" },
	},
	[TARE_KIND_GAUGE] = {
		{ TR_METRIC_GAUGE, TR_PART_GAUGE, "", true, "value now" },
	},
	[TARE_KIND_VALUE] = {
		{ TR_METRIC_HISTOGRAM, TR_PART_SPREAD, "", true,
		  "values observed" },
	},
	[TARE_KIND_RATIO] = {
		{ TR_METRIC_GAUGE, TR_PART_RATIO, "", true,
		  "part over whole" },
		{ TR_METRIC_COUNTER, TR_PART_PART, "_part", false,
		  "sum of parts" },
		{ TR_METRIC_COUNTER, TR_PART_WHOLE, "_whole", false,
		  "sum of wholes" },
	},
};

const char *tr_metric_ending(enum tr_metric_type type)
{
	return type == TR_METRIC_COUNTER ? "_total" :
	       type == TR_METRIC_INFO	 ? "_info" :
					   "";
}

void tr_metric_head(struct tr_buf *buf, const char *name,
		    enum tr_metric_type type, const char *unit, bool open)
{
	static const char *const type_names[2][4] = {
		{ "counter", "gauge", "histogram", "gauge" },
		{ "counter", "gauge", "histogram", "info" },
	};

	tr_buf_addf(buf, "\n# TYPE %s%s %s\n", name,
		    open ? "" : tr_metric_ending(type),
		    type_names[open][type]);
	if (open && unit[0])
		tr_buf_addf(buf, "# UNIT %s %s\n", name, unit);
}

/* HELP, TYPE and UNIT of a family; for OpenMetrics if `open`. */
static char *make_head(const struct tr_family *f, const struct tr_group *g,
		       const struct shape *shape, bool open)
{
	const char *unit = shape->has_unit ? g->unit.name : "";
	struct tr_buf buf = TR_BUF_INIT;
	size_t len = strlen(f->name), n = strlen(unit);

	tr_buf_addf(&buf, "# HELP %s%s ", f->name,
		    open ? "" : tr_metric_ending(f->type));
	(void)tr_metric_text(&buf, g->name, strlen(g->name), open);
	tr_buf_addf(&buf, ": %s", shape->help);
	if (len <= n + 1 || f->name[len - n - 1] != '_' ||
	    strcmp(f->name + len - n, unit) != 0)
		unit = "";
	tr_metric_head(&buf, f->name, f->type, unit, open);
	if (!buf.failed)
		return buf.data;
	tr_buf_release(&buf);
	return NULL;
}

/* A family's name: base, number from 2 on, suffix, unit. */
static char *make_name(const struct tr_group *g, const struct shape *shape,
		       unsigned n)
{
	struct tr_buf buf = TR_BUF_INIT;

	tr_buf_adds(&buf, g->prefix);
	tr_metric_base(g->name, &g->unit, &buf);
	if (buf.len > MOST_NAME)
		buf.len = MOST_NAME;
	if (n > 1)
		tr_buf_addf(&buf, "_%u", n);
	tr_buf_adds(&buf, shape->ending);
	/* A name "bytes" in bytes does not become bytes_bytes. */
	if (shape->has_unit && g->unit.name[0] &&
	    (buf.failed || strcmp(buf.data, g->unit.name) != 0))
		tr_buf_addf(&buf, "_%s", g->unit.name);
	if (!buf.failed)
		return buf.data;
	tr_buf_release(&buf);
	return NULL;
}

static void release_families(struct tr_group *g)
{
	for (size_t i = 0; i < TR_GROUP_FAMILIES; i++) {
		free(g->family[i].name);
		free(g->family[i].head[0]);
		free(g->family[i].head[1]);
		g->family[i] = (struct tr_family){ .name = NULL };
	}
	g->n_families = 0;
}

static bool name_families(tare_exporter *e, struct tr_group *g, unsigned n)
{
	bool all_free = true;

	release_families(g);
	for (size_t i = 0; shapes[g->kind][i].ending; i++) {
		const struct shape *shape = &shapes[g->kind][i];
		struct tr_family *f = &g->family[g->n_families++];

		f->type = shape->type;
		f->part = shape->part;
		f->name = make_name(g, shape, n);
		if (!f->name) {
			e->failed = true;
			return false;
		}
		all_free &= is_free(e, f->name, f->type);
	}
	return all_free;
}

static bool finish_families(tare_exporter *e, struct tr_group *g)
{
	for (size_t i = 0; i < g->n_families; i++) {
		struct tr_family *f = &g->family[i];
		const struct shape *shape = &shapes[g->kind][i];

		f->head[0] = make_head(f, g, shape, false);
		f->head[1] = make_head(f, g, shape, true);
		if (!f->head[0] || !f->head[1] ||
		    !tr_family_claim(e, f->name, f->type)) {
			e->failed = true;
			return false;
		}
	}
	return true;
}

static uint32_t group_hash(const void *owner, uint32_t entry)
{
	const tare_exporter *e = owner;

	return e->groups[entry - 1].hash;
}

static void release_group(struct tr_group *g)
{
	release_families(g);
	free(g->name);
	free(g->raw_unit);
	free(g->member);
}

/* Returns 1 + the index of the group, or 0. */
static uint32_t add_group(tare_exporter *e, const struct tr_group *key)
{
	struct tr_group g = *key;
	unsigned n = 1;

	g.name = strdup(key->name);
	g.raw_unit = strdup(key->raw_unit);
	if (!g.name || !g.raw_unit ||
	    !tr_index_room(&e->by_name, e, group_hash))
		e->failed = true;
	tr_unit_of(key->raw_unit, key->kind, &g.unit);
	/* Names are never too long, so some number is free. */
	while (!e->failed && !name_families(e, &g, n))
		n++;
	if (!e->failed && finish_families(e, &g)) {
		void *more = tr_grow(e->groups, e->n_groups, &e->cap_groups,
				  sizeof(*e->groups));

		if (more) {
			e->groups = more;
			e->groups[e->n_groups++] = g;
			tr_index_put(&e->by_name, g.hash,
				  (uint32_t)e->n_groups);
			return (uint32_t)e->n_groups;
		}
	}
	e->failed = true;
	release_group(&g);
	return 0;
}

static bool is_group(const struct tr_group *g, const struct tr_group *key)
{
	return g->hash == key->hash && g->kind == key->kind &&
	       g->prefix == key->prefix && strcmp(g->name, key->name) == 0 &&
	       strcmp(g->raw_unit, key->raw_unit) == 0;
}

/*
 * The monitor's series have short names, which a program may use too and which
 * several sources have: memory.used of the system and of a GPU.
 */
static const char *prefix_of(const struct tr_image *image,
			     const struct tr_site *site)
{
	static const char none[] = ""; /* compared by their addresses */
	static const char *const prefix[][2] = {
		{ "system", "tare_system_" },
		{ "process", "tare_process_" },
		{ "gpu", "tare_gpu_" },
	};
	const char *source;

	if (site->kind != TARE_KIND_GAUGE || !site->source)
		return none;
	source = tr_image_string(image, site->source);
	for (size_t i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
		if (strcmp(prefix[i][0], source) == 0)
			return prefix[i][1];
	return none;
}

uint32_t tr_group_of(tare_exporter *e, const struct tr_image *image,
		     const struct tr_site *site)
{
	struct tr_group key = { .kind = (enum tare_kind)site->kind,
				.prefix = prefix_of(image, site) };
	uint32_t place;

	key.name = (char *)(uintptr_t)tr_image_string(image, site->name);
	key.raw_unit = (char *)(uintptr_t)tr_image_string(image, site->unit);
	key.hash = hash_text(hash_text(site->kind, key.name), key.raw_unit);
	if (key.prefix[0])
		key.hash = hash_text(key.hash, key.prefix);
	if (e->last_group && is_group(&e->groups[e->last_group - 1], &key))
		return e->last_group;
	place = key.hash & e->by_name.mask;
	for (; e->by_name.at && e->by_name.at[place];
	     place = (place + 1) & e->by_name.mask)
		if (is_group(&e->groups[e->by_name.at[place] - 1], &key))
			return e->last_group = e->by_name.at[place];
	return e->last_group = add_group(e, &key);
}

void tr_families_reset(tare_exporter *e)
{
	for (size_t i = 0; i < e->n_groups; i++)
		release_group(&e->groups[i]);
	for (size_t i = 0; i < e->n_names; i++)
		free(e->names[i]);
	for (size_t i = 0; i < e->n_runs; i++) {
		tr_buf_release(&e->runs[i].texts);
		tr_buf_release(&e->runs[i].about);
		free(e->runs[i].is_known);
	}
	free(e->groups);
	free(e->names);
	free(e->twins);
	free(e->runs);
	free(e->by_name.at);
	free(e->by_sample.at);
	free(e->by_text.at);
	*e = (tare_exporter){ .n_groups = 0 };
}

TARE_API int tare_exporter_new(tare_exporter **ret_exporter)
{
	tare_exporter *exporter;

	if (!ret_exporter)
		return TARE_EINVAL;
	exporter = calloc(1, sizeof(*exporter));
	if (!exporter)
		return TARE_ENOMEM;
	*ret_exporter = exporter;
	return 0;
}

TARE_API void tare_exporter_free(tare_exporter *exporter)
{
	if (!exporter)
		return;
	tr_families_reset(exporter);
	free(exporter);
}
