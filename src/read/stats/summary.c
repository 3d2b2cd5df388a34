/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summary: a merge as a file, to be merged with others, exactly.
 *
 * A thousand hosts have a file each of what their processes measured, and these
 * are merged, instead of a hundred thousand ledgers that one machine has to
 * read. It holds histograms, so that quantiles of the whole are those of one
 * merge. docs/formats/summary.md has the format: lines of cells between tabs.
 * Doubles are their bits: nothing is lost, and no locale has a say.
 *
 * Nothing in a file is trusted: cells are counted, numbers checked, and a
 * series whose buckets do not add up to its values is refused.
 */
#include "read/stats/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
#define CELLS_MOST 24u
#define COUNT_MOST (UINT64_C(1) << 56)

/* ---- writing ----------------------------------------------------------- */

static void put_text(FILE *out, const char *text)
{
	(void)fputc('\t', out);
	for (; *text; text++) {
		if (*text == '\\' || *text == '\t' || *text == '\n')
			(void)fputc('\\', out);
		(void)fputc(*text == '\t' ? 't' :
			    *text == '\n' ? 'n' :
					    *text, out);
	}
}

static void put_count(FILE *out, uint64_t n)
{
	(void)fprintf(out, "\t%llu", (unsigned long long)n);
}

static void put_hist(FILE *out, const struct tr_hist *hist, char sign)
{
	(void)fprintf(out, "hist\t%c", sign);
	put_count(out, hist->zeros);
	put_count(out, hist->unbucketed);
	for (uint32_t i = 0; i < hist->n; i++) {
		(void)fputs("\npage", out);
		put_count(out, hist->page[i].number);
		for (unsigned k = 0; k < TR_PAGE_BUCKETS; k++)
			put_count(out, hist->page[i].count[k]);
	}
	(void)fputc('\n', out);
}

static void put_part(FILE *out, const struct tr_merge_part *part)
{
	const tare_stats *row = &part->row;
	const char *const texts[] = { row->name, row->source, row->labels,
				      row->unit, row->file };
	const uint64_t counts[] = {
		row->count, row->timed, row->failures, row->items,
		part->all_failures, part->processes, row->below_resolution,
		row->is_estimate,
	};
	const double sums[] = { row->total, row->own, row->net_total,
				row->net_own, part->timed_items, part->sum,
				row->min, row->max, row->last };

	(void)fprintf(out, "series\t%d\t%d\t%u", (int)row->kind,
		      (int)row->type, row->line);
	for (size_t i = 0; i < N_OF(texts); i++)
		put_text(out, texts[i]);
	(void)fputs("\ncounts", out);
	for (size_t i = 0; i < N_OF(counts); i++)
		put_count(out, counts[i]);
	(void)fprintf(out, "\t%lld\nsums", (long long)part->last_ns);
	for (size_t i = 0; i < N_OF(sums); i++)
		(void)fprintf(out, "\t%llx",
			      (unsigned long long)tr_bits_of(sums[i]));
	(void)fputc('\n', out);
	put_hist(out, &part->series.positive, '+');
	put_hist(out, &part->series.negative, '-');
}

TARE_API int tare_merge_save(const tare_merge *merge, const char *path)
{
	FILE *out;
	int err = 0;

	if (!merge || !path)
		return TARE_EINVAL;
	out = fopen(path, "wbe");
	if (!out)
		return errno == EACCES ? TARE_EPERM :
		       errno == ENOENT ? TARE_ENOENT :
					 TARE_EIO;
	(void)fprintf(out, TR_SUMMARY_HEAD "runs\t%llu\t%llu\t%lld\t%lld\n",
		      (unsigned long long)merge->runs,
		      (unsigned long long)merge->unreadable,
		      (long long)merge->start_ns, (long long)merge->end_ns);
	for (size_t i = 0; i < merge->n; i++)
		put_part(out, &merge->part[i]);
	(void)fprintf(out, "end\t%zu\n", merge->n);
	if (ferror(out))
		err = TARE_EIO;
	if (fclose(out))
		err = TARE_EIO;
	return err;
}

/* ---- reading ----------------------------------------------------------- */

struct reader {
	tare_merge *merge;
	char *at, *end;
	char *cell[CELLS_MOST]; /* of the line; the first is its word */
	size_t n;
};

/* Undoes put_text(), in place. */
static bool take_escapes(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\') {
			text++;
			if (!*text || !strchr("\\tn", *text))
				return false;
			*text = *text == 't' ? '\t' :
				*text == 'n' ? '\n' :
					       *text;
		}
		*to++ = *text;
	}
	*to = '\0';
	return true;
}

/* The next line's cells; false: there is none, or too many of them. */
static bool next_line(struct reader *r)
{
	char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));

	if (!end || memchr(r->at, '\0', (size_t)(end - r->at)))
		return false;
	*end = '\0';
	r->n = 0;
	for (char *cell = r->at; cell;) {
		char *tab = strchr(cell, '\t');

		if (r->n == CELLS_MOST)
			return false;
		r->cell[r->n++] = cell;
		if (tab)
			*tab++ = '\0';
		cell = tab;
	}
	r->at = end + 1;
	return true;
}

static bool is_line(const struct reader *r, const char *word, size_t n)
{
	return r->n == n && strcmp(r->cell[0], word) == 0;
}

static bool take_count(const char *cell, uint64_t *ret)
{
	return tr_parse_u64(cell, ret) && *ret <= COUNT_MOST;
}

static bool take_time(const char *cell, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(cell, &end, 10);
	return *cell && !*end && !errno;
}

static bool take_double(const char *cell, double *ret)
{
	char *end;

	errno = 0;
	*ret = tr_real_of(strtoull(cell, &end, 16));
	return cell[0] && cell[0] != '-' && !*end && !errno;
}

