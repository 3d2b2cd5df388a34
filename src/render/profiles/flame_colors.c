/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours of a flame graph: by module, with warm colours for the program; or
 * all warm; or, for two runs, red for more and blue for less.
 */
#include "render/profiles/flame.h"
#include "read/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHADES 4u /* of a module's colour, so that neighbours differ */
#define WARMS 12u
#define STEPS 8 /* of red, and of blue */

/* Full colour at a change of 10 percentage points. */
#define CHANGE_FULL 0.1
#define CERTAIN 2.5 /* standard errors: one box of 80 by accident */

static const struct {
	unsigned hue, saturation;
} tone[TR_FLAME_MODULES] = {
	{ 26, 90 },  { 207, 62 }, { 146, 45 }, { 268, 50 },
	{ 184, 48 }, { 336, 62 }, { 52, 78 },  { 96, 44 },
};

/* ---- modules ----------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tr_flame_module *)a)->name,
		      ((const struct tr_flame_module *)b)->name);
}

static int heaviest_first(const void *a, const void *b)
{
	const struct tr_flame_module *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Merges adjacent equal names; returns the number left. */
static size_t merge(struct tr_flame_module *weight, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (kept && strcmp(weight[kept - 1].name, weight[i].name) == 0)
			weight[kept - 1].share += weight[i].share;
		else
			weight[kept++] = weight[i];
	return kept;
}

/* The program is always first: it has the warm colour. */
static void choose(struct tr_flame *flame,
		   const struct tr_flame_module *weight, size_t n)
{
	const char *program = tare_view_run(flame->view)->program;

	for (int others = 0; others < 2; others++)
		for (size_t i = 0; i < n; i++) {
			bool is_other = strcmp(weight[i].name, program) != 0;

			if (is_other != others ||
			    (is_other && !weight[i].name[0]) ||
			    flame->n_modules == TR_FLAME_MODULES)
				continue;
			flame->module[flame->n_modules] = weight[i];
			flame->module[flame->n_modules++].share /=
				flame->whole[0];
		}
}

void tr_flame_find_modules(struct tr_flame *flame)
{
	const struct tr_frames *f = &flame->frames;
	struct tr_flame_module *weight =
		calloc(f->n_nodes + (size_t)1, sizeof(*weight));
	size_t n = 0;

	if (!weight)
		return;
	for (uint32_t i = 1; i < f->n_nodes; i++)
		weight[n++] = (struct tr_flame_module){
			f->function[f->node[i].function].module,
			f->node[i].own[0].ns
		};
	qsort(weight, n, sizeof(*weight), by_name);
	n = merge(weight, n);
	qsort(weight, n, sizeof(*weight), heaviest_first);
	choose(flame, weight, n);
	free(weight);
}

/* ---- style sheet ------------------------------------------------------- */

static void add_color(struct tr_sink *sink, const char *class_, unsigned number,
		      const unsigned hsl[3])
{
	tr_sink_addf(sink, ".%s%u{fill:hsl(%u,%u%%,%u%%)}\n", class_, number,
		     hsl[0], hsl[1], hsl[2]);
}

static void module_colors(struct tr_flame *flame)
{
	for (unsigned i = 0; i <= flame->n_modules; i++)
		for (unsigned k = 0; k < SHADES; k++) {
			unsigned none[3] = { 220, 12, 76 + 2 * k };
			unsigned own[3] = { 0, 0, 66 + 3 * k };

			if (i < flame->n_modules) {
				own[0] = tone[i].hue + 4 * k;
				own[1] = tone[i].saturation;
			}
			add_color(flame->sink, "m", i * SHADES + k,
				  i < flame->n_modules ? own : none);
		}
}

static void warm_colors(struct tr_flame *flame)
{
	for (unsigned i = 0; i < WARMS; i++) {
		unsigned hsl[3] = { 8 + 4 * i, 88, 62 + i };

		add_color(flame->sink, "w", i, hsl);
	}
}

static void change_colors(struct tr_flame *flame)
{
	for (unsigned i = 0; i <= STEPS; i++) {
		unsigned more[3] = { 4, 82, 92 - 4 * i };
		unsigned less[3] = { 212, 78, 92 - 4 * i };

		if (i == 0)
			more[1] = less[1] = 0;
		add_color(flame->sink, "r", i, more);
		add_color(flame->sink, "b", i, less);
	}
}

void tr_flame_palette(struct tr_flame *flame)
{
	if (flame->options.before)
		change_colors(flame);
	else if (flame->options.is_warm)
		warm_colors(flame);
	else
		module_colors(flame);
}

