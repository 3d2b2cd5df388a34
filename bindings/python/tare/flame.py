# SPDX-License-Identifier: Apache-2.0
"""A flame graph of a profile's tree: one SVG file that zooms and searches.

Boxes have positions in percent, so the file is also a picture where scripts
are disabled. The colours are those of files, for all of Python's own one.
"""

import sys
import sysconfig
from xml.sax.saxutils import escape

ROW, TOP, FOOT, SIDE, WIDTH = 18, 64, 24, 12, 1200
LEAST = 0.0005  # share of the smallest box
PALETTE = ("#f2b872", "#8fc1e3", "#a3d39c", "#e6a0c4", "#c7b6e8",
           "#f0d66e", "#8ed1c4", "#e89b8f")
PYTHON, NATIVE = "#d9d6cf", "#c4ccd6"

STYLE = """
svg{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;
fill:#24292f}
text{white-space:pre}
.bg{fill:#fbfaf8}
#frames{cursor:pointer}
#frames text{pointer-events:none}
#frames rect{stroke:#fbfaf8;stroke-width:.6}
#frames g:hover rect{stroke:#24292f;stroke-width:1}
.title{font:600 17px system-ui,'Segoe UI','DejaVu Sans',sans-serif}
.sub{fill:#57606a}
.dim rect{opacity:.35}
"""

SCRIPT = """
(function () {
'use strict';
var frames = document.getElementById('frames');
var info = document.getElementById('info');
var cells = [].map.call(frames.children, function (g) {
  var rect = g.querySelector('rect');
  return { g: g, rect: rect, text: g.querySelector('text'),
    x: parseFloat(rect.getAttribute('x')),
    w: parseFloat(rect.getAttribute('width')),
    y: +rect.getAttribute('y'),
    about: g.querySelector('title').textContent };
});
var wide = WIDE;
function show(c, x, w) {
  var n = Math.floor(w * wide / 100 / 7.25 - 1);
  var name = c.about.split('\\n')[0];
  c.g.style.display = '';
  c.rect.setAttribute('x', x + '%');
  c.rect.setAttribute('width', w + '%');
  c.text.setAttribute('x', x + '%');
  c.text.textContent = n < 3 ? '' :
    name.length <= n ? name : name.slice(0, n - 1) + '\\u2026';
}
function zoom(to) {
  cells.forEach(function (c) {
    var inside = c.y >= to.y && c.x >= to.x - 1e-3 &&
      c.x + c.w <= to.x + to.w + 1e-3;
    var around = c.y < to.y && c.x <= to.x + 1e-3 &&
      c.x + c.w >= to.x + to.w - 1e-3;
    if (around) show(c, 0, 100);
    else if (inside) show(c, (c.x - to.x) / to.w * 100, c.w / to.w * 100);
    else c.g.style.display = 'none';
  });
}
function cellOf(event) {
  var g = event.target.closest('#frames g');
  return g ? cells[[].indexOf.call(frames.children, g)] : null;
}
frames.addEventListener('click', function (e) {
  var c = cellOf(e);
  if (c) zoom(c);
});
frames.addEventListener('mouseover', function (e) {
  var c = cellOf(e);
  info.textContent = c ? c.about.split('\\n').join('   ') : '';
});
addEventListener('keydown', function (e) {
  var query, sum = 0;
  if (e.key === 'Escape') zoom(cells[0]);
  if (!(e.ctrlKey || e.metaKey) || e.key !== 'f') return;
  e.preventDefault();
  query = (prompt('Search for', '') || '').toLowerCase();
  cells.forEach(function (c) {
    var hit = query && c.about.toLowerCase().indexOf(query) >= 0;
    c.g.classList.toggle('dim', !!query && !hit);
    sum += hit ? 1 : 0;
  });
  info.textContent = query ? sum + ' boxes match' : '';
});
zoom(cells[0]);
}());
"""


def _boxes(root):
    """(node, depth, left, share) of each visible box, callers first."""
    whole = root.total_s
    todo = [(root, 0, 0.0)]
    while todo:
        node, depth, left = todo.pop()
        share = node.total_s / whole if whole > 0 else float(node is root)
        if share < LEAST:
            continue
        yield node, depth, left, share
        for child in sorted(node.children, key=lambda one: one.name):
            todo.append((child, depth + 1, left))
            left += child.total_s / whole if whole > 0 else 0


def _color(node, files):
    if not node.line:
        return NATIVE
    if node.file.startswith((sysconfig.get_path("stdlib"), "<frozen")):
        return PYTHON
    return PALETTE[files.setdefault(node.file, len(files)) % len(PALETTE)]


def _seconds(value):
    return f"{value:.3f} s" if value >= 1 else f"{value * 1000:.3f} ms"


def _box(node, depth, left, share, files):
    place = f" ({node.file}:{node.line})" if node.line else ""
    about = (f"{node.name}{place}\n{_seconds(node.total_s)}, "
             f"{share * 100:.2f} %")
    if node.calls:
        about += f"\nown {_seconds(node.own_s)}\n{node.calls} calls"
    room = int(share * (WIDTH - 2 * SIDE) / 7.25 - 1)
    name = node.name if len(node.name) <= room else node.name[:room - 1] + "…"
    y = depth * ROW
    return (f"<g><title>{_xml(about)}</title>"
            f'<rect x="{left * 100:.4f}%" y="{y}" '
            f'width="{share * 100:.4f}%" height="{ROW - 1}" rx="1.5" '
            f'fill="{_color(node, files)}"/>'
            f'<text x="{left * 100:.4f}%" y="{y + 13}" dx="3">'
            f"{_xml(name) if room >= 3 else ''}</text></g>\n")


def _xml(text):
    """Escaped, without what XML 1.0 cannot hold."""
    kept = "".join(letter if letter in "\t\n" or " " <= letter < "\ud800"
                   or "\ue000" <= letter < "\ufffe" or letter > "\uffff"
                   else "?" for letter in text)
    return escape(kept)


def flame_svg(root, title, notes=()):
    """The picture, as text. `root`: a Node."""
    boxes = list(_boxes(root))
    depth = max((box[1] for box in boxes), default=0) + 1
    height = TOP + depth * ROW + FOOT
    files = {}
    inner = WIDTH - 2 * SIDE
    about = (f"{_seconds(root.total_s)} in Python "
             f"{sys.version_info[0]}.{sys.version_info[1]}; wide is slow; "
             "click to zoom, Escape to reset, Ctrl-F to search")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{height}" viewBox="0 0 {WIDTH} {height}">\n',
        f"<style>{STYLE}</style>\n",
        '<rect class="bg" width="100%" height="100%"/>\n',
        f'<text class="title" x="{SIDE}" y="26">{_xml(title)}</text>\n',
        f'<text class="sub" x="{SIDE}" y="46">'
        f"{_xml('; '.join([about, *notes]))}</text>\n",
        f'<svg id="frames" x="{SIDE}" y="{TOP}" width="{inner}" '
        f'height="{depth * ROW}">\n',
        *(_box(*box, files) for box in boxes),
        "</svg>\n",
        f'<text id="info" x="{SIDE}" y="{height - 8}"></text>\n',
        f"<script><![CDATA[{SCRIPT.replace('WIDE', str(inner))}]]></script>\n",
        "</svg>\n"]
    return "".join(parts)
