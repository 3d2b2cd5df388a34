/* SPDX-License-Identifier: Apache-2.0 */
/* Records: reads the records of operations from their blocks. */
#include "read/view.h"
#include "read/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	tare_view *view;
	size_t n, n_attrs, text_bytes; /* counted first, then filled */
	bool fill;
	char *text;
	tare_attr_value *attr;
};

static const char *keep_text(struct reading *r, const char *bytes, size_t n)
{
	char *at = r->text;

	r->text_bytes += n + 1;
	if (!r->fill)
		return "";
	memcpy(at, bytes, n);
	at[n] = '\0';
	r->text += n + 1;
	return at;
}

/* One attribute at `at`. Returns its end, or NULL if the record is damaged. */
static const char *read_attr(struct reading *r, const char *at,
			     const char *end)
{
	uint8_t type, key_bytes;
	uint16_t value_bytes;
	tare_attr_value value = { 0 };

	if (end - at < 4)
		return NULL;
	type = (uint8_t)at[0];
	key_bytes = (uint8_t)at[1];
	memcpy(&value_bytes, at + 2, 2);
	at += 4;
	if (end - at < (ptrdiff_t)key_bytes + value_bytes ||
	    (type != TARE_ATTR_STR && value_bytes != 8))
		return NULL;
	if (type < TARE_ATTR_INT || type > TARE_ATTR_STR)
		return NULL;
	value.type = (enum tare_attr_type)type;
	value.key = keep_text(r, at, key_bytes);
	at += key_bytes;
	if (type == TARE_ATTR_INT)
		memcpy(&value.i, at, 8);
	else if (type == TARE_ATTR_DOUBLE)
		memcpy(&value.d, at, 8);
	else
		value.s = keep_text(r, at, value_bytes);
	r->n_attrs++;
	if (r->fill)
		*r->attr++ = value;
	return at + value_bytes;
}

static void fill_head(struct reading *r, const struct tr_record *head,
		      tare_record *out)
{
	const struct tr_image *image = &r->view->image;

	*out = (tare_record){ .value = (double)NAN };
	tr_record_name(r->view, head->site, out);
	out->thread = head->thread;
	out->start_ns = tr_time_real(image, head->start);
	out->duration_ns = tr_view_duration_ns(r->view, head->duration);
	out->ok = !head->failed;
	out->truncated = head->truncated;
	out->error = "";
	out->kind = (enum tare_record_kind)head->kind;
	if (out->kind == TARE_RECORD_MEMORY || out->kind == TARE_RECORD_GPU ||
	    out->kind == TARE_RECORD_GOVERNOR)
		return;
	out->kind = TARE_RECORD_OPERATION;
	out->value = (double)out->duration_ns;
	out->unit = "ns";
}

static void read_record(struct reading *r, const struct tr_record *head)
{
	const char *at = (const char *)(head + 1);
	const char *end = (const char *)head + head->bytes;
	tare_record out;
	size_t before = r->n_attrs;

	fill_head(r, head, &out);
	out.attrs = r->attr;
	for (unsigned i = 0; at && i < head->n_attrs; i++)
		at = read_attr(r, at, end);
	out.n_attrs = r->n_attrs - before;
	if (at && head->error_bytes && end - at >= head->error_bytes)
		out.error = keep_text(r, at, head->error_bytes);
	if (r->fill)
		r->view->records[r->n] = out;
	r->n++;
}

static void read_block(struct reading *r, const struct tr_block *block)
{
	uint32_t used = block->used, at = 0;

	if (!block->ticket || used > TR_BLOCK_BYTES - sizeof(*block))
		return;
	while (at + sizeof(struct tr_record) <= used) {
		const struct tr_record *head =
			(const void *)((const char *)(block + 1) + at);

		if (head->bytes < sizeof(*head) || head->bytes % 8 ||
		    head->bytes > used - at)
			return;
		read_record(r, head);
		at += head->bytes;
	}
}

static void read_all(struct reading *r)
{
	const struct tr_block *block;

	r->n = r->n_attrs = r->text_bytes = 0;
	for (uint64_t at = 0;
	     (block = tr_image_next_block(&r->view->image, &at)) != NULL;)
		read_block(r, block);
}

