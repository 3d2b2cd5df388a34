/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page around a flame graph: style, title, and the script that zooms and
 * searches. In pieces: a C string literal has at most 4,095 bytes.
 */
#include "render/profiles/flame.h"

#include <string.h>

static const char style[] =
	"svg{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',"
	"monospace;fill:#24292f}\n"
	"text{white-space:pre}\n"
	"svg:root{background:#fbfaf8}.bg{fill:#fbfaf8}\n"
	"#frames{cursor:pointer}\n"
	"#frames text{pointer-events:none;transform:translate(4px,0)}\n"
	"#frames rect{stroke:#fbfaf8;stroke-width:.6}\n"
	"#frames g:hover rect{stroke:#24292f;stroke-width:1}\n"
	".title{font:600 17px system-ui,'Segoe UI','DejaVu Sans',sans-serif}\n"
	".sub,.key,#found{font:12px system-ui,'Segoe UI','DejaVu Sans',"
	"sans-serif;fill:#57606a}\n"
	"#info{font-size:12.5px}\n"
	"#found{text-anchor:end}\n"
	".no{fill:#d8d6d2}\n"
	".up{opacity:.55}\n"
	".hit rect{fill:#c026d3;stroke:#c026d3}\n"
	".hit text{fill:#fff}\n"
	".dim rect{opacity:.45}\n"
	"#tools{visibility:hidden}\n"
	"#tools input,#tools button{font:12px system-ui,sans-serif;"
	"padding:3px 8px;border:1px solid #c9c6c1;border-radius:6px;"
	"background:#fff;color:#24292f;box-sizing:border-box;height:26px}\n"
	"#tools div{display:flex;gap:6px;justify-content:flex-end}\n"
	"#tools input{width:210px}\n"
	"@media(prefers-color-scheme:dark){svg:root{background:"
	"#1c1f24}.bg{fill:#1c1f24}"
	".title,#info{fill:#e6e4e0}.sub,.key,#found{fill:#a8adb5}"
	"#frames rect{stroke:#1c1f24}}\n";

