/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of readings.
 *
 * Counts, means and extremes of the monitor's readings come from its series, so
 * they cover all readings; records add their own. The newest value and the
 * fitted line come from the readings that are still kept one by one. For
 * several runs the line is fitted around the middle of each run: a difference
 * in size between two processes is not a trend.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "read/readings.h"

#define STEADY 0.01 /* of the mean: a smaller change has no direction */
#define LEAST_POINTS 3u

/* Sums around the middle of the current run, and over the runs before it. */
struct fit {
	double n, mean_t, mean_v, tt, tv;
	double all_tt, all_tv;
	uint64_t n_points;
	int64_t first_ns, last_ns;
};

/* A quantity; its mean is a sum until the end. */
struct measured {
	tare_quantity out;
	struct fit fit;
};

struct group {
	tare_reading_group out;
	struct measured *at;
	size_t n, cap;
	char *reason;
};

struct groups {
	struct group *at;
	tare_reading_group *out;
	size_t n, cap;
};

struct tare_readings {
	struct groups by[3]; /* by enum tare_readings_by */
	struct tr_pool pool; /* names, and the quantities of all groups */
	enum tare_record_kind kind;
	bool failed;
};

/* ---- quantities -------------------------------------------------------- */

/* NULL: out of memory. */
static struct measured *find_quantity(tare_readings *readings,
				      struct group *group, const char *key)
{
	const char *copy;

	for (size_t i = 0; i < group->n; i++)
		if (strcmp(group->at[i].out.key, key) == 0)
			return &group->at[i];
	copy = tr_pool_text(&readings->pool, key);
	if (!copy || !TR_ARRAY_ROOM(group->at, group->n, group->cap)) {
		readings->failed = true;
		return NULL;
	}
	group->at[group->n] = (struct measured){
		.out = { .key = copy, .current = NAN, .min = NAN, .max = NAN },
		.fit = { .first_ns = INT64_MAX, .last_ns = INT64_MIN },
	};
	return &group->at[group->n++];
}

static void add_values(tare_quantity *quantity, uint64_t n, double sum,
		       double min, double max)
{
	quantity->count += n;
	quantity->mean += sum;
	/* Written so that NAN is replaced by any number. */
	if (!(quantity->min <= min))
		quantity->min = min;
	if (!(quantity->max >= max))
		quantity->max = max;
}

static void add_moment(struct measured *measured, int64_t ns, double value)
{
	struct fit *fit = &measured->fit;
	double t, before;

	if (ns >= fit->last_ns) {
		fit->last_ns = ns;
		measured->out.current = value;
	}
	if (ns < fit->first_ns)
		fit->first_ns = ns;
	/* Since the first one: ns since 1970 do not fit into a double. */
	t = (double)(ns - fit->first_ns) * 1e-9;
	fit->n_points++;
	fit->n++;
	before = t - fit->mean_t;
	fit->mean_t += before / fit->n;
	fit->mean_v += (value - fit->mean_v) / fit->n;
	fit->tt += before * (t - fit->mean_t);
	fit->tv += before * (value - fit->mean_v);
}

static void end_run(struct fit *fit)
{
	fit->all_tt += fit->tt;
	fit->all_tv += fit->tv;
	fit->n = fit->mean_t = fit->mean_v = fit->tt = fit->tv = 0;
}

static void finish_quantity(tare_quantity *quantity, const struct fit *fit)
{
	double seconds = (double)(fit->last_ns - fit->first_ns) * 1e-9;

	quantity->mean = quantity->count ?
				 quantity->mean / (double)quantity->count :
				 (double)NAN;
	/* Rounding may put the mean of equal values outside of their range. */
	if (quantity->mean < quantity->min)
		quantity->mean = quantity->min;
	if (quantity->mean > quantity->max)
		quantity->mean = quantity->max;
	quantity->slope_per_s = quantity->change = NAN;
	if (fit->n_points < LEAST_POINTS || !(fit->all_tt > 0))
		return;
	quantity->slope_per_s = fit->all_tv / fit->all_tt;
	quantity->direction = TARE_DIRECTION_STEADY;
	if (!(quantity->mean != 0))
		return;
	quantity->change = quantity->slope_per_s * seconds /
			   fabs(quantity->mean);
	if (quantity->change > STEADY)
		quantity->direction = TARE_DIRECTION_RISING;
	else if (quantity->change < -STEADY)
		quantity->direction = TARE_DIRECTION_FALLING;
}

/* ---- groups ------------------------------------------------------------ */

