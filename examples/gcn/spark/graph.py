# SPDX-License-Identifier: Apache-2.0
"""A citation graph, and the part of it that a partition holds.

The network has two layers, so the scores of a node need the words of the
nodes at most two links away. A partition holds a range of nodes and copies of
those: then an epoch needs no shuffle, only weights in and gradients out.
What the copies cost is printed (`rows`).
"""

import os

import numpy as np

SPLITS = {"": 0, "train": 1, "val": 2, "test": 3}
TRAIN, VAL, TEST = 1, 2, 3
# Work of a node without its edges, in edges: ../builder.c.
NODE_WORK = 12


class Fault(Exception):
    """The files make no sense; says which line."""


class Graph:
    """All of it, in the driver."""

    def __init__(self, labels, splits, edges, words):
        self.label = np.array(labels, np.int32)
        self.split = np.array(splits, np.int8)
        self.n_nodes = len(labels)
        self.n_classes = int(self.label.max()) + 1
        self.n_words = 1 + max((max(row) for row in words if row), default=0)
        self.n_edges = len(edges)
        self.words = [np.array(sorted(row), np.int32) for row in words]
        self._link(edges)

    def _link(self, edges):
        pairs = np.array(edges, np.int64).reshape(-1, 2)
        own = np.arange(self.n_nodes)
        row = np.concatenate([pairs[:, 0], pairs[:, 1], own])
        to = np.concatenate([pairs[:, 1], pairs[:, 0], own])
        order = np.lexsort((to, row))
        self.edge_to = to[order]
        degree = np.bincount(row, minlength=self.n_nodes)
        self.edge_at = np.concatenate([[0], np.cumsum(degree)])
        self.edge_weight = (1 / np.sqrt(degree[row].astype(np.float64) *
                                        degree[to]))[order] \
            .astype(np.float32)
        self.degree = degree

    def neighbours(self, nodes):
        """They and all nodes that a link leads to, ascending."""
        found = np.zeros(self.n_nodes, bool)
        for node in nodes:
            found[self.edge_to[self.edge_at[node]:self.edge_at[node + 1]]] \
                = True
        return np.flatnonzero(found)

    def n_of(self, split):
        """Nodes of a split."""
        return int((self.split == split).sum())

    def shares(self, n):
        """The first nodes of n ranges of equal work, as in ../builder.c."""
        done = np.cumsum(self.degree - 1 + NODE_WORK)
        starts = [0]
        for i in range(1, n):
            end = int(done[-1]) // n * i
            node = int(np.searchsorted(done, end)) + 1
            starts.append(min(max(node, starts[-1] + 1),
                              self.n_nodes - (n - i)))
        return starts + [self.n_nodes]


class Rows:
    """Rows of numbers at places, to be multiplied; sums by add.reduceat,
    which knows no empty rows: they are left out and stay zero."""

    def __init__(self, at, columns, n_columns):
        at = np.asarray(at)
        self.n = len(at) - 1
        self.column = columns
        self.row = np.repeat(np.arange(self.n), np.diff(at))
        self.full = np.flatnonzero(np.diff(at))
        self.start = at[:-1][self.full]
        # The same by column, for the product with the transposed.
        self.by_column = np.argsort(columns, kind="stable")
        counts = np.bincount(columns, minlength=n_columns)
        self.full_column = np.flatnonzero(counts)
        self.column_start = np.concatenate(
            [[0], np.cumsum(counts)])[:-1][self.full_column]
        self.n_columns = n_columns

    def times(self, values, dense):
        """This matrix, with `values`, times a dense one."""
        out = np.zeros((self.n, dense.shape[1]), np.float32)
        if len(self.full):
            out[self.full] = np.add.reduceat(
                values[:, None] * dense[self.column], self.start)
        return out

    def transposed_times(self, values, dense):
        """Its transposed, times a dense one."""
        out = np.zeros((self.n_columns, dense.shape[1]), np.float32)
        if len(self.full_column):
            order = self.by_column
            out[self.full_column] = np.add.reduceat(
                values[order, None] * dense[self.row[order]],
                self.column_start)
        return out


