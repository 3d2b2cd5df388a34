/* SPDX-License-Identifier: Apache-2.0 */
/* Verify: checks that the parts of a ledger agree with each other. */
#include "ledger/runs.h"
#include "read/profile.h"

#include <stdio.h>
#include <string.h>

struct check {
	void (*problem)(void *arg, const char *text);
	void *arg;
	int n;
};

static void tell(struct check *check, const char *text)
{
	check->n++;
	if (check->problem)
		check->problem(check->arg, text);
}

static void tell_count(struct check *check, const char *what, uint64_t n)
{
	char text[160];

	if (!n)
		return;
	(void)snprintf(text, sizeof(text), "%s: %llu", what,
		       (unsigned long long)n);
	tell(check, text);
}

/* Reports every damaged part by its name. */
static void tell_damage(struct check *check, const tare_view *view)
{
	const struct tr_image *image = &view->image;
	char text[160];

	for (int i = 0; i < 2; i++, image = &view->baseline)
		for (uint32_t kind = 0; kind < TR_SUM_KINDS; kind++) {
			if (!(image->damaged >> kind & 1))
				continue;
			(void)snprintf(text, sizeof(text),
				       "other bytes than were written: %s%s",
				       tr_sum_name(kind),
				       i ? " of the baseline" : "");
			tell(check, text);
		}
}

/* Calls by paths against calls by distributions. Exact unless it is live. */
static void check_series(struct check *check, const tare_view *view)
{
	uint64_t missing = 0;
	char text[400];

	for (uint32_t id = 1; id < view->all.n_series; id++) {
		const struct tr_series *s = &view->all.series[id];
		uint64_t timed;

		if (!s->site || s->site->kind != TARE_KIND_SCOPE)
			continue;
		timed = tr_series_timed(s) + s->positive.unbucketed;
		if (timed == s->calls || s->site->flags & TR_SITE_INTERNAL)
			continue;
		if (s->calls > timed &&
		    s->calls - timed <= view->all.lost_unbucketed) {
			missing += s->calls - timed;
			continue;
		}
		(void)snprintf(text, sizeof(text),
			       "'%s': %llu calls, but %llu times",
			       tr_image_string(&view->image, s->site->name),
			       (unsigned long long)s->calls,
			       (unsigned long long)timed);
		tell(check, text);
	}
	if (missing > view->all.lost_unbucketed)
		tell_count(check, "calls without a time", missing);
}

TARE_API int tare_verify(const char *path,
			 void (*problem)(void *arg, const char *text),
			 void *arg)
{
	struct check check = { problem, arg, 0 };
	uint64_t damaged;
	tare_view *view;
	int err;

	if (!path)
		return TARE_EINVAL;
	err = tare_view_open(path, &view);
	if (err)
		return err;
	err = tr_profile_damaged(view, true, &damaged);
	if (err) {
		tare_view_close(view);
		return err;
	}
	tell_damage(&check, view);
	tell_count(&check, "the file was cut off, bytes missing",
		   view->image.missing);
	tell_count(&check, "places in the file that cannot be read",
		   view->all.damaged + damaged);
	if (!view->live && !view->has_baseline)
		check_series(&check, view);
	tare_view_close(view);
	return check.n;
}