static struct group *find_group(tare_readings *readings,
				enum tare_readings_by by, const char *name,
				int gpu)
{
	struct groups *groups = &readings->by[by];
	const char *copy;

	for (size_t i = 0; i < groups->n; i++)
		if (groups->at[i].out.gpu == gpu &&
		    strcmp(groups->at[i].out.name, name) == 0)
			return &groups->at[i];
	copy = tr_pool_text(&readings->pool, name);
	if (!copy || !TR_ARRAY_ROOM(groups->at, groups->n, groups->cap)) {
		readings->failed = true;
		return NULL;
	}
	groups->at[groups->n] = (struct group){
		.out = { .name = copy, .gpu = gpu },
	};
	return &groups->at[groups->n++];
}

/* The groups that a reading belongs to. */
struct places {
	struct group *at[3];
	size_t n;
};

static struct places find_places(tare_readings *readings, const char *name,
				 int gpu)
{
	struct places places = { .n = 0 };
	struct group *group;

	for (int by = 0; by < 3; by++) {
		if (by == TARE_READINGS_BY_GPU && gpu < 0)
			continue;
		group = find_group(readings, (enum tare_readings_by)by,
				   by == TARE_READINGS_BY_NAME ? name : "",
				   by == TARE_READINGS_BY_GPU ? gpu : -1);
		if (group)
			places.at[places.n++] = group;
	}
	return places;
}

/* ---- a view ------------------------------------------------------------ */

static double number_of(const tare_attr_value *attr)
{
	return attr->type == TARE_ATTR_INT ? (double)attr->i : attr->d;
}

/* Number of the record's GPU, -1: none; and whether it is available. */
static int gpu_of(const tare_record *record, bool *ret_is_there)
{
	int gpu = -1;

	*ret_is_there = true;
	for (size_t a = 0; a < record->n_attrs; a++) {
		const tare_attr_value *attr = &record->attrs[a];

		if (attr->type != TARE_ATTR_INT)
			continue;
		if (strcmp(attr->key, "gpu") == 0 && attr->i >= 0 &&
		    attr->i < TR_READING_GPUS)
			gpu = (int)attr->i;
		if (strcmp(attr->key, "available") == 0 && attr->i == 0)
			*ret_is_there = false;
	}
	return gpu;
}

static void note_reason(struct group *group, const char *text)
{
	char *copy = *text ? strdup(text) : NULL;

	if (!copy)
		return;
	free(group->reason);
	group->reason = copy;
}

static void add_reading(tare_readings *readings, struct group *group,
			const tare_record *record, bool is_monitors)
{
	for (size_t a = 0; a < record->n_attrs; a++) {
		const tare_attr_value *attr = &record->attrs[a];
		double value = number_of(attr);
		struct measured *measured;

		if (attr->type == TARE_ATTR_STR || !isfinite(value) ||
		    strcmp(attr->key, "gpu") == 0 ||
		    strcmp(attr->key, "available") == 0)
			continue;
		measured = find_quantity(readings, group, attr->key);
		if (!measured)
			return;
		if (!is_monitors)
			add_values(&measured->out, 1, value, value, value);
		add_moment(measured, record->start_ns, value);
	}
}

/* The monitor's readings have no site. */
static void add_readings(tare_readings *readings, const tare_record *record,
			 size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool is_there, is_monitors = !record[i].site;
		int gpu = gpu_of(&record[i], &is_there);
		struct places places = find_places(readings, record[i].name,
						   gpu);

		for (size_t k = 0; k < places.n; k++) {
			struct group *group = places.at[k];

			add_reading(readings, group, &record[i], is_monitors);
			group->out.count += !is_monitors;
			group->out.is_available |= is_there;
			note_reason(group, record[i].error);
		}
	}
}

static void add_row(tare_readings *readings, const tare_stats *row,
		    uint64_t *n_readings)
{
	int index = tr_reading_index(readings->kind, row->source, row->name);
	bool is_gpu = readings->kind == TARE_RECORD_GPU;
	int gpu = is_gpu ? tr_reading_gpu(row->labels) : -1;
	struct places places;

	if (index < 0 || !row->count || row->kind != TARE_KIND_GAUGE ||
	    (is_gpu && gpu < 0))
		return;
	if (row->count > n_readings[gpu + 1])
		n_readings[gpu + 1] = row->count;
	places = find_places(readings, TARE_READINGS_MONITOR, gpu);
	for (size_t k = 0; k < places.n; k++) {
		struct measured *measured =
			find_quantity(readings, places.at[k],
				      tr_reading_key(readings->kind, index));

		if (!measured)
			return;
		places.at[k]->out.is_available = true;
		add_values(&measured->out, row->count,
			   row->mean * (double)row->count, row->min, row->max);
	}
}

