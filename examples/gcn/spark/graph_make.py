# SPDX-License-Identifier: Apache-2.0
"""The graphs that ../graph_make.c generates, to the last link and word."""

import math

from graph import SPLITS, TEST, TRAIN, Fault, Graph
from randomness import mix

CITED, WORDS, TRIES = 2, 18, 8
SAME, TOPICAL = 0.75, 0.46
FOR_LABEL, FOR_SPLIT, FOR_CITING, FOR_WORDS = 1, 2, 3, 4


def _unit(bits):
    """0 to 1, excluding 1."""
    return (bits >> 11) * 2.0 ** -53


class _Shape:

    def __init__(self, nodes, words, classes, seed):
        self.nodes, self.words, self.classes = nodes, words, classes
        self.key = {what: mix(seed, what) for what in (
            FOR_LABEL, FOR_SPLIT, FOR_CITING, FOR_WORDS)}

    def bits(self, what, node):
        return mix(self.key[what], node)

    def label(self, node):
        if node < self.classes:
            return node
        return self.bits(FOR_LABEL, node) % self.classes

    def split(self, node):
        u = _unit(self.bits(FOR_SPLIT, node))
        if node < 3:
            return TRAIN + node
        return TRAIN if u < 0.052 else SPLITS["val"] if u < 0.237 else \
            TEST if u < 0.606 else 0

    def cited(self, node, k):
        bits = mix(self.bits(FOR_CITING, node), k)
        looks = _unit(bits) < SAME
        found = 0
        for i in range(TRIES):
            bits = mix(bits, i)
            u = _unit(bits)
            found = int(u * math.sqrt(u) * node)
            if not looks or self.label(found) == self.label(node):
                break
        return found

    def edges(self):
        for node in range(1, self.nodes):
            first = self.cited(node, 0)
            for k in range(CITED):
                to = self.cited(node, k) if k else first
                if not (k and to == first) and to != node:
                    yield node, to

    def word(self, label, bits):
        part = self.words // self.classes
        u = _unit(mix(bits, 1))
        if _unit(bits) < TOPICAL:
            return label * part + int(u * part)
        return int(u * self.words)

    def words_of(self, node):
        bits, label = self.bits(FOR_WORDS, node), self.label(node)
        return list(dict.fromkeys(self.word(label, mix(bits, i))
                                  for i in range(WORDS)))


def make(nodes, words, classes, seed):
    """A graph; the same for equal arguments."""
    if words < classes or nodes < classes:
        raise Fault(f"{classes} classes need as many nodes and words")
    shape = _Shape(nodes, words, classes, seed)
    graph = Graph([shape.label(node) for node in range(nodes)],
                  [shape.split(node) for node in range(nodes)],
                  list(shape.edges()),
                  [shape.words_of(node) for node in range(nodes)])
    graph.n_words = words   # even if no node uses the last one
    return graph
