/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: the history of operations, out of its blocks.
 */
#include "view/view.h"

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

/* One attribute at `at`; its end, or NULL if the record is damaged. */
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
	const struct tr_site *site = tr_image_site(image, head->site);

	out->name = site ? tr_image_string(image, site->name) : "";
	out->source = site ? tr_image_string(image, site->source) : "";
	out->site = head->site;
	out->thread = head->thread;
	out->start_ns = tr_time_real(image, head->start);
	out->duration_ns = tr_view_span_ns(r->view, head->span);
	out->ok = !head->failed;
	out->truncated = head->truncated;
	out->error = "";
	out->kind = head->kind == TARE_RECORD_MEMORY ||
				    head->kind == TARE_RECORD_GPU ||
					    head->kind ==
						    TARE_RECORD_GOVERNOR ?
			    (enum tare_record_kind)head->kind :
			    TARE_RECORD_OPERATION;
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
	const struct tr_header *header = (const void *)r->view->image.base;
	const struct tr_region *blocks = &header->region[TR_REGION_BLOCKS];

	r->n = r->n_attrs = r->text_bytes = 0;
	for (uint64_t at = 0; at + TR_BLOCK_BYTES <= blocks->used;
	     at += TR_BLOCK_BYTES) {
		const struct tr_block *block =
			tr_image_at(&r->view->image, blocks->off + at,
				    TR_BLOCK_BYTES, 8);

		if (!block)
			return; /* the file ends before */
		read_block(r, block);
	}
}

static int oldest_first(const void *a, const void *b)
{
	const tare_record *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int64_t end_of(const tare_record *record)
{
	return (int64_t)((uint64_t)record->start_ns + record->duration_ns);
}

/* What ended up to then is not shown: by the last clear, or by its age. */
static int64_t trimmed_until(const tare_view *view)
{
	const struct tr_header *header = (const void *)view->image.base;
	uint64_t age = header->max_history_age;
	int64_t until = view->has_baseline ? view->cleared_ns : INT64_MIN;
	int64_t now = view->run.end_ns, oldest;

	if (age && age < INT64_MAX / 1000000000 &&
	    !__builtin_sub_overflow(now, (int64_t)age * 1000000000, &oldest) &&
	    oldest > until)
		until = oldest;
	return until;
}

/* Of these the newest, up to max_history_size. */
static void trim(tare_view *view)
{
	const struct tr_header *header = (const void *)view->image.base;
	size_t n = 0, most = header->max_history;
	int64_t until = trimmed_until(view);

	for (size_t i = 0; i < view->n_records; i++)
		if (end_of(&view->records[i]) > until)
			view->records[n++] = view->records[i];
	if (n > most) {
		memmove(view->records, view->records + n - most,
			most * sizeof(*view->records));
		n = most;
	}
	view->n_records = n;
}

static int read_records(tare_view *view)
{
	struct reading r = { .view = view };

	read_all(&r);
	view->records = calloc(r.n + 1, sizeof(*view->records));
	view->attrs = calloc(r.n_attrs + 1, sizeof(*view->attrs));
	view->texts = malloc(r.text_bytes + 1);
	if (!view->records || !view->attrs || !view->texts) {
		free(view->records);
		free(view->attrs);
		free(view->texts);
		view->records = NULL;
		view->attrs = NULL;
		view->texts = NULL;
		return TARE_ENOMEM;
	}
	r.fill = true;
	r.text = view->texts;
	r.attr = view->attrs;
	read_all(&r);
	view->n_records = r.n;
	qsort(view->records, r.n, sizeof(*view->records), oldest_first);
	trim(view);
	return 0;
}

/* ---- a part of them ---------------------------------------------------- */

/* Names are matched once a site: there are far more records. */
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

/* Newest first, so that the search ends with the last one wanted. */
static size_t choose(tare_view *view, const tare_filter *filter,
		     uint8_t *sites, size_t most)
{
	size_t n = 0;

	for (size_t i = view->n_records; i-- > 0 && n < most;) {
		const tare_record *record = &view->records[i];

		if (tr_filter_has_outcome(filter, !record->ok) &&
		    tr_filter_has_time(filter, record->start_ns) &&
		    has_wanted_site(view, filter, sites, record))
			view->chosen[most - ++n] = *record;
	}
	return n;
}

static int choose_records(tare_view *view, const tare_filter *filter,
			  const tare_record **ret_records, size_t *ret_n)
{
	size_t most = view->n_records, n;
	uint8_t *sites = calloc(tr_image_sites(&view->image) + 1u, 1);

	if (filter->most_records && filter->most_records < most)
		most = (size_t)filter->most_records;
	free(view->chosen);
	view->chosen = calloc(most + 1, sizeof(*view->chosen));
	if (!view->chosen || !sites) {
		free(sites);
		return TARE_ENOMEM;
	}
	n = choose(view, filter, sites, most);
	free(sites);
	*ret_records = view->chosen + most - n;
	*ret_n = n;
	return 0;
}

TARE_API int tare_view_records(tare_view *view, const tare_filter *filter,
			       const tare_record **ret_records, size_t *ret_n)
{
	int err;

	if (!view || !ret_records || !ret_n || !tr_filter_is_valid(filter))
		return TARE_EINVAL;
	err = view->records ? 0 : read_records(view);
	if (err)
		return err;
	if (filter)
		return choose_records(view, filter, ret_records, ret_n);
	*ret_records = view->records;
	*ret_n = view->n_records;
	return 0;
}
