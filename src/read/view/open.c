/* SPDX-License-Identifier: Apache-2.0 */
#include "read/view.h"

#include "base/text.h"
#include "ledger/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double tr_view_ns(const tare_view *view, double ticks)
{
	return ticks * tr_view_header(view)->sec_per_tick * 1e9;
}

uint64_t tr_view_duration_ns(const tare_view *view, uint64_t ticks)
{
	double ns = tr_view_ns(view, (double)ticks) + 0.5;

	return ns < 9e18 ? (uint64_t)ns : UINT64_MAX / 2;
}

/* Values of the metadata page, made into strings in place. */
const char *tr_view_meta(tare_view *view, const char *key)
{
	const char *end = view->meta + sizeof(view->meta);
	size_t len = strlen(key);

	/* A NUL ends a value that was already read, or the page. */
	for (char *line = view->meta; line < end && *line;) {
		size_t n = strcspn(line, "\n");

		if (strncmp(line, key, len) == 0 && line[len] == '=') {
			if (strcmp(key, "config") != 0)
				line[n] = '\0';
			return line + len + 1;
		}
		line += n + 1;
	}
	return "";
}

static void name_run(tare_view *view)
{
	const char *name = strrchr(view->image.path, '/');
	size_t len;

	name = name ? name + 1 : view->image.path;
	len = strlen(name);
	if (len > 5 && strcmp(name + len - 5, ".tare") == 0)
		len -= 5;
	(void)snprintf(view->id, sizeof(view->id), "%.*s", (int)len, name);
}

static const char *clock_name(uint32_t kind)
{
	static const char *const name[] = {
		[TR_CLOCK_KIND_TSC] = "tsc",
		[TR_CLOCK_KIND_CNTVCT] = "cntvct",
	};

	return TR_NAME_OF(name, kind, "monotonic");
}

static void name_damage(tare_view *view, const struct tr_image *image)
{
	size_t n = strlen(view->damage);

	for (uint32_t kind = 0; kind < TR_SUM_KINDS; kind++) {
		if (!(image->damaged >> kind & 1) ||
		    n + 32 > sizeof(view->damage))
			continue;
		n += (size_t)snprintf(view->damage + n,
				      sizeof(view->damage) - n, "%s%s%s",
				      n ? ", " : "",
				      image == &view->baseline ?
					      "baseline: " : "",
				      tr_sum_name(kind));
	}
	/* Without the page of checksums there is no other sign of damage. */
	if (image->missing && !image->damaged && n + 64 < sizeof(view->damage))
		(void)snprintf(view->damage + n, sizeof(view->damage) - n,
			       "%s%sall from byte %zu on (cut off)",
			       n ? ", " : "",
			       image == &view->baseline ? "baseline: " : "",
			       (size_t)image->size);
}

static int64_t parent_of(tare_view *view)
{
	uint64_t parent;

	return tr_parse_u64(tr_view_meta(view, "parent"), &parent) &&
			       parent <= INT32_MAX ?
		       (int64_t)parent :
		       0;
}

static void describe(tare_view *view)
{
	const struct tr_header *header = tr_view_header(view);
	tare_run *run = &view->run;

	name_run(view);
	run->id = view->id;
	run->path = view->image.path;
	run->command = tr_view_meta(view, "command");
	run->program = tr_view_meta(view, "program");
	run->host = tr_view_meta(view, "host");
	run->cpu = tr_view_meta(view, "cpu");
	run->git = tr_view_meta(view, "git");
	run->folder = tr_view_meta(view, "folder");
	run->group = tr_view_meta(view, "group");
	run->config = tr_view_meta(view, "config");
	run->version = header->version;
	run->pid = header->pid;
	run->parent = parent_of(view);
	run->n_tracks = tr_image_tracks(&view->image);
	run->n_sites = tr_image_sites(&view->image);
	run->start_ns = header->start.real_ns;
	run->end_ns = tr_time_real(&view->image, view->now_ticks);
	run->cleared_ns = view->cleared_ns;
	run->clock = clock_name(header->clock);
	run->resolution_ns = tr_view_ns(view, header->resolution_ticks);
	run->inside_ns = tr_view_ns(view, header->inside_ticks);
	run->outside_ns = tr_view_ns(view, header->outside_ticks);
	run->ledger_bytes = header->real_bytes;
	run->ledger_limit = header->limit_bytes;
	run->rss_start = header->rss_start;
	run->rss_end = header->rss_end;
	run->rss_peak = header->rss_peak;
	name_damage(view, &view->image);
	name_damage(view, &view->baseline);
	run->damage = view->damage;
}

static uint64_t last_sample(const tare_view *view, uint64_t last)
{
	uint64_t n;
	const struct tr_sample *at = tr_image_rows(
		&view->image, TR_REGION_SAMPLES, sizeof(*at), &n, NULL);

	for (uint64_t i = 0; i < n; i++)
		if (at[i].ticket && at[i].ticks > last)
			last = at[i].ticks;
	return last;
}

