/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members: assigns the series of the exported runs to groups.
 */
#include "render/metrics/family.h"

#include <stdlib.h>
#include <string.h>

#define KEEP_UNUSED 16u /* consecutive exports a run may be missing from */

/* ---- series with equal labels ------------------------------------------ */

static uint32_t text_hash(const tare_exporter *e, uint32_t group,
			  const struct tr_member *m)
{
	return tr_hash_bytes((group * 2654435761u) ^ m->run,
			     tr_member_labels(e, m), m->len);
}

static uint32_t twin_hash(const void *owner, uint32_t entry)
{
	const tare_exporter *e = owner;

	return e->twins[entry - 1].hash;
}

/* A member of the same run and group with the same text, or NULL. */
static struct tr_member *find_twin(const tare_exporter *e, uint32_t group,
				   const struct tr_member *like, uint32_t hash)
{
	uint32_t place = hash & e->by_text.mask;

	for (; e->by_text.at && e->by_text.at[place];
	     place = (place + 1) & e->by_text.mask) {
		const struct tr_twin *t =
			&e->twins[e->by_text.at[place] - 1];
		struct tr_member *m;

		if (t->hash != hash || t->group != group)
			continue;
		m = &e->groups[group].member[t->member];
		if (m->run == like->run && m->len == like->len &&
		    memcmp(tr_member_labels(e, m), tr_member_labels(e, like),
			   m->len) == 0)
			return m;
	}
	return NULL;
}

static bool note_text(tare_exporter *e, uint32_t group, uint32_t member,
		      uint32_t hash)
{
	TR_GROW(e, e->twins, e->n_twins, e->cap_twins);
	if (!tr_index_room(&e->by_text, e, twin_hash)) {
		e->failed = true;
		return false;
	}
	e->twins[e->n_twins++] = (struct tr_twin){ group, member, hash };
	tr_index_put(&e->by_text, hash, (uint32_t)e->n_twins);
	return true;
}

/* ---- a member ---------------------------------------------------------- */

static void add_about(struct tr_known_run *known, size_t from)
{
	if (known->texts.len > from)
		tr_buf_addc(&known->texts, ',');
	tr_buf_add(&known->texts, known->about.data, known->about.len);
}

/* Never used: two threads registered the site at once, this one lost. */
static bool is_empty(const tare_view *view, uint32_t site)
{
	const struct tr_series *s = &view->all.series[site];

	return !s->counter && !s->whole && !s->calls && !s->positive.n &&
	       !s->negative.n && !s->positive.zeros && !s->not_finite;
}

/*
 * Of two series with equal labels, the newer one gets its site number as a
 * label; the older one, if that is unused. Returns the hash of the member's
 * text.
 */
static uint32_t tell_apart(tare_exporter *e, uint32_t group,
			   struct tr_member *m)
{
	struct tr_known_run *known = &e->runs[m->run];
	uint32_t from = m->text, site = m->site;
	uint32_t hash = text_hash(e, group, m);
	struct tr_member *twin = find_twin(e, group, m, hash);
	char number[24];

	if (!twin)
		return hash;
	if (is_empty(known->view, twin->site)) {
		m->site = twin->site;
		twin->site = site;
	}
	m->text = (uint32_t)known->texts.len;
	tr_buf_pad(&known->texts, ' ', m->len);
	if (m->len && !known->texts.failed)
		memcpy(known->texts.data + m->text, known->texts.data + from,
		       m->len);
	number[tr_u64_text(number, m->site)] = '\0';
	tr_metric_label(&known->texts, m->text, "site", number);
	m->len = (uint32_t)known->texts.len - m->text;
	return known->texts.failed ? hash : text_hash(e, group, m);
}

static bool add_member(tare_exporter *e, uint32_t run, uint32_t site)
{
	struct tr_known_run *known = &e->runs[run];
	const struct tr_image *image = &known->view->image;
	const struct tr_site *s = known->view->all.series[site].site;
	struct tr_member m = { run, site, (uint32_t)known->texts.len, 0 };
	uint32_t group = tr_group_of(e, image, s), hash = 0;
	struct tr_group *g;

	if (!group)
		return false;
	(void)tr_metric_labels(tr_image_string(image, s->source),
			       tr_image_string(image, s->labels),
			       &known->texts);
	if (known->with_run)
		add_about(known, m.text);
	m.len = (uint32_t)known->texts.len - m.text;
	if (!known->texts.failed)
		hash = tell_apart(e, group - 1, &m);
	if (known->texts.failed || known->texts.len > UINT32_MAX / 2) {
		e->failed = true;
		return false;
	}
	g = &e->groups[group - 1];
	TR_GROW(e, g->member, g->n, g->cap);
	g->member[g->n++] = m;
	return note_text(e, group - 1, (uint32_t)g->n - 1, hash);
}

/* ---- a run ------------------------------------------------------------- */

