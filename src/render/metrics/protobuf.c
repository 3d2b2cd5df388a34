/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus's protobuf exposition: io.prometheus.client.MetricFamily, each
 * preceded by its length. It is the only format in which a scraper accepts
 * native histograms. The ledger's buckets are those of schema 5 (2^(1/32)
 * wide), so nothing is lost between the ledger and histogram_quantile().
 *
 * In a histogram whose unit is not a base unit, the bucket bounds differ; it is
 * written with classic buckets only.
 */
#include "render/metrics/exposition.h"
#include "read/stats.h"

#include <math.h>

#define SCHEMA 5
/* Ours is (2^(k/32), 2^((k+1)/32)]; in schema 5 it has index k + 1. */
#define INDEX_OF(bucket) ((int64_t)(bucket) - 1023 * 32 + 1)
#define MOST_GAP 3 /* this many empty buckets cost less than a new span */

/* ---- the wire ---------------------------------------------------------- */

static uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static void put_message(struct tr_buf *out, unsigned field,
			const struct tr_buf *message)
{
	tr_wire_bytes(out, field, message->data, message->len);
}

/* ---- families ---------------------------------------------------------- */

/* Field numbers of the published description. */
enum {
	FAMILY_NAME = 1, FAMILY_HELP = 2, FAMILY_TYPE = 3, FAMILY_METRIC = 4,
	METRIC_LABEL = 1, METRIC_GAUGE = 2, METRIC_COUNTER = 3,
	METRIC_HISTOGRAM = 7,
	LABEL_NAME = 1, LABEL_VALUE = 2,
	VALUE = 1,
	HISTOGRAM_COUNT = 1, HISTOGRAM_SUM = 2, HISTOGRAM_BUCKET = 3,
	HISTOGRAM_SCHEMA = 5, HISTOGRAM_ZERO_THRESHOLD = 6,
	HISTOGRAM_ZEROS = 7, HISTOGRAM_NEGATIVE = 9, HISTOGRAM_POSITIVE = 12,
	BUCKET_COUNT = 1, BUCKET_BOUND = 2,
	SPAN_OFFSET = 1, SPAN_LENGTH = 2,
	TYPE_COUNTER = 0, TYPE_GAUGE = 1, TYPE_HISTOGRAM = 4
};

struct proto {
	struct tr_exposition *x;
	struct tr_buf family, metric, part, inner, deltas;
	size_t head_len; /* length of a family without metrics */
};

static void begin_family(struct proto *p, const char *name, const char *ending,
			 const char *help, size_t help_len, unsigned type)
{
	p->family.len = 0;
	p->part.len = 0;
	tr_buf_adds(&p->part, name);
	tr_buf_adds(&p->part, ending);
	put_message(&p->family, FAMILY_NAME, &p->part);
	tr_wire_bytes(&p->family, FAMILY_HELP, help, help_len);
	tr_wire_u64(&p->family, FAMILY_TYPE, type);
	p->head_len = p->family.len;
}

static void end_family(struct proto *p)
{
	struct tr_sink *sink = p->x->sink;

	p->part.len = 0;
	tr_wire_varint(&p->part, p->family.len);
	if (p->family.failed || p->metric.failed || p->part.failed ||
	    p->inner.failed || p->deltas.failed) {
		sink->err = TARE_ENOMEM;
	} else if (p->family.len > p->head_len) {
		tr_sink_add(sink, p->part.data, p->part.len);
		tr_sink_add(sink, p->family.data, p->family.len);
	}
}

static void put_label(struct proto *p, const char *key, size_t key_len)
{
	/* The value is in `part` already. */
	p->inner.len = 0;
	tr_wire_bytes(&p->inner, LABEL_NAME, key, key_len);
	put_message(&p->inner, LABEL_VALUE, &p->part);
	put_message(&p->metric, METRIC_LABEL, &p->inner);
}

/* Parses k="v",k="v" of the text formats, with the escapes \\, \" and \n. */
static void put_labels(struct proto *p, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *key = text, *equals = memchr(text, '=',
							  (size_t)(end - text));

		if (!equals || equals + 1 >= end)
			return;
		p->part.len = 0;
		for (text = equals + 2; text < end && *text != '"'; text++) {
			char c = *text;

			if (c == '\\' && text + 1 < end) {
				c = *++text;
				c = c == 'n' ? '\n' : c;
			}
			tr_buf_addc(&p->part, c);
		}
		put_label(p, key, (size_t)(equals - key));
		text += text + 1 < end ? 2 : 1; /* quote and comma */
	}
}