/* ---- order ------------------------------------------------------------- */

struct place {
	int64_t start_ns;
	size_t at;
};

/* Records with the same time stay in the order in which they are stored. */
static int oldest_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = TR_ORDER(x->start_ns, y->start_ns);

	return order ? order : TR_ORDER(x->at, y->at);
}

/* Each place names the record that belongs there: move along the cycles. */
static void move_records(tare_record *records, struct place *places, size_t n)
{
	for (size_t first = 0; first < n; first++) {
		tare_record moved = records[first];
		size_t to = first;

		while (places[to].at != first) {
			size_t from = places[to].at;

			records[to] = records[from];
			places[to].at = to;
			to = from;
		}
		records[to] = moved;
		places[to].at = to;
	}
}

/* In place: there may be far more records than anything else. */
static int sort_records(tare_view *view)
{
	size_t n = view->n_records;
	struct place *places = calloc(n + 1, sizeof(*places));

	if (!places)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++)
		places[i] = (struct place){ view->records[i].start_ns, i };
	qsort(places, n, sizeof(*places), oldest_first);
	move_records(view->records, places, n);
	free(places);
	return 0;
}

/* ---- bounds ------------------------------------------------------------ */

static int64_t end_of(const tare_record *record)
{
	return (int64_t)((uint64_t)record->start_ns + record->duration_ns);
}

/* Records that ended before this are hidden: by the last clear, or by age. */
static int64_t trimmed_until(const tare_view *view)
{
	const struct tr_header *header = tr_view_header(view);
	uint64_t age = header->max_history_age;
	int64_t until = view->has_baseline ? view->cleared_ns : INT64_MIN;
	int64_t now = view->run.end_ns, oldest;

	if (age && age < INT64_MAX / 1000000000 &&
	    !__builtin_sub_overflow(now, (int64_t)age * 1000000000, &oldest) &&
	    oldest > until)
		until = oldest;
	return until;
}

static bool is_kept_value(const tare_record *record)
{
	return record->kind >= TARE_RECORD_VALUE;
}

/* A scope with notes has both a record and a kept value of the same call. */
static bool is_same_call(const tare_record *before, const tare_record *record)
{
	return record->kind == TARE_RECORD_SCOPE &&
	       before->kind == TARE_RECORD_OPERATION &&
	       before->site == record->site &&
	       before->start_ns == record->start_ns &&
	       before->duration_ns == record->duration_ns;
}

/*
 * Keeps the newest max_history_size records of operations, memory and GPUs.
 * Kept values have limits of their own, in their rings.
 */
static void trim(tare_view *view)
{
	const struct tr_header *header = tr_view_header(view);
	size_t most = header->max_history, n = 0, skip = 0;
	int64_t until = trimmed_until(view);

	for (size_t i = 0; i < view->n_records; i++) {
		if (end_of(&view->records[i]) <= until ||
		    (n && is_same_call(&view->records[n - 1],
				       &view->records[i])))
			continue;
		skip += !is_kept_value(&view->records[i]);
		view->records[n++] = view->records[i];
	}
	skip = skip > most ? skip - most : 0;
	view->n_records = 0;
	for (size_t i = 0; i < n; i++) {
		if (skip && !is_kept_value(&view->records[i])) {
			skip--;
			continue;
		}
		if (most)
			view->records[view->n_records++] = view->records[i];
	}
}

/* ---- filter ------------------------------------------------------------ */

/* Names are matched once per site, because there are far more records. */
enum { SITE_UNKNOWN, SITE_WANTED, SITE_UNWANTED };

static bool has_wanted_site(const tare_view *view, const tare_filter *filter,
			    uint8_t *sites, const tare_record *record)
{
	const struct tr_site *site = tr_image_site(&view->image, record->site);

	if (!site)
		return !filter->types && !filter->n_names &&
		       !filter->n_sources;
	if (sites[record->site] == SITE_UNKNOWN)
		sites[record->site] =
			tr_filter_has_site(filter, &view->image, site) ?
				SITE_WANTED :
				SITE_UNWANTED;
	return sites[record->site] == SITE_WANTED;
}