static const char *const script[] = {
	"(function () {\n"
	"'use strict';\n"
	"var svg = document.documentElement;\n"
	"var $ = function (id) { return document.getElementById(id); };\n"
	"var frames = $('frames'), info = $('info'), found = $('found');\n"
	"var input = $('query'), reset = $('reset');\n"
	"var NS = 'http://www.w3.org/2000/svg', side = 12;\n"
	"var zoomed = null, wide = 1176, letter = 7.25;\n"
	"var cells = [].map.call(frames.children, function (g, i) {\n"
	"  var rect = g.querySelector('rect');\n"
	"  var lines = g.querySelector('title').textContent.split('\\n');\n"
	"  return { g: g, rect: rect, text: g.querySelector('text'),\n"
	"    x: parseFloat(rect.getAttribute('x')),\n"
	"    w: parseFloat(rect.getAttribute('width')),\n"
	"    y: +rect.getAttribute('y'), name: lines[0], i: i,\n"
	"    about: lines.join('   ') };\n"
	"});\n"
	"var base = cells[0];\n"
	"function cellOf(event) {\n"
	"  var g = event.target.closest('#frames g');\n"
	"  return g ? cells[[].indexOf.call(frames.children, g)] : null;\n"
	"}\n"
	"function brief(name) {\n"
	"  var out = '', deep = 0, skip = 0, i, m;\n"
	"  for (i = 0; i < name.length; i++) {\n"
	"    m = !skip && !deep && /^operator(\\(\\)|[<>=-]*)/.exec(\n"
	"      name.slice(i, i + 12));\n"
	"    if (m) skip = m[0].length;\n"
	"    if (skip) { out += name[i]; skip--; continue; }\n"
	"    if (deep && />|\\)/.test(name[i])) deep--;\n"
	"    if (!deep) out += name[i];\n"
	"    if (/<|\\(/.test(name[i])) deep++;\n"
	"  }\n"
	"  return out;\n"
	"}\n"
	"function label(c, w) {\n"
	"  var n = Math.floor((w * wide / 100 - 7) / letter), s = c.name;\n"
	"  if (n < 3) {\n"
	"    if (c.text) c.text.textContent = '';\n"
	"    return;\n"
	"  }\n"
	"  if (!c.text) {\n"
	"    c.text = document.createElementNS(NS, 'text');\n"
	"    c.text.setAttribute('y', c.y + 13);\n"
	"    c.g.appendChild(c.text);\n"
	"  }\n"
	"  if (s.length > n) s = brief(s);\n"
	"  c.text.textContent = s.length <= n ? s :\n"
	"    s.slice(0, n - 1) + '\\u2026';\n"
	"}\n"
	"function show(c, x, w) {\n"
	"  c.g.style.display = '';\n"
	"  c.rect.setAttribute('x', x + '%');\n"
	"  c.rect.setAttribute('width', w + '%');\n"
	"  label(c, w);\n"
	"  if (c.text) c.text.setAttribute('x', x + '%');\n"
	"}\n",
	"function layout() {\n"
	"  var z = zoomed || base, end = z.x + z.w, tiny = 1e-3;\n"
	"  var up = !cells[1] || cells[1].y < base.y;\n"
	"  cells.forEach(function (c) {\n"
	"    var under = up ? c.y > z.y : c.y < z.y;\n"
	"    var inside = c.x >= z.x - tiny && c.x + c.w <= end + tiny;\n"
	"    var around = c.x <= z.x + tiny && c.x + c.w >= end - tiny;\n"
	"    c.g.classList.toggle('up', under && around);\n"
	"    if (under && around) show(c, 0, 100);\n"
	"    else if (!under && inside)\n"
	"      show(c, (c.x - z.x) / z.w * 100, c.w / z.w * 100);\n"
	"    else c.g.style.display = 'none';\n"
	"  });\n"
	"  reset.style.visibility = zoomed ? 'visible' : 'hidden';\n"
	"}\n"
	"function search() {\n"
	"  var q = input.value, re = null, sum = 0, end = -1, hits = [];\n"
	"  if (q) try { re = new RegExp(q, 'i'); } catch (e) {\n"
	"    re = new RegExp(q.replace(/[^\\w\\s]/g, '\\\\$&'), 'i');\n"
	"  }\n"
	"  cells.forEach(function (c) {\n"
	"    var hit = !!re && c !== base && re.test(c.name);\n"
	"    c.g.classList.toggle('hit', hit);\n"
	"    c.g.classList.toggle('dim', !!re && !hit);\n"
	"    if (hit) hits.push(c);\n"
	"  });\n"
	"  hits.sort(function (a, b) { return a.x - b.x || b.w - a.w; });\n"
	"  hits.forEach(function (c) {\n"
	"    if (c.x < end - 1e-3) return;\n"
	"    sum += c.w;\n"
	"    end = c.x + c.w;\n"
	"  });\n"
	"  found.textContent = re ? 'matched ' + sum.toFixed(1) + ' %, ' +\n"
	"    hits.length + (hits.length === 1 ? ' box' : ' boxes') : '';\n"
	"}\n"
	"function remember() {\n"
	"  var parts = [];\n"
	"  if (zoomed) parts.push('zoom=' + zoomed.i);\n"
	"  if (input.value) parts.push('search=' +\n"
	"    encodeURIComponent(input.value));\n"
	"  try {\n"
	"    history.replaceState(null, '', '#' + parts.join('&'));\n"
	"  } catch (e) { /* where it is embedded */ }\n"
	"}\n"
	"function recall() {\n"
	"  location.hash.slice(1).split('&').forEach(function (part) {\n"
	"    var at = part.indexOf('='), key = part.slice(0, at);\n"
	"    var value = decodeURIComponent(part.slice(at + 1));\n"
	"    if (key === 'search') input.value = value;\n"
	"    if (key === 'zoom') zoomed = cells[+value] || null;\n"
	"  });\n"
	"}\n",
	"function zoom(c) {\n"
	"  zoomed = c && c !== base ? c : null;\n"
	"  layout();\n"
	"  remember();\n"
	"}\n"
	"function resize() {\n"
	"  var width = Math.max(svg.clientWidth || innerWidth, 300);\n"
	"  wide = width - 2 * side;\n"
	"  frames.setAttribute('width', wide);\n"
	"  $('tools').setAttribute('x', width - side - 330);\n"
	"  found.setAttribute('x', width - side);\n"
	"  layout();\n"
	"}\n"
	"svg.removeAttribute('viewBox');\n"
	"svg.setAttribute('width', '100%');\n"
	"$('tools').style.visibility = 'visible';\n"
	"var probe = frames.querySelector('text');\n"
	"if (probe && probe.getComputedTextLength() > 0)\n"
	"  letter = probe.getComputedTextLength() / probe.textContent.length;\n"
	"frames.addEventListener('click', function (e) {\n"
	"  var c = cellOf(e);\n"
	"  if (c) zoom(c);\n"
	"});\n"
	"frames.addEventListener('mouseover', function (e) {\n"
	"  var c = cellOf(e);\n"
	"  info.textContent = c ? c.about : '';\n"
	"});\n"
	"frames.addEventListener('mouseleave', function () {\n"
	"  info.textContent = '';\n"
	"});\n"
	"input.addEventListener('input', function () {\n"
	"  search();\n"
	"  remember();\n"
	"});\n"
	"reset.addEventListener('click', function () { zoom(null); });\n"
	"addEventListener('resize', resize);\n"
	"addEventListener('hashchange', function () {\n"
	"  recall();\n"
	"  search();\n"
	"  layout();\n"
	"});\n"
	"addEventListener('keydown', function (e) {\n"
	"  if ((e.ctrlKey || e.metaKey) && e.key === 'f') {\n"
	"    e.preventDefault();\n"
	"    input.focus();\n"
	"    input.select();\n"
	"  } else if (e.key === 'Escape') {\n"
	"    if (input.value) {\n"
	"      input.value = '';\n"
	"      search();\n"
	"      remember();\n"
	"    } else zoom(null);\n"
	"  }\n"
	"});\n"
	"recall();\n"
	"resize();\n"
	"search();\n"
	"})();\n",
};

