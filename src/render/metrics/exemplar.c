/* SPDX-License-Identifier: Apache-2.0 */
#include "render/metrics/exposition.h"

#include <stdlib.h>

#define MOST_CHARACTERS 128u /* limit on the names and values of an exemplar */

/* Index of the bucket for a duration. */
static size_t step_of(double seconds)
{
	const struct tr_ladder *ladder = &tr_ladder_seconds;
	size_t i = 0;

	while (i < ladder->n && seconds > ladder->step[i].bound)
		i++;
	return i;
}

static struct tr_newest *newest_of(struct tr_exemplars *e, uint32_t site)
{
	void *more;

	if (e->of_site[site])
		return &e->newest[e->of_site[site] - 1];
	more = tr_grow(e->newest, e->n, &e->cap, sizeof(*e->newest));
	if (!more)
		return NULL;
	e->newest = more;
	memset(&e->newest[e->n], 0, sizeof(*e->newest));
	e->of_site[site] = (uint32_t)++e->n;
	return &e->newest[e->n - 1];
}

int tr_exemplars_find(struct tr_exemplars *e, tare_view *view,
		      const tare_filter *filter)
{
	const tare_record *r;
	size_t n;
	int err = tare_view_records(view, filter, &r, &n);

	if (err)
		return err;
	e->n_sites = view->all.n_series;
	e->of_site = calloc((size_t)e->n_sites + 1, sizeof(*e->of_site));
	if (!e->of_site)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct tr_newest *newest;

		if (r[i].kind != TARE_RECORD_OPERATION || !r[i].n_attrs ||
		    r[i].site >= e->n_sites)
			continue;
		newest = newest_of(e, r[i].site);
		if (!newest)
			return TARE_ENOMEM;
		/* Records come oldest first, so the newest one is kept. */
		newest->record[step_of((double)r[i].duration_ns / 1e9)] =
			&r[i];
	}
	return 0;
}

void tr_exemplars_release(struct tr_exemplars *e)
{
	free(e->of_site);
	free(e->newest);
	*e = (struct tr_exemplars){ .n = 0 };
}

static size_t characters(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* An attribute's value as the text of a label. */
static void attr_text(struct tr_buf *out, const tare_attr_value *attr)
{
	char number[32];

	if (attr->type == TARE_ATTR_STR)
		tr_buf_adds(out, attr->s);
	else if (attr->type == TARE_ATTR_INT)
		tr_buf_addf(out, "%lld", (long long)attr->i);
	else
		tr_buf_add(out, number,
			   (size_t)(tr_put_value(number, attr->d) - number));
}

/* Attributes as labels; one that does not fit or repeats a key is skipped. */
static void put_labels(struct tr_buf *out, const tare_record *r)
{
	size_t left = MOST_CHARACTERS;

	for (size_t i = 0; i < r->n_attrs; i++) {
		struct tr_buf text = TR_BUF_INIT, pair = TR_BUF_INIT;
		size_t need, mark = out->len;

		attr_text(&text, &r->attrs[i]);
		tr_metric_name(r->attrs[i].key, &pair);
		need = characters(pair.data, pair.len) +
		       characters(text.data, text.len);
		if (!pair.failed && !text.failed && need <= left &&
		    !tr_label_is_there(out->data, out->len, pair.data)) {
			tr_metric_label(out, 0, pair.data,
					text.len ? text.data : "");
			left -= need;
		} else {
			out->len = mark;
		}
		tr_buf_release(&text);
		tr_buf_release(&pair);
	}
}

void tr_exemplar_put(struct tr_sink *sink, const struct tr_exemplars *e,
		     uint32_t site, size_t step)
{
	struct tr_buf labels = TR_BUF_INIT;
	const tare_record *r;
	char *at;

	if (site >= e->n_sites || !e->of_site[site])
		return;
	r = e->newest[e->of_site[site] - 1].record[step];
	if (!r)
		return;
	put_labels(&labels, r);
	if (labels.len && !labels.failed) {
		at = TR_LIT(tr_sink_begin(sink), " # {");
		at = tr_put(at, labels.data, labels.len);
		at = TR_LIT(at, "} ");
		at = tr_put_value(at, (double)r->duration_ns / 1e9);
		*at++ = ' ';
		/* The end of the call: that is when the bucket's count grew. */
		at = tr_put_value(at, ((double)r->start_ns +
				       (double)r->duration_ns) /
					      1e9);
		tr_sink_end(sink, at);
	}
	tr_buf_release(&labels);
}