/* ---- boxes ------------------------------------------------------------- */

/* A function has the same shade everywhere. */
static unsigned mixed(const char *name)
{
	unsigned hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash ^ hash >> 15;
}

static unsigned module_number(const struct tr_flame *flame, const char *name)
{
	unsigned i = 0;

	while (i < flame->n_modules &&
	       strcmp(flame->module[i].name, name) != 0)
		i++;
	return i;
}

/* Square of the standard error of a sampled weight. */
static double error2(const struct tr_flame *flame, struct tr_weight weight,
		     unsigned slot)
{
	double part = tr_flame_part(flame, weight, slot);

	return flame->options.from == TARE_FRAMES_SAMPLES && weight.n ?
		       part * part / (double)weight.n :
		       0;
}

/*
 * By what a function itself takes: a change has its colour where it happened,
 * not in all the callers. From the leaves down, callers have no weight of
 * their own. What may be an accident of sampling has no colour.
 */
static double change_of(const struct tr_flame *flame, uint32_t node)
{
	const struct tr_frame_node *frame = &flame->frames.node[node];
	const struct tr_weight *weight =
		flame->options.is_reverse ? frame->all : frame->own;
	double change = tr_flame_part(flame, weight[0], 0) -
			tr_flame_part(flame, weight[1], 1);
	double variance = error2(flame, weight[0], 0) +
			  error2(flame, weight[1], 1);

	return change * change > CERTAIN * CERTAIN * variance ? change : 0;
}

static void change_class(struct tr_flame *flame, uint32_t node)
{
	double change = change_of(flame, node);
	double size = change < 0 ? -change : change;
	unsigned step = 0;

	/* By the square root, so that small changes are visible too. */
	while (step < STEPS && size >= CHANGE_FULL * (step + 1) * (step + 1) /
					       (STEPS * STEPS))
		step++;
	tr_sink_addf(flame->sink, "%s%u", change < 0 ? "b" : "r", step);
}

void tr_flame_class(struct tr_flame *flame, uint32_t node)
{
	const struct tr_frames *f = &flame->frames;
	const struct tr_function *function =
		node ? &f->function[f->node[node].function] : NULL;

	if (flame->options.before) {
		change_class(flame, node);
	} else if (!function || function->kind != TARE_STACK_CODE) {
		tr_sink_adds(flame->sink, "no");
	} else if (flame->options.is_warm) {
		tr_sink_addf(flame->sink, "w%u", mixed(function->name) % WARMS);
	} else {
		tr_sink_addf(flame->sink, "m%u",
			     module_number(flame, function->module) * SHADES +
				     mixed(function->name) % SHADES);
	}
}

/* ---- legend ------------------------------------------------------------ */

/* A coloured square and its meaning; returns where the next one begins. */
static double add_key(struct tr_flame *flame, double x, unsigned y,
		      const char *class_, const char *text)
{
	tr_sink_addf(flame->sink,
		     "<rect class=\"%s\" x=\"%s\" y=\"%u\" width=\"12\" "
		     "height=\"12\" rx=\"2\"/><text class=\"key\" x=\"%s\" "
		     "y=\"%u\">", class_, tr_as_short(x, 0).text, y - 10,
		     tr_as_short(x + 17, 0).text, y);
	tr_sink_xml(flame->sink, text, 48);
	tr_sink_adds(flame->sink, "</text>\n");
	return x + 17 + (strlen(text) < 48 ? (double)strlen(text) : 48) * 6.7 +
	       18;
}

static void module_legend(struct tr_flame *flame, unsigned y)
{
	double x = TR_FLAME_SIDE;

	for (unsigned i = 0; i < flame->n_modules; i++) {
		char text[96], class_[16];

		(void)snprintf(text, sizeof(text), "%.40s %s %%",
			       flame->module[i].name,
			       tr_as_fixed(flame->module[i].share * 100,
					   1).text);
		(void)snprintf(class_, sizeof(class_), "m%u", i * SHADES);
		if (x < flame->options.width - 150.0)
			x = add_key(flame, x, y, class_, text);
	}
}

void tr_flame_legend(struct tr_flame *flame, unsigned y)
{
	double x = TR_FLAME_SIDE;

	if (flame->options.before) {
		bool is_by_share = flame->options.is_by_share;

		x = add_key(flame, x, y, "r8",
			    is_by_share ? "larger share than before" :
					  "more than before");
		x = add_key(flame, x, y, "r0", "the same");
		(void)add_key(flame, x, y, "b8",
			      is_by_share ? "smaller share" : "less");
	} else if (!flame->options.is_warm) {
		module_legend(flame, y);
	}
}