/* ---- head -------------------------------------------------------------- */

static void open_picture(struct tr_flame *flame, unsigned height)
{
	unsigned width = flame->options.width;

	tr_sink_addf(flame->sink,
		     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		     "version=\"1.1\" width=\"%u\" height=\"%u\" "
		     "viewBox=\"0 0 %u %u\">\n<style>\n%s", width, height,
		     width, height, style);
	tr_flame_palette(flame);
	tr_sink_adds(flame->sink, "</style>\n<rect class=\"bg\" "
		     "width=\"100%\" height=\"100%\"/>\n");
}

static void add_title(struct tr_flame *flame)
{
	struct tr_sink *sink = flame->sink;

	tr_sink_adds(sink, "<text class=\"title\" x=\"12\" y=\"28\">");
	if (flame->options.title) {
		tr_sink_xml(sink, flame->options.title, 120);
	} else {
		tr_sink_xml(sink, tr_views_title(flame->view), 60);
		if (flame->options.before) {
			tr_sink_adds(sink, " \xe2\x80\x93 change since ");
			tr_sink_xml(sink,
				    tare_view_run(flame->options.before)->id,
				    40);
		}
	}
	tr_sink_adds(sink, "</text>\n");
}

static void add_samples(struct tr_flame *flame, tare_view *view)
{
	const tare_sampling s = tr_views_sampling(view);

	if (tr_views_n(view) > 1)
		tr_sink_addf(flame->sink, "%zu process%s, ",
			     tr_views_processes(view),
			     tr_views_processes(view) == 1 ? "" : "es");
	tr_sink_addf(flame->sink, "%s samples, %s Hz, %s%s",
		     tr_as_count(s.samples).text,
		     tr_as_short(s.got_hz, 1).text,
		     tr_as_duration(s.weight_ns).text,
		     s.is_wall ? " of threads' time" : " CPU");
	if (s.samples && s.whole_share < .995)
		tr_sink_addf(flame->sink, ", %s %% cut short",
			     tr_as_short((1 - s.whole_share) * 100, 1).text);
}

static void add_subtitle(struct tr_flame *flame)
{
	const tare_run *run = tare_view_run(flame->view);
	struct tr_sink *sink = flame->sink;

	tr_sink_adds(sink, "<text class=\"sub\" x=\"12\" y=\"48\">");
	if (flame->options.from == TARE_FRAMES_SAMPLES)
		add_samples(flame, flame->view);
	else
		tr_sink_addf(sink, "%s%s",
			     flame->options.from == TARE_FRAMES_CALLS ?
				     "call tree, " :
				     "allocated: ",
			     tr_flame_weight_text(flame,
						  flame->whole[0]).text);
	if (flame->options.before &&
	    flame->options.from == TARE_FRAMES_SAMPLES) {
		tr_sink_adds(sink, "; before: ");
		add_samples(flame, flame->options.before);
	}
	tr_sink_adds(sink, "</text>\n<text class=\"sub\" x=\"12\" y=\"64\">");
	/* Of several, only the command of the one that started the others. */
	if (tr_views_n(flame->view) == 1 ||
	    strcmp(tr_views_title(flame->view), run->program) == 0)
		tr_sink_xml(sink, run->command, 110);
	tr_sink_adds(sink, "</text>\n");
}

void tr_flame_head(struct tr_flame *flame, unsigned height)
{
	unsigned right = flame->options.width - TR_FLAME_SIDE;

	open_picture(flame, height);
	add_title(flame);
	add_subtitle(flame);
	tr_sink_addf(flame->sink,
		     "<foreignObject id=\"tools\" x=\"%u\" "
		     "y=\"12\" width=\"330\" height=\"30\">"
		     "<div xmlns=\"http://www.w3.org/1999/xhtml\">"
		     "<button id=\"reset\">reset zoom</button>"
		     "<input id=\"query\" type=\"search\" spellcheck=\"false\" "
		     "placeholder=\"search (regular expression)\"/></div>"
		     "</foreignObject>\n<text id=\"found\" y=\"60\" x=\"%u\">"
		     "</text>\n<svg id=\"frames\" x=\"%u\" y=\"%u\" "
		     "width=\"%u\" height=\"%u\">\n", right - 330, right,
		     TR_FLAME_SIDE, TR_FLAME_TOP, right - TR_FLAME_SIDE,
		     height - TR_FLAME_TOP - TR_FLAME_FOOT);
}

/* ---- foot -------------------------------------------------------------- */

void tr_flame_foot(struct tr_flame *flame, unsigned height)
{
	struct tr_sink *sink = flame->sink;

	tr_sink_addf(sink, "</svg>\n<text id=\"info\" x=\"12\" y=\"%u\">"
		     "</text>\n", height - 42);
	tr_flame_legend(flame, height - 18);
	tr_sink_adds(sink, "<script><![CDATA[\n");
	for (size_t i = 0; i < TR_N_OF(script); i++)
		tr_sink_adds(sink, script[i]);
	tr_sink_adds(sink, "]]></script>\n</svg>\n");
}