static int add_monitors(tare_readings *readings, tare_view *view,
			const tare_filter *filter)
{
	static const char *const sources[] = { "system", "process", "gpu" };
	uint64_t n_readings[TR_READING_GPUS + 1] = { 0 };
	tare_filter own = {
		.struct_size = sizeof(own),
		.sources = sources,
		.n_sources = 3,
		.from_ns = filter ? filter->from_ns : 0,
		.to_ns = filter ? filter->to_ns : 0,
	};
	const tare_stats *rows;
	size_t n;
	int err = tare_view_stats(view, &own, &rows, &n);

	for (size_t i = 0; !err && i < n; i++)
		add_row(readings, &rows[i], n_readings);
	for (int i = 0; i <= TR_READING_GPUS; i++) {
		struct places places;

		if (!n_readings[i])
			continue;
		places = find_places(readings, TARE_READINGS_MONITOR, i - 1);
		for (size_t k = 0; k < places.n; k++)
			places.at[k]->out.count += n_readings[i];
	}
	return err;
}

static int add_view(tare_readings *readings, tare_view *view,
		    const tare_filter *filter)
{
	const tare_record *records;
	size_t n;
	int err = tare_view_readings(view, filter, readings->kind, &records,
				     &n);

	if (!err)
		add_readings(readings, records, n);
	if (!err && tr_reading_has_monitor(filter, readings->kind))
		err = add_monitors(readings, view, filter);
	for (int by = 0; by < 3; by++)
		for (size_t i = 0; i < readings->by[by].n; i++)
			for (size_t k = 0; k < readings->by[by].at[i].n; k++)
				end_run(&readings->by[by].at[i].at[k].fit);
	return err;
}

/* ---- all --------------------------------------------------------------- */

/* Without quantities that only single readings have: their count is 0. */
static bool finish_group(tare_readings *readings, struct group *group)
{
	tare_quantity *to = tr_pool_take(&readings->pool,
					 (group->n + 1) * sizeof(*to));

	group->out.quantities = to;
	for (size_t i = 0; to && i < group->n; i++) {
		if (!group->at[i].out.count)
			continue;
		finish_quantity(&group->at[i].out, &group->at[i].fit);
		to[group->out.n_quantities++] = group->at[i].out;
	}
	group->out.reason = group->reason ? group->reason : "";
	return to != NULL;
}

static int by_group(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int order = TR_ORDER(x->out.gpu, y->out.gpu);

	return order ? order : strcmp(x->out.name, y->out.name);
}

static bool finish(tare_readings *readings, struct groups *groups)
{
	bool is_done = true;

	groups->out = calloc(groups->n + 1, sizeof(*groups->out));
	if (!groups->out)
		return false;
	if (groups->n)
		qsort(groups->at, groups->n, sizeof(*groups->at), by_group);
	for (size_t i = 0; i < groups->n; i++) {
		is_done &= finish_group(readings, &groups->at[i]);
		groups->out[i] = groups->at[i].out;
	}
	return is_done;
}

TARE_API int tare_readings_open(tare_view *const *views, size_t n,
				const tare_filter *filter,
				enum tare_record_kind kind,
				tare_readings **ret_readings)
{
	tare_readings *readings;
	int err = 0;

	if (!ret_readings || (n && !views))
		return TARE_EINVAL;
	readings = calloc(1, sizeof(*readings));
	if (!readings)
		return TARE_ENOMEM;
	readings->kind = kind;
	/* The group of all exists even if nothing was read. */
	(void)find_group(readings, TARE_READINGS_ALL, "", -1);
	for (size_t i = 0; i < n && !err; i++)
		err = add_view(readings, views[i], filter);
	for (int by = 0; by < 3; by++)
		readings->failed |= !finish(readings, &readings->by[by]);
	if (!err && readings->failed)
		err = TARE_ENOMEM;
	if (err)
		tare_readings_close(readings);
	else
		*ret_readings = readings;
	return err;
}

TARE_API const tare_reading_group *
tare_readings_groups(const tare_readings *readings, enum tare_readings_by by,
		     size_t *ret_n)
{
	*ret_n = 0;
	if (!readings || (unsigned)by > TARE_READINGS_BY_GPU)
		return NULL;
	*ret_n = readings->by[by].n;
	return readings->by[by].out;
}

TARE_API void tare_readings_close(tare_readings *readings)
{
	if (!readings)
		return;
	for (int by = 0; by < 3; by++) {
		for (size_t i = 0; i < readings->by[by].n; i++) {
			free(readings->by[by].at[i].at);
			free(readings->by[by].at[i].reason);
		}
		free(readings->by[by].at);
		free(readings->by[by].out);
	}
	tr_pool_release(&readings->pool);
	free(readings);
}

TARE_API const char *tare_direction_name(enum tare_direction direction)
{
	static const char *const name[] = {
		[TARE_DIRECTION_FALLING] = "falling",
		[TARE_DIRECTION_STEADY] = "steady",
		[TARE_DIRECTION_RISING] = "rising",
	};

	return TR_NAME_OF(name, direction, NULL);
}