static void begin_metric(struct proto *p, const char *labels, size_t len)
{
	p->metric.len = 0;
	put_labels(p, labels, len);
}

static void end_metric(struct proto *p, unsigned field)
{
	put_message(&p->metric, field, &p->part);
	put_message(&p->family, FAMILY_METRIC, &p->metric);
	p->x->sink->rows++;
}

static void put_value(struct proto *p, const char *labels, size_t len,
		      unsigned field, double value)
{
	begin_metric(p, labels, len);
	p->part.len = 0;
	tr_wire_double(&p->part, VALUE, value);
	end_metric(p, field);
}

/* ---- histograms -------------------------------------------------------- */

/* Writes spans and deltas of one sign to `part`. */
struct spans {
	struct proto *p;
	unsigned field;	  /* of the spans; that of the deltas is the next */
	int64_t next;	  /* index after the last bucket */
	int64_t offset;	  /* of the open span */
	uint64_t length;
	int64_t before;	  /* count of the last bucket */
};

static void end_span(struct spans *s)
{
	struct tr_buf *inner = &s->p->inner;

	if (!s->length)
		return;
	inner->len = 0;
	tr_wire_u64(inner, SPAN_OFFSET, zigzag(s->offset));
	tr_wire_u64(inner, SPAN_LENGTH, s->length);
	put_message(&s->p->part, s->field, inner);
}

static void add_count(struct spans *s, uint64_t count)
{
	tr_wire_varint(&s->p->deltas, zigzag((int64_t)count - s->before));
	s->before = (int64_t)count;
	s->length++;
	s->next++;
}

static void add_bucket(struct spans *s, int64_t index, uint64_t count)
{
	int64_t gap = index - s->next;

	if (s->length && gap <= MOST_GAP) {
		while (s->next < index)
			add_count(s, 0);
	} else {
		end_span(s);
		s->offset = s->length ? gap : index;
		s->length = 0;
		s->next = index;
	}
	add_count(s, count);
}

static void put_spans(struct proto *p, const struct tr_hist *hist,
		      unsigned field)
{
	struct spans s = { .p = p, .field = field };

	p->deltas.len = 0;
	for (uint32_t i = 0; i < hist->n; i++)
		for (uint32_t k = 0; k < TR_PAGE_BUCKETS; k++)
			if (hist->page[i].count[k])
				add_bucket(&s,
					   INDEX_OF(hist->page[i].number *
							    TR_PAGE_BUCKETS +
						    k),
					   hist->page[i].count[k]);
	end_span(&s);
	if (p->deltas.len)
		put_message(&p->part, field + 1, &p->deltas);
}

static void put_native(struct proto *p, const struct tr_series *s)
{
	tr_wire_u64(&p->part, HISTOGRAM_SCHEMA, zigzag(SCHEMA));
	/* The smallest normal number: values below count as zero. */
	tr_wire_double(&p->part, HISTOGRAM_ZERO_THRESHOLD, 0x1p-1022);
	tr_wire_u64(&p->part, HISTOGRAM_ZEROS, s->positive.zeros);
	put_spans(p, &s->negative, HISTOGRAM_NEGATIVE);
	put_spans(p, &s->positive, HISTOGRAM_POSITIVE);
}

static void put_classic(struct proto *p, const struct tr_group *g,
			const struct tr_series *s)
{
	const struct tr_ladder *ladder = g->unit.ladder;
	uint64_t below[TR_LADDER_MOST];
	double bound[TR_LADDER_MOST];

	tr_ladder_bounds(&g->unit, bound);
	(void)tr_series_cumulate(s, bound, below, ladder->n);
	for (size_t i = 0; i < ladder->n; i++) {
		p->inner.len = 0;
		tr_wire_u64(&p->inner, BUCKET_COUNT, below[i]);
		tr_wire_double(&p->inner, BUCKET_BOUND, ladder->step[i].bound);
		put_message(&p->part, HISTOGRAM_BUCKET, &p->inner);
	}
}

/* True if the buckets are in seconds or in the unit of the value. */
static bool is_native(const struct tr_group *g)
{
	return g->kind == TARE_KIND_SCOPE || g->unit.scale == 1;
}

