/* SPDX-License-Identifier: Apache-2.0 */
/* The page, from top to end. */
#include "render/pages/page.h"
#include "read/judge.h"
#include "render/pages.h"

#include <tare/version.h>

/* ---- figures ----------------------------------------------------------- */

void tr_page_figure(struct tr_sink *sink, const char *title,
		    const char *about)
{
	tr_sink_addf(sink, "<figure class=\"card\"><h2>%s</h2><p>%s</p>\n",
		     title, about);
}

void tr_page_figure_close(struct tr_sink *sink)
{
	tr_sink_adds(sink, "</figure>\n");
}

/* ---- the top ----------------------------------------------------------- */

static const char *title_of(const tare_comparison *c)
{
	return c->title ? c->title : "Training runs compared";
}

static void add_head(const tare_comparison *c, struct tr_sink *sink)
{
	tr_sink_adds(sink,
		     "<!DOCTYPE html>\n<html lang=\"en\"><head>"
		     "<meta charset=\"utf-8\"/>\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\""
		     "default-src 'none'; style-src 'unsafe-inline'; "
		     "img-src data:\"/>\n"
		     "<meta name=\"viewport\" content=\"width=device-width, "
		     "initial-scale=1\"/>\n"
		     "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
		     "<link rel=\"icon\" href=\"data:,\"/>\n<title>");
	tr_sink_xml(sink, title_of(c), 120);
	tr_sink_adds(sink, "</title>\n<style>\n");
	tr_page_style(sink);
	tr_sink_adds(sink, "</style></head>\n<body><main>\n<header><h1>");
	tr_sink_xml(sink, title_of(c), 120);
	tr_sink_addf(sink, "</h1><p class=\"sub\">%s configuration%s, %s run%s"
		     "; baseline: ", tr_as_count(c->result.n_configs).text,
		     c->result.n_configs == 1 ? "" : "s",
		     tr_as_count(c->n_runs).text, c->n_runs == 1 ? "" : "s");
	tr_sink_xml(sink, c->config[c->result.baseline].name, 80);
	tr_sink_adds(sink, "</p></header>\n<section class=\"card summary\">"
		     "<p>");
	tr_sink_xml(sink, c->summary, 4000);
	tr_sink_adds(sink, "</p></section>\n");
}

/* ---- tiles ------------------------------------------------------------- */

static void add_tile(struct tr_sink *sink, struct tr_buf *value,
		     const char *what, const char *of)
{
	tr_sink_addf(sink, "<div class=\"card\"><b>%s</b><span>%s",
		     value->data ? value->data : "", what);
	tr_sink_xml(sink, of, 40);
	tr_sink_adds(sink, "</span></div>\n");
	value->len = 0;
}

static void add_best_tiles(struct tr_sink *sink,
			   const tare_compared_config *best)
{
	struct tr_buf value = TR_BUF_INIT;

	tr_text_ratio(&value, best->speedup.mean);
	tr_buf_adds(&value, " \xc3\x97");
	add_tile(sink, &value, "speedup of ", best->name);
	tr_text_percent(&value, best->efficiency.mean);
	add_tile(sink, &value, "efficiency of ", best->name);
	if (best->comm_share.n) {
		tr_text_percent(&value, best->comm_share.mean);
		add_tile(sink, &value, "communication in ", best->name);
	}
	tr_buf_release(&value);
}

static void add_tiles(const tare_comparison *c, struct tr_sink *sink)
{
	const tare_compared_config *best = tr_compared_fastest(c);
	struct tr_buf value = TR_BUF_INIT;

	if (!best)
		return;
	tr_sink_adds(sink, "<section class=\"tiles\">\n");
	add_best_tiles(sink, best);
	for (size_t i = 0; i < c->result.n_fits && i < 2; i++) {
		if (c->fit[i].serial >= 1) {
			continue;
		} else if (c->fit[i].serial > 0) {
			tr_text_ratio(&value, c->fit[i].most);
			tr_buf_adds(&value, " \xc3\x97");
		} else {
			tr_buf_adds(&value, "no limit");
		}
		add_tile(sink, &value, "at most, by the fit to ",
			 c->fit[i].family);
	}
	tr_sink_adds(sink, "</section>\n");
	tr_buf_release(&value);
}