class Part:
    """What a partition holds: its nodes, and what their scores need."""

    def __init__(self, graph, index, first, end):
        self.index = index
        own = np.arange(first, end)
        near = graph.neighbours(own)        # their rows of votes
        far = graph.neighbours(near)        # their rows of words
        self.nodes = far
        self.n_own, self.n_near, self.n_far = len(own), len(near), len(far)
        self.n_classes = graph.n_classes
        self.n_train = graph.n_of(TRAIN)
        self.label, self.split = graph.label[own], graph.split[own]
        self.near = near
        self.outer, self.outer_weight = _edges(graph, own, near)
        self.inner, self.inner_weight = _edges(graph, near, far)
        rows = [graph.words[node] for node in far]
        n_words = np.array([len(row) for row in rows])
        self.word = Rows(np.concatenate([[0], np.cumsum(n_words)]),
                         np.concatenate(rows + [np.zeros(0, np.int32)])
                         .astype(np.int32), graph.n_words)
        self.word_weight = np.repeat(
            (1 / np.maximum(n_words, 1)).astype(np.float32), n_words)


def _edges(graph, rows, columns):
    """The normalised adjacency from columns to rows."""
    spans = [slice(graph.edge_at[row], graph.edge_at[row + 1])
             for row in rows]
    at = np.concatenate([[0], np.cumsum([one.stop - one.start
                                         for one in spans])])
    to = np.concatenate([graph.edge_to[one] for one in spans])
    weight = np.concatenate([graph.edge_weight[one] for one in spans])
    return Rows(at, np.searchsorted(columns, to), len(columns)), weight


def cut(graph, n):
    """The parts for n partitions."""
    if graph.n_nodes < n:
        raise Fault(f"{graph.n_nodes} nodes are too few for {n} partitions")
    starts = graph.shares(n)
    return [Part(graph, i, starts[i], starts[i + 1]) for i in range(n)]


# ---- files -------------------------------------------------------------------


def _lines(folder, name, header=None):
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Fault(f"cannot read '{path}': {error}") from None
    if header is None:
        return path, 1, lines
    if not lines or lines[0] != header:
        raise Fault(f"{path}:1: the first line must be '{header}'")
    return path, 2, lines[1:]


def _each(folder, name, header, take):
    path, number, lines = _lines(folder, name, header)
    out = []
    for line in lines:
        try:
            out.append(take(line, len(out)))
        except (ValueError, KeyError, IndexError) as error:
            raise Fault(f"{path}:{number}: '{line[:40]}': {error}") from None
        number += 1
    return out


def _node(line, expected):
    node, label, split = line.split(",")
    if int(node) != expected:
        raise ValueError(f"node {expected} must be here")
    if not -1 <= int(label) < 1000 or (int(label) < 0 and split):
        raise ValueError("a label out of range, or none in a split")
    return int(label), SPLITS[split]


def read(folder):
    """The graph of nodes.csv, edges.csv and features.txt."""
    nodes = _each(folder, "nodes.csv", "node,label,split", _node)
    n, seen = len(nodes), set()

    def edge(line, _):
        a, b = map(int, line.split(","))
        if not (0 <= a < n and 0 <= b < n):
            raise ValueError(f"there are only nodes 0 to {n - 1}")
        if (min(a, b), max(a, b)) in seen:
            raise ValueError("the edge is there twice")
        seen.add((min(a, b), max(a, b)))
        return a, b

    def words(line, _):
        row = [int(word) for word in line.split()]
        if len(set(row)) != len(row) or any(
                not 0 <= word < 1 << 24 for word in row):
            raise ValueError("a word is there twice, or out of range")
        return row

    edges = [pair for pair in _each(folder, "edges.csv", "a,b", edge)
             if pair[0] != pair[1]]
    rows = _each(folder, "features.txt", None, words)
    if len(rows) != n:
        raise Fault(f"{folder}/features.txt: {len(rows)} lines, but there "
                    f"are {n} nodes")
    if not any(rows):
        raise Fault(f"{folder}/features.txt: no node has a word")
    graph = Graph([one[0] for one in nodes], [one[1] for one in nodes],
                  edges, rows)
    for name in ("train", "test"):
        if not graph.n_of(SPLITS[name]):
            raise Fault(f"{folder}/nodes.csv: no node is in split {name}")
    return graph