static bool take_series(struct reader *r, tare_stats *row)
{
	uint64_t kind, type, line;

	if (!next_line(r) || !is_line(r, "series", 9) ||
	    !take_count(r->cell[1], &kind) ||
	    !take_count(r->cell[2], &type) ||
	    !take_count(r->cell[3], &line) || kind < TARE_KIND_SCOPE ||
	    kind > TARE_KIND_RATIO || type < TARE_TYPE_TIME ||
	    type > TARE_TYPE_CUSTOM || line > UINT32_MAX)
		return false;
	for (size_t i = 4; i < 9; i++)
		if (!take_escapes(r->cell[i]))
			return false;
	*row = (tare_stats){ .name = r->cell[4], .source = r->cell[5],
			     .labels = r->cell[6], .unit = r->cell[7],
			     .file = r->cell[8], .line = (uint32_t)line };
	row->kind = kind;
	row->type = type;
	return true;
}

static bool take_counts(struct reader *r, struct tr_merge_part *part)
{
	uint64_t flags[2];
	uint64_t *const to[] = {
		&part->row.count, &part->row.timed, &part->row.failures,
		&part->row.items, &part->all_failures, &part->processes,
		&flags[0], &flags[1],
	};

	if (!next_line(r) || !is_line(r, "counts", N_OF(to) + 2))
		return false;
	for (size_t i = 0; i < N_OF(to); i++)
		if (!take_count(r->cell[1 + i], to[i]))
			return false;
	part->row.below_resolution = flags[0] != 0;
	part->row.is_estimate = flags[1] != 0;
	return take_time(r->cell[1 + N_OF(to)], &part->last_ns);
}

static bool take_sums(struct reader *r, struct tr_merge_part *part)
{
	tare_stats *row = &part->row;
	double *const to[] = { &row->total, &row->own, &row->net_total,
			       &row->net_own, &part->timed_items, &part->sum,
			       &row->min, &row->max, &row->last };

	if (!next_line(r) || !is_line(r, "sums", N_OF(to) + 1))
		return false;
	for (size_t i = 0; i < N_OF(to); i++)
		if (!take_double(r->cell[1 + i], to[i]))
			return false;
	return true;
}

static int take_page(struct reader *r, struct tr_hist *hist)
{
	struct tr_hist_page *page;
	uint64_t number, count;

	if (!is_line(r, "page", TR_PAGE_BUCKETS + 2) ||
	    !take_count(r->cell[1], &number) || number >= TR_PAGES_ALL)
		return TARE_EFORMAT;
	page = tr_hist_page(&r->merge->pool, hist, (uint32_t)number);
	if (!page)
		return TARE_ENOMEM;
	for (unsigned k = 0; k < TR_PAGE_BUCKETS; k++) {
		if (!take_count(r->cell[2 + k], &count))
			return TARE_EFORMAT;
		page->count[k] += count;
	}
	return 0;
}

/* The line of a histogram, and those of its pages. */
static int take_hist(struct reader *r, struct tr_hist *hist, char sign)
{
	int err = 0;

	if (!next_line(r) || !is_line(r, "hist", 4) ||
	    r->cell[1][0] != sign || r->cell[1][1] ||
	    !take_count(r->cell[2], &hist->zeros) ||
	    !take_count(r->cell[3], &hist->unbucketed))
		return TARE_EFORMAT;
	while (!err && r->end - r->at > 5 && memcmp(r->at, "page\t", 5) == 0)
		err = next_line(r) ? take_page(r, hist) : TARE_EFORMAT;
	return err;
}

/* Into a merge of its own: each series is there once. */
static int take_part(struct reader *r)
{
	struct tr_merge_part *part;
	tare_stats row;
	size_t before = r->merge->n;
	int err;

	if (!take_series(r, &row))
		return TARE_EFORMAT;
	part = tr_merge_part_of(r->merge, &row);
	if (!part)
		return TARE_ENOMEM;
	if (r->merge->n == before || !take_counts(r, part) ||
	    !take_sums(r, part))
		return TARE_EFORMAT;
	err = take_hist(r, &part->series.positive, '+');
	if (!err)
		err = take_hist(r, &part->series.negative, '-');
	if (!err && tr_series_timed(&part->series) != part->row.timed)
		err = TARE_EFORMAT;
	return err;
}

static bool take_head(struct reader *r)
{
	tare_merge *m = r->merge;

	r->at += sizeof(TR_SUMMARY_HEAD) - 1;
	return next_line(r) && is_line(r, "runs", 5) &&
	       take_count(r->cell[1], &m->runs) &&
	       take_count(r->cell[2], &m->unreadable) &&
	       take_time(r->cell[3], &m->start_ns) &&
	       take_time(r->cell[4], &m->end_ns);
}

int tr_merge_read(tare_merge *merge, char *text, size_t len)
{
	struct reader r = { .merge = merge, .at = text, .end = text + len };
	uint64_t n;
	int err = 0;

	if (len < sizeof(TR_SUMMARY_HEAD) - 1 ||
	    memcmp(text, TR_SUMMARY_HEAD, sizeof(TR_SUMMARY_HEAD) - 1) != 0 ||
	    !take_head(&r))
		return TARE_EFORMAT;
	while (!err && r.end - r.at > 4 && memcmp(r.at, "end\t", 4) != 0)
		err = take_part(&r);
	if (err)
		return err;
	if (!next_line(&r) || !is_line(&r, "end", 2) ||
	    !take_count(r.cell[1], &n) || n != merge->n || r.at != r.end)
		return TARE_EFORMAT;
	return 0;
}
