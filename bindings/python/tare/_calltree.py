# SPDX-License-Identifier: Apache-2.0
"""A profile's tree, from the columns that the C extension gives.

Rows of a thread follow each other, a parent before its children. Functions
are told apart by their label, (file, line, name), as pstats does.
"""

import json
import os
import tempfile

NO_ROW = 0xFFFFFFFF


def write_file(path, data):
    """Writes beside `path` and renames: no reader sees half a file."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, name = tempfile.mkstemp(dir=folder, prefix=".tare-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def label_of(key):
    if isinstance(key, str):
        return ("~", 0, key)
    return (key.co_filename, key.co_firstlineno, key.co_name)


class Node:
    """A path of functions. Times are in seconds."""

    __slots__ = ("name", "file", "line", "calls", "own_s", "total_s",
                 "children")

    def __init__(self, label):
        self.file, self.line, self.name = label
        self.calls = 0
        self.own_s = self.total_s = 0.0
        self.children = []

    def __repr__(self):
        return (f"<Node {self.name} calls={self.calls} "
                f"total_s={self.total_s:.6f}>")

    def place(self):
        if not self.line:
            return ""
        return f"{os.path.basename(self.file)}:{self.line}"

    def walk(self, depth=0):
        """This node and all below, with their depth."""
        todo = [(self, depth)]
        while todo:
            node, level = todo.pop()
            yield node, level
            todo += [(child, level + 1) for child in reversed(node.children)]

    def text(self, least=0.005, max_depth=40):
        """An indented table; paths below the share `least` are left out."""
        lines = [f"{'total':>10} {'own':>10} {'calls':>9}  function"]
        whole = self.total_s or 1e-12
        for node, depth in self.walk():
            if node.total_s / whole < least or depth > max_depth:
                continue
            name = "  " * depth + node.name
            lines.append(f"{node.total_s:9.4f}s {node.own_s:9.4f}s "
                         f"{node.calls:9d}  {name}  {node.place()}".rstrip())
        return "\n".join(lines)

    __str__ = text


class CallTable:
    """All paths of a profile."""

    def __init__(self, columns, own_code, thread_names):
        self.overhead = columns["overhead"]
        self.dropped = columns["dropped"]
        self.threads = columns["threads"]
        self.dropped_s = sum(thread[4] for thread in self.threads)
        self.thread_names = thread_names
        self.parent = memoryview(columns["parent"]).cast("I")
        self.calls = memoryview(columns["calls"]).cast("Q")
        self.own = memoryview(columns["own"]).cast("d")
        self.total = memoryview(columns["total"]).cast("d")
        self._read_labels(columns["keys"], memoryview(columns["key"])
                          .cast("I"), own_code)
        self._stats = None

    def _read_labels(self, keys, key, own_code):
        """self.label: for each row an index in self.labels; -1: left out."""
        known, of_key = {}, []
        for item in keys:
            if item in own_code:
                of_key.append(-1)
                continue
            of_key.append(known.setdefault(label_of(item), len(known)))
        self.labels = list(known)
        self.label = label = [of_key[index] for index in key]
        for row, parent in enumerate(self.parent):
            if parent != NO_ROW and label[parent] < 0:
                label[row] = -1

    def _children(self):
        children = [[] for _ in self.label]
        roots = []
        for row, parent in enumerate(self.parent):
            if self.label[row] < 0:
                continue
            (roots if parent == NO_ROW else children[parent]).append(row)
        return roots, children

    # ---- pstats --------------------------------------------------------

    def stats(self):
        """{(file, line, name): (primitive calls, calls, own, total,
        {caller: (calls, primitive calls, own, total)})}"""
        if self._stats is None:
            self._stats = self._make_stats()
        return {name: row[:4] + (dict(row[4]),)
                for name, row in self._stats.items()}

    def _make_stats(self):
        """As cProfile: time of recursion counts at the outermost call."""
        sums = [[0, 0, 0.0, 0.0] for _ in self.labels]
        edges = [{} for _ in self.labels]
        open_calls = [0] * len(self.labels)
        open_edges = {}
        roots, children = self._children()
        todo = [(row, False) for row in reversed(roots)]
        while todo:
            row, is_end = todo.pop()
            label = self.label[row]
            parent = self.parent[row]
            edge = (None if parent == NO_ROW
                    else (self.label[parent], label))
            if is_end:
                open_calls[label] -= 1
                if edge:
                    open_edges[edge] -= 1
                continue
            self._add(sums[label], row, not open_calls[label])
            open_calls[label] += 1
            if edge:
                if edge[0] not in edges[label]:
                    edges[label][edge[0]] = [0, 0, 0.0, 0.0]
                self._add(edges[label][edge[0]], row,
                          not open_edges.get(edge))
                open_edges[edge] = open_edges.get(edge, 0) + 1
            todo.append((row, True))
            todo += [(child, False) for child in reversed(children[row])]
        return {
            self.labels[label]: (*sums[label], {
                self.labels[caller]: (nc, cc, own, total)
                for caller, (cc, nc, own, total) in edges[label].items()})
            for label in range(len(self.labels)) if sums[label][1]}

    def _add(self, row_sums, row, is_outermost):
        row_sums[1] += self.calls[row]
        row_sums[2] += self.own[row]
        if is_outermost:
            row_sums[0] += self.calls[row]
            row_sums[3] += self.total[row]

    # ---- trees ---------------------------------------------------------

    def thread_name(self, ident):
        return self.thread_names.get(ident, f"thread {ident}")

    def tree(self, by_thread=False):
        """Nodes of equal paths merged; of all threads, or by thread."""
        whole = Node(("~", 0, "all"))
        nodes = [None] * len(self.label)
        known = {}
        for ident, first, count, _, _ in self.threads:
            root = whole
            if by_thread:
                root = Node(("~", 0, self.thread_name(ident)))
                whole.children.append(root)
            for row in range(first, first + count):
                if self.label[row] >= 0:
                    nodes[row] = self._place(row, nodes, root, known)
        for top in whole.children if by_thread else [whole]:
            top.total_s = sum(child.total_s for child in top.children)
        whole.total_s = sum(child.total_s for child in whole.children)
        return whole

    def _place(self, row, nodes, root, known):
        parent = self.parent[row]
        above = root if parent == NO_ROW else nodes[parent]
        path = (id(above), self.label[row])
        node = known.get(path)
        if node is None:
            node = known[path] = Node(self.labels[self.label[row]])
            above.children.append(node)
        node.calls += self.calls[row]
        node.own_s += self.own[row]
        node.total_s += self.total[row]
        return node

    def _stacks(self):
        """(frames from the outermost, own seconds) of each path."""
        stack = []
        for node, depth in self.tree().walk():
            del stack[depth:]
            stack.append(node)
            if depth and node.own_s > 0:
                yield stack[1:], node.own_s

    def collapsed(self):
        lines = []
        for stack, own in self._stacks():
            names = ";".join(f"{node.name} ({node.place()})" if node.line
                             else node.name for node in stack)
            weight = round(own * 1e6)
            if weight:
                names = names.replace("\n", " ")
                lines.append(f"{names} {weight}\n")
        return "".join(lines)

    def speedscope(self, name, path):
        frames, index, samples, weights = [], {}, [], []
        for stack, own in self._stacks():
            sample = []
            for node in stack:
                key = (node.file, node.line, node.name)
                if key not in index:
                    index[key] = len(frames)
                    frames.append({"name": node.name, "file": node.file,
                                   "line": node.line} if node.line
                                  else {"name": node.name})
                sample.append(index[key])
            samples.append(sample)
            weights.append(own)
        data = {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "name": name, "exporter": "tare",
            "shared": {"frames": frames},
            "profiles": [{"type": "sampled", "name": name, "unit": "seconds",
                          "startValue": 0, "endValue": sum(weights),
                          "samples": samples, "weights": weights}]}
        if path is not None:
            write_file(path, json.dumps(data).encode())
        return data