static void put_histogram(struct proto *p, const struct tr_group *g,
			  const struct tr_member *m, const struct tr_series *s)
{
	uint64_t n = tr_series_timed(s);

	begin_metric(p, tr_member_labels(p->x->exporter, m), m->len);
	p->part.len = 0;
	/* A native histogram's count cannot contain values without a bucket. */
	if (!is_native(g))
		n += s->positive.unbucketed + s->not_finite;
	tr_wire_u64(&p->part, HISTOGRAM_COUNT, n);
	tr_wire_double(&p->part, HISTOGRAM_SUM, tr_sample_sum(p->x, g, m, s));
	put_classic(p, g, s);
	if (is_native(g))
		put_native(p, s);
	end_metric(p, METRIC_HISTOGRAM);
}

/* ---- groups ------------------------------------------------------------ */

/* The text after "# HELP name " of the head, unchanged. */
static const char *help_of(const struct tr_family *f, size_t *ret_len)
{
	const char *at = strchr(f->head[0], ' ');

	for (int i = 0; at && i < 2; i++)
		at = strchr(at + 1, ' ');
	*ret_len = at ? strcspn(at + 1, "\n") : 0;
	return at ? at + 1 : "";
}

static void put_member(struct proto *p, const struct tr_group *g,
		       const struct tr_family *f, const struct tr_member *m,
		       const struct tr_series *s)
{
	const char *labels = tr_member_labels(p->x->exporter, m);
	double scale = f->part == TR_PART_COUNT ? g->unit.scale : 1;

	if (f->type == TR_METRIC_HISTOGRAM)
		put_histogram(p, g, m, s);
	else if (f->type == TR_METRIC_COUNTER)
		put_value(p, labels, m->len, METRIC_COUNTER,
			  tr_sample_counted(s, f->part) * scale);
	else
		put_value(p, labels, m->len, METRIC_GAUGE,
			  tr_sample_gauge(p->x, g, f, m, s));
}

static void put_family(struct proto *p, const struct tr_group *g,
		       const struct tr_family *f)
{
	static const unsigned type[] = { TYPE_COUNTER, TYPE_GAUGE,
					 TYPE_HISTOGRAM, TYPE_GAUGE };
	size_t help_len;
	const char *help = help_of(f, &help_len);

	begin_family(p, f->name, tr_metric_ending(f->type),
		     help, help_len, type[f->type]);
	for (size_t i = 0; i < g->n; i++) {
		const struct tr_member *m = &g->member[i];
		const struct tr_series *s = tr_sample_series(p->x, m, f);

		if (s)
			put_member(p, g, f, m, s);
	}
	end_family(p);
}

/* ---- tare itself ------------------------------------------------------- */

static void put_own(struct proto *p, const struct tr_own_metric *own)
{
	bool is_counter = own->type == TR_METRIC_COUNTER;
	struct tr_buf labels = TR_BUF_INIT;

	begin_family(p, own->name, tr_metric_ending(own->type), own->help,
		     strlen(own->help),
		     is_counter ? TYPE_COUNTER : TYPE_GAUGE);
	for (size_t run = 0; run < p->x->exporter->n_runs; run++) {
		const struct tr_pick *pick = &p->x->pick[run];

		if (!pick->view)
			continue;
		labels.len = 0;
		tr_own_labels(own, pick, &labels);
		put_value(p, labels.data, labels.len,
			  is_counter ? METRIC_COUNTER : METRIC_GAUGE,
			  tr_own_value(own, pick));
	}
	p->part.failed |= labels.failed;
	tr_buf_release(&labels);
	end_family(p);
}

void tr_protobuf_put(struct tr_exposition *x)
{
	struct proto p = { .x = x };
	const tare_exporter *e = x->exporter;

	for (size_t i = 0; i < TR_OWN_METRICS; i++)
		put_own(&p, &tr_own_metrics[i]);
	for (size_t i = 0; i < e->n_groups && !x->sink->err; i++)
		for (size_t k = 0; k < e->groups[i].n_families; k++)
			put_family(&p, &e->groups[i], &e->groups[i].family[k]);
	tr_buf_release(&p.family);
	tr_buf_release(&p.metric);
	tr_buf_release(&p.part);
	tr_buf_release(&p.inner);
	tr_buf_release(&p.deltas);
}