/* ---- the end ----------------------------------------------------------- */

static void add_notes(const tare_comparison *c, struct tr_sink *sink)
{
	if (!c->result.n_notes)
		return;
	tr_sink_adds(sink, "<section class=\"card notes\"><h2>To be known"
		     "</h2><ul>");
	for (size_t i = 0; i < c->result.n_notes; i++) {
		tr_sink_adds(sink, "<li>");
		tr_sink_xml(sink, c->note[i], 600);
		tr_sink_adds(sink, "</li>");
	}
	tr_sink_adds(sink, "</ul></section>\n");
}

static void add_fit_row(struct tr_sink *sink, const tare_compared_fit *fit)
{
	struct tr_buf buf = TR_BUF_INIT;

	tr_buf_adds(&buf, ": serial fraction ");
	tr_text_fixed(&buf, fit->serial, 4);
	if (fit->error == fit->error) {
		tr_buf_adds(&buf, ", standard error ");
		tr_text_fixed(&buf, fit->error, 4);
	}
	tr_buf_adds(&buf, ", residual (root mean square of 1/S) ");
	tr_text_fixed(&buf, fit->residual, 4);
	tr_buf_addf(&buf, ", %u %s.", fit->n_points,
		    fit->n_points == 1 ? "point" : "points");
	tr_sink_adds(sink, " ");
	tr_sink_xml(sink, fit->family, 80);
	tr_sink_adds(sink, buf.data ? buf.data : "");
	tr_buf_release(&buf);
}

static void add_method(const tare_comparison *c, struct tr_sink *sink)
{
	tr_sink_adds(sink,
		     "<details class=\"card\"><summary>How these figures come "
		     "about</summary><dl>"
		     "<dt>Intervals</dt><dd>95 %. Of means: Student's t. Of "
		     "speedups: the logarithm of the ratio, its variance from "
		     "the relative errors of both means, degrees of freedom "
		     "of Welch and Satterthwaite. They need two runs of a "
		     "configuration, of speedups two of both.</dd>"
		     "<dt>Speedup, efficiency</dt><dd>Time of the baseline by "
		     "time of the configuration; that by its workers.</dd>"
		     "<dt>Serial fraction</dt><dd>Karp and Flatt: (1/S - 1/p) "
		     "/ (1 - 1/p). If it grows with p, overhead grows; if it "
		     "does not, there is a part that only one worker "
		     "does.</dd>"
		     "<dt>Amdahl's law</dt><dd>1/S = f + (1 - f)/p by least "
		     "squares over a family's configurations on more workers "
		     "than the baseline's.");
	for (size_t i = 0; i < c->result.n_fits; i++)
		add_fit_row(sink, &c->fit[i]);
	tr_sink_adds(sink,
		     "</dd><dt>Communication</dt><dd>Sum of comm_time by sum "
		     "of total_time.</dd>"
		     "<dt>Memory</dt><dd>Peak of the largest worker, MB of "
		     "2^20 bytes.</dd></dl></details>\n");
}

void tr_compared_page(const tare_comparison *c, struct tr_sink *sink)
{
	add_head(c, sink);
	add_tiles(c, sink);
	add_notes(c, sink);
	tr_page_speed(c, sink);
	tr_sink_adds(sink, "<section class=\"plots\">\n");
	tr_page_scaling(c, sink);
	tr_page_bars(c, sink);
	tr_page_curves(c, sink);
	tr_sink_adds(sink, "</section>\n");
	tr_page_tables(c, sink);
	add_method(c, sink);
	tr_page_runs(c, sink);
	tr_sink_adds(sink, "<footer>tare " TARE_VERSION "</footer>\n"
		     "</main></body></html>\n");
}
