/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours of a flame graph: by module, the program's warm; or all of them
 * warm; or, of two runs, red for more and blue for less.
 */
#include "render/profiles/flame.h"
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

#define SHADES 4u /* of a module's colour, so that neighbours differ */
#define WARMS 12u
#define STEPS 8 /* of red, and of blue */

/* Full colour at a change of ten points of the share. */
#define CHANGE_FULL 0.1

static const struct {
	unsigned hue, saturation;
} tone[TR_FLAME_MODULES] = {
	{ 26, 90 },  { 207, 62 }, { 146, 45 }, { 268, 50 },
	{ 184, 48 }, { 336, 62 }, { 52, 78 },  { 96, 44 },
};

/* ---- modules ----------------------------------------------------------- */

struct module_weight {
	const char *name;
	double ns;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct module_weight *)a)->name,
		      ((const struct module_weight *)b)->name);
}

static int heaviest_first(const void *a, const void *b)
{
	const struct module_weight *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Equal names, which are neighbours, into one; how many there are. */
static size_t merge(struct module_weight *weight, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (kept && strcmp(weight[kept - 1].name, weight[i].name) == 0)
			weight[kept - 1].ns += weight[i].ns;
		else
			weight[kept++] = weight[i];
	return kept;
}

/* The program is always the first: it has the warm colour. */
static void choose(struct tr_flame *flame, const struct module_weight *weight,
		   size_t n)
{
	const char *program = tare_view_run(flame->view)->program;

	for (size_t i = 0; i < n; i++)
		if (strcmp(weight[i].name, program) == 0)
			flame->module[flame->n_modules++] =
				(struct tr_flame_module){
					weight[i].name,
					weight[i].ns / flame->whole[0]
				};
	for (size_t i = 0; i < n && flame->n_modules < TR_FLAME_MODULES; i++)
		if (weight[i].name[0] && strcmp(weight[i].name, program) != 0)
			flame->module[flame->n_modules++] =
				(struct tr_flame_module){
					weight[i].name,
					weight[i].ns / flame->whole[0]
				};
}

void tr_flame_find_modules(struct tr_flame *flame)
{
	const struct tr_frames *f = &flame->frames;
	struct module_weight *weight =
		calloc(f->n_nodes + (size_t)1, sizeof(*weight));
	size_t n = 0;

	if (!weight)
		return;
	for (uint32_t i = 1; i < f->n_nodes; i++)
		weight[n++] = (struct module_weight){
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
	tr_sink_adds(sink, ".");
	tr_sink_adds(sink, class_);
	tr_sink_number(sink, number, 0);
	tr_sink_adds(sink, "{fill:hsl(");
	tr_sink_number(sink, hsl[0], 0);
	tr_sink_adds(sink, ",");
	tr_sink_number(sink, hsl[1], 0);
	tr_sink_adds(sink, "%,");
	tr_sink_number(sink, hsl[2], 0);
	tr_sink_adds(sink, "%)}\n");
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

/* The same function has the same shade wherever it is. */
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

static void change_class(struct tr_flame *flame, uint32_t node)
{
	double change = tr_flame_share(flame, node, 0) -
			tr_flame_share(flame, node, 1);
	double size = change < 0 ? -change : change;
	unsigned step = 0;

	/* By the root of it: small changes are to be seen, too. */
	while (step < STEPS && size >= CHANGE_FULL * (step + 1) * (step + 1) /
					       (STEPS * STEPS))
		step++;
	tr_sink_adds(flame->sink, change < 0 ? "b" : "r");
	tr_sink_number(flame->sink, step, 0);
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
		tr_sink_adds(flame->sink, "w");
		tr_sink_number(flame->sink, mixed(function->name) % WARMS, 0);
	} else {
		tr_sink_adds(flame->sink, "m");
		tr_sink_number(flame->sink,
			       module_number(flame, function->module) *
					       SHADES +
				       mixed(function->name) % SHADES,
			       0);
	}
}

/* ---- legend ------------------------------------------------------------ */

/* A square of a colour, and what it means; gives where the next begins. */
static double add_key(struct tr_flame *flame, double x, unsigned y,
		      const char *class_, const char *text)
{
	tr_sink_adds(flame->sink, "<rect class=\"");
	tr_sink_adds(flame->sink, class_);
	tr_sink_adds(flame->sink, "\" x=\"");
	tr_sink_number(flame->sink, x, 0);
	tr_sink_adds(flame->sink, "\" y=\"");
	tr_sink_number(flame->sink, y - 10, 0);
	tr_sink_adds(flame->sink, "\" width=\"12\" height=\"12\" rx=\"2\"/>"
		     "<text class=\"key\" x=\"");
	tr_sink_number(flame->sink, x + 17, 0);
	tr_sink_adds(flame->sink, "\" y=\"");
	tr_sink_number(flame->sink, y, 0);
	tr_sink_adds(flame->sink, "\">");
	tr_sink_xml(flame->sink, text, 48);
	tr_sink_adds(flame->sink, "</text>\n");
	return x + 17 + (strlen(text) < 48 ? (double)strlen(text) : 48) * 6.7 +
	       18;
}

static void module_legend(struct tr_flame *flame, unsigned y)
{
	double x = TR_FLAME_SIDE;

	for (unsigned i = 0; i < flame->n_modules; i++) {
		struct tr_buf text = TR_BUF_INIT;
		char share[32], class_[16] = "m";

		(void)tr_fixed_text(share, sizeof(share),
				    flame->module[i].share * 100, 1);
		tr_buf_addf(&text, "%.40s %s %%", flame->module[i].name,
			    share);
		class_[1 + tr_u64_text(class_ + 1, i * SHADES)] = '\0';
		if (!text.failed && x < flame->options.width - 150.0)
			x = add_key(flame, x, y, class_, text.data);
		tr_buf_release(&text);
	}
}

void tr_flame_legend(struct tr_flame *flame, unsigned y)
{
	double x = TR_FLAME_SIDE;

	if (flame->options.before) {
		x = add_key(flame, x, y, "r8", "larger share than before");
		x = add_key(flame, x, y, "r0", "the same");
		(void)add_key(flame, x, y, "b8", "smaller share");
	} else if (!flame->options.is_warm) {
		module_legend(flame, y);
	}
}