static bool is_shown(const struct tr_site *site)
{
	return !(site->flags & TR_SITE_INTERNAL) &&
	       site->kind >= TARE_KIND_SCOPE && site->kind <= TARE_KIND_RATIO;
}

static bool grow_known(tare_exporter *e, struct tr_known_run *known,
		       uint32_t n)
{
	uint8_t *more;

	if (n <= known->n_known)
		return true;
	more = realloc(known->is_known, n);
	if (!more) {
		e->failed = true;
		return false;
	}
	memset(more + known->n_known, 0, n - known->n_known);
	known->is_known = more;
	known->n_known = n;
	return true;
}

static uint32_t next_unknown(const struct tr_known_run *known, uint32_t id,
			     uint32_t n)
{
	const uint8_t *at = memchr(known->is_known + id, 0, n - id);

	return at ? (uint32_t)(at - known->is_known) : n;
}

static bool update_run(tare_exporter *e, uint32_t run)
{
	const struct tr_gather *all = &e->runs[run].view->all;

	if (!grow_known(e, &e->runs[run], all->n_series))
		return false;
	for (uint32_t id = 1; id < all->n_series; id++) {
		const struct tr_site *site;

		id = next_unknown(&e->runs[run], id, all->n_series);
		site = id < all->n_series ? all->series[id].site : NULL;
		if (!site)
			continue; /* not ready yet */
		e->runs[run].is_known[id] = 1;
		if (!is_shown(site))
			continue;
		if (!add_member(e, run, id))
			return false;
		e->runs[run].last_site = id;
		e->runs[run].last_hash = site->hash;
	}
	return true;
}

/* The same run, not another with the same id: compares the last site. */
static bool is_same(const struct tr_known_run *known, const tare_view *view)
{
	const struct tr_gather *all = &view->all;

	return all->n_series >= known->n_known &&
	       (!known->last_site ||
		(all->series[known->last_site].site &&
		 all->series[known->last_site].site->hash ==
			 known->last_hash));
}

/* False: the stored data is no longer valid. */
static bool find_run(tare_exporter *e, const tare_view *view, bool with_run,
		     size_t *ret)
{
	const char *id = tare_view_run(view)->id;
	size_t i = 0;

	while (i < e->n_runs && strncmp(e->runs[i].id, id,
					sizeof(e->runs[i].id) - 1) != 0)
		i++;
	*ret = i;
	if (i == e->n_runs)
		return true;
	return e->runs[i].view || (e->runs[i].with_run == with_run &&
				   is_same(&e->runs[i], view));
}

static bool add_run(tare_exporter *e, const tare_view *view, bool with_run)
{
	struct tr_known_run *known;

	TR_GROW(e, e->runs, e->n_runs, e->cap_runs);
	known = &e->runs[e->n_runs++];
	*known = (struct tr_known_run){ .with_run = with_run };
	(void)strncpy(known->id, tare_view_run(view)->id,
		      sizeof(known->id) - 1);
	if (with_run)
		tr_metric_run_labels(&known->about, tare_view_run(view));
	e->failed |= known->about.failed;
	return !e->failed;
}

/* False: the exporter must start over. */
static bool meet(tare_exporter *e, tare_view *const *views, size_t n)
{
	size_t run;

	for (size_t i = 0; i < e->n_runs; i++)
		e->runs[i].view = NULL;
	for (size_t i = 0; i < n; i++) {
		if (!find_run(e, views[i], n > 1, &run))
			return false;
		if (run == e->n_runs && !add_run(e, views[i], n > 1))
			return false;
		/* A run that is passed twice is exported once. */
		if (!e->runs[run].view)
			e->runs[run].view = views[i];
		e->runs[run].unused = 0;
	}
	for (size_t i = 0; i < e->n_runs; i++)
		if (!e->runs[i].view && ++e->runs[i].unused > KEEP_UNUSED)
			return false;
	return true;
}

/* Padding after the texts, so that copies may read past their end. */
static bool pad_texts(tare_exporter *e, struct tr_buf *texts)
{
	size_t len = texts->len;

	tr_buf_pad(texts, '\0', 64);
	e->failed |= texts->failed;
	texts->len = len;
	return !e->failed;
}

static bool update(tare_exporter *e, tare_view *const *views, size_t n)
{
	if (!meet(e, views, n)) {
		tr_families_reset(e);
		if (!meet(e, views, n))
			return false;
	}
	/* First, so that no series gets these names. */
	if (!e->n_names && !tr_own_claim(e))
		return false;
	for (uint32_t i = 0; i < e->n_runs; i++)
		if (e->runs[i].view && (!update_run(e, i) ||
					!pad_texts(e, &e->runs[i].texts)))
			return false;
	return true;
}

int tr_members_update(tare_exporter *e, tare_view *const *views, size_t n)
{
	if (update(e, views, n))
		return 0;
	tr_families_reset(e);
	return TARE_ENOMEM;
}