struct choice {
	const tare_filter *filter;
	uint8_t *sites;
	size_t most, most_kept;
};

static bool is_chosen(const tare_view *view, const struct choice *choice,
		      const tare_record *record)
{
	const tare_filter *filter = choice->filter;

	if (!filter)
		return true;
	if (filter->record_kinds &&
	    !(filter->record_kinds >> (record->kind & 31) & 1))
		return false;
	/* A value has no outcome. */
	if (is_kept_value(record) && filter->outcome != TARE_OUTCOME_ANY)
		return false;
	return tr_filter_has_outcome(filter, !record->ok) &&
	       tr_filter_has_time(filter, record->start_ns) &&
	       has_wanted_site(view, filter, choice->sites, record);
}

/* Newest first, so that the search ends at the last record needed. */
static size_t choose(tare_view *view, const struct choice *choice,
		     tare_record *to)
{
	size_t n = 0, kept = 0;

	for (size_t i = view->n_records; i-- > 0 && n < choice->most;) {
		const tare_record *record = &view->records[i];

		if ((is_kept_value(record) && kept == choice->most_kept) ||
		    !is_chosen(view, choice, record))
			continue;
		kept += is_kept_value(record);
		to[choice->most - ++n] = *record;
	}
	return n;
}

/* The newest selected records, at most `most`, to *array; their number. */
static int choose_to(tare_view *view, const tare_filter *filter, size_t most,
		     tare_record **array, size_t *ret_n)
{
	struct choice choice = {
		.filter = filter,
		.sites = calloc(tr_image_sites(&view->image) + 1u, 1),
		.most = most,
		.most_kept = tr_view_header(view)->max_history,
	};

	free(*array);
	*array = calloc(most + 1, sizeof(**array));
	if (!*array || !choice.sites) {
		free(choice.sites);
		return TARE_ENOMEM;
	}
	*ret_n = choose(view, &choice, *array);
	memmove(*array, *array + most - *ret_n, *ret_n * sizeof(**array));
	free(choice.sites);
	return 0;
}

/* The result without a filter: at most twice max_history_size records. */
static int keep_newest(tare_view *view)
{
	size_t most = view->n_records;
	uint64_t history = tr_view_header(view)->max_history;

	if (most / 2 > history)
		most = 2 * history;
	return choose_to(view, NULL, most, &view->newest, &view->n_newest);
}

static int fill_records(tare_view *view)
{
	struct reading r = { .view = view };
	size_t n_kept = tr_kept_records(view, NULL);

	read_all(&r);
	view->records = calloc(r.n + n_kept + 1, sizeof(*view->records));
	view->attrs = calloc(r.n_attrs + 1, sizeof(*view->attrs));
	view->texts = malloc(r.text_bytes + 1);
	if (!view->records || !view->attrs || !view->texts)
		return TARE_ENOMEM;
	r.fill = true;
	r.text = view->texts;
	r.attr = view->attrs;
	read_all(&r);
	view->n_records = r.n + tr_kept_records(view, view->records + r.n);
	if (sort_records(view))
		return TARE_ENOMEM;
	trim(view);
	return keep_newest(view);
}

static int read_records(tare_view *view)
{
	int err = fill_records(view);

	if (err) {
		free(view->records);
		free(view->newest);
		free(view->attrs);
		free(view->texts);
		view->records = view->newest = NULL;
		view->attrs = NULL;
		view->texts = NULL;
	}
	return err;
}

TARE_API int tare_view_records(tare_view *view, const tare_filter *filter,
			       const tare_record **ret_records, size_t *ret_n)
{
	tare_filter own;
	size_t most;
	int err;

	if (!view || !ret_records || !ret_n || !tr_filter_take(&filter, &own))
		return TARE_EINVAL;
	err = view->records ? 0 : read_records(view);
	if (err)
		return err;
	if (!filter) {
		*ret_records = view->newest;
		*ret_n = view->n_newest;
		return 0;
	}
	most = view->n_records;
	if (filter->most_records && filter->most_records < most)
		most = (size_t)filter->most_records;
	err = choose_to(view, filter, most, &view->chosen, ret_n);
	if (!err)
		*ret_records = view->chosen;
	return err;
}