/* The newest tick anywhere in a ledger of an ended process. */
static uint64_t last_tick(const tare_view *view)
{
	const struct tr_header *header = tr_view_header(view);
	uint64_t last = last_sample(view, header->start.ticks);
	uint64_t left = view->image.size;
	const struct tr_track *t;
	const struct tr_entry *e;

	for (uint32_t i = 0; i < TR_ANCHORS && i < header->anchor_count; i++)
		if (header->anchor[i].ticks > last)
			last = header->anchor[i].ticks;
	for (uint32_t i = 0;
	     (t = tr_image_next_track(&view->image, &i)) != NULL;)
		/* All logs together are smaller than the ledger. */
		for (uint32_t k = 0; k < t->log.bytes && left;
		     k += sizeof(*e)) {
			e = tr_image_at(&view->image, t->log.off + k,
					sizeof(*e), 8);
			if (!e)
				break;
			left -= left < sizeof(*e) ? left : sizeof(*e);
			if (!(e->what & (TR_ENTRY_FLAGS & ~TR_ENTRY_CALL)) &&
			    e->start + e->duration > last)
				last = e->start + e->duration;
		}
	return last;
}

/* The bytes are not trusted: a NUL at the end bounds all strings. */
static void prepare(tare_view *view)
{
	struct tr_header *header =
		(struct tr_header *)(uintptr_t)view->image.base;

	header->version[sizeof(header->version) - 1] = '\0';
	header->boot_id[sizeof(header->boot_id) - 1] = '\0';
	if (view->image.size >= TR_META_AT + TR_META_BYTES)
		memcpy(view->meta, view->image.base + TR_META_AT,
		       TR_META_BYTES - 1);
	view->run.state = tr_runs_state(header, view->image.path);
	view->live = view->run.state == TARE_RUN_LIVE;
	view->now_ticks = view->live || header->end.ticks ?
				  tr_time_now(&view->image) :
				  last_tick(view);
}

/* The baseline: a copy of the ledger at the last clear, stored beside it. */
static void load_baseline(tare_view *view)
{
	char path[520];
	size_t len = strlen(view->image.path);
	const struct tr_header *then;

	if (len < 6 || len > 500)
		return;
	(void)snprintf(path, sizeof(path), "%.*s.base", (int)len - 5,
		       view->image.path);
	if (tr_image_open(path, &view->baseline))
		return;
	then = (const void *)view->baseline.base;
	view->has_baseline = true;
	view->cleared_ticks = then->end.ticks;
	view->cleared_ns = then->end.real_ns;
}

static int gather_all(tare_view *view)
{
	struct tr_gather *all = &view->all;
	int err;

	all->now = view->now_ticks;
	all->range.is_all = true;
	all->range.to = UINT64_MAX;
	if (view->has_baseline)
		all->range.exact_after = view->cleared_ticks >>
					 tr_view_header(view)->slice_shift;
	err = tr_gather_view(all, view);
	if (!err)
		tr_estimate(view);
	return err;
}

const char *tr_run_state_name(enum tare_run_state state)
{
	static const char *const name[] = {
		[TARE_RUN_LIVE] = "live",
		[TARE_RUN_FINISHED] = "finished",
	};

	return TR_NAME_OF(name, state, "killed");
}

int tr_view_open_image(struct tr_image *image, tare_view **ret_view)
{
	tare_view *view = calloc(1, sizeof(*view));
	int err;

	if (!view) {
		tr_image_close(image);
		return TARE_ENOMEM;
	}
	view->image = *image;
	prepare(view);
	load_baseline(view);
	err = gather_all(view);
	if (err) {
		tare_view_close(view);
		return err;
	}
	describe(view);
	*ret_view = view;
	return 0;
}

TARE_API int tare_view_open(const char *which, tare_view **ret_view)
{
	struct tr_image image;
	char path[512];
	int err;

	if (!which || !ret_view)
		return TARE_EINVAL;
	if (strcmp(which, "self") == 0) {
		err = tr_image_own(&image);
	} else {
		err = tr_runs_find(which, path, sizeof(path));
		if (!err)
			err = tr_image_open(path, &image);
	}
	return err ? err : tr_view_open_image(&image, ret_view);
}

/* Releases what other rooms have read into the view. */
void tr_allocs_release(struct tr_allocs *allocs)
{
	free(allocs->at);
	free(allocs->marks);
	free(allocs->copies);
	memset(allocs, 0, sizeof(*allocs));
}

static void release_profile(struct tr_profile *profile)
{
	free(profile->modules);
	free(profile->module_index);
	free(profile->stacks);
	free(profile->stack_index);
	free(profile->samples);
	free(profile->named);
	tr_lookup_release(&profile->by_address);
	free(profile->frames);
	free(profile->functions);
	free(profile->folded);
	tr_allocs_release(&profile->allocs);
	tr_pool_release(&profile->texts);
	tr_pool_release(&profile->places);
	for (size_t i = 0; i < profile->n_joined; i++)
		tare_view_close(profile->joined[i]);
	free(profile->joined);
}

TARE_API void tare_view_close(tare_view *view)
{
	if (!view)
		return;
	tr_gather_release(&view->all);
	tr_gather_release(&view->window);
	tr_image_close(&view->image);
	tr_image_close(&view->baseline);
	free(view->costs);
	free(view->stats);
	free(view->trends);
	free(view->trend_stats);
	free(view->readings);
	free(view->reading_attrs);
	free(view->nodes);
	free(view->calls);
	free(view->pipelines);
	free(view->stages);
	free(view->records);
	free(view->newest);
	free(view->chosen);
	free(view->attrs);
	free(view->texts);
	free(view->events);
	free(view->threads);
	release_profile(&view->profile);
	if (view->release_trainings)
		view->release_trainings(view);
	free(view);
}

TARE_API const tare_run *tare_view_run(const tare_view *view)
{
	return &view->run;
}
