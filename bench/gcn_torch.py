#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The network of examples/gcn in PyTorch, on one thread of the CPU.

usage: gcn_torch.py DIR [EPOCHS [ROUNDS [FORM]]]

Prints a JSON line: seconds of each epoch's training (forward, backward,
update), all rounds, of the fastest form, and its test accuracy. Forms: how
words and adjacency are stored, and which of Adam's loops is used; each is
what a user of PyTorch might write, and the fastest one is the one to beat.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F

HIDDEN, DROPOUT, RATE, DECAY = 16, 0.5, 0.01, 5e-4


def read(folder):
    with open(f"{folder}/nodes.csv", encoding="utf-8") as file:
        rows = [line.strip().split(",") for line in file][1:]
    label = torch.tensor([int(row[1]) for row in rows])
    split = {name: torch.tensor([i for i, row in enumerate(rows)
                                 if row[2] == name])
             for name in ("train", "val", "test")}
    with open(f"{folder}/edges.csv", encoding="utf-8") as file:
        edges = [tuple(map(int, line.split(","))) for line in
                 list(file)[1:]]
    with open(f"{folder}/features.txt", encoding="utf-8") as file:
        words = [list(map(int, line.split())) for line in file]
    return label, split, edges, words


def adjacency(n, edges):
    pairs = edges + [(b, a) for a, b in edges] + [(i, i) for i in range(n)]
    at = torch.tensor(pairs).t()
    degree = torch.zeros(n).index_add_(0, at[0], torch.ones(at.shape[1]))
    weight = (degree[at[0]] * degree[at[1]]).rsqrt()
    return torch.sparse_coo_tensor(at, weight, (n, n)).coalesce()


def features(n, words):
    at = torch.tensor([(i, word) for i, row in enumerate(words)
                       for word in row]).t()
    weight = torch.tensor([1 / len(row) for row in words for _ in row])
    return torch.sparse_coo_tensor(
        at, weight, (n, int(at[1].max()) + 1)).coalesce()


class Words:
    """Words with dropout, in one of four forms."""

    def __init__(self, words, form):
        self.form = form
        self.words = (words.to_dense() if form == "dense" else words
                      if form == "coo" else words.to_sparse_csr())

    def times(self, weights, is_training):
        words, rate = self.words, DROPOUT
        if self.form == "bag":
            return F.embedding_bag(
                words.col_indices(), weights, words.crow_indices()[:-1],
                mode="sum", per_sample_weights=F.dropout(
                    words.values(), rate, is_training))
        if is_training and self.form == "coo":
            words = torch.sparse_coo_tensor(
                words.indices(), F.dropout(words.values(), rate),
                words.shape, is_coalesced=True)
        elif is_training and self.form == "csr":
            words = torch.sparse_csr_tensor(
                words.crow_indices(), words.col_indices(),
                F.dropout(words.values(), rate), words.shape)
        elif is_training:
            words = F.dropout(words, rate)
        return words @ weights


def forward(words, graph, first, second, is_training):
    hidden = F.relu(graph @ words.times(first, is_training))
    hidden = F.dropout(hidden, DROPOUT, is_training)
    return graph @ (hidden @ second)


def train(data, form, epochs, seed):
    label, split, graph, words = data
    torch.manual_seed(seed)
    first = torch.empty(words.shape[1], HIDDEN, requires_grad=True)
    second = torch.empty(HIDDEN, int(label.max()) + 1, requires_grad=True)
    torch.nn.init.xavier_uniform_(first)
    torch.nn.init.xavier_uniform_(second)
    words = Words(words, form[0])
    graph = graph.to_sparse_csr() if form[1] == "csr" else graph
    adam = torch.optim.Adam([{"params": [first], "weight_decay": DECAY},
                             {"params": [second], "weight_decay": 0}],
                            lr=RATE, **form[2])
    times = []
    for _ in range(epochs):
        start = time.perf_counter()
        adam.zero_grad()
        logits = forward(words, graph, first, second, True)
        F.cross_entropy(logits[split["train"]],
                        label[split["train"]]).backward()
        adam.step()
        times.append(time.perf_counter() - start)
    with torch.no_grad():
        found = forward(words, graph, first, second, False).argmax(1)
    test = split["test"]
    return times, (found[test] == label[test]).float().mean().item()


FORMS = {f"{words} {graph} {adam}": (words, graph, options)
         for words in ("csr", "coo", "bag", "dense")
         for graph in ("csr", "coo")
         for adam, options in (("loop", {"foreach": False}),
                               ("foreach", {"foreach": True}),
                               ("fused", {"fused": True}))}


def fastest(data):
    """The name of the form whose quickest epoch is the quickest."""
    best = None
    for name, form in FORMS.items():
        try:
            least = min(train(data, form, 20, 1)[0])
        except (RuntimeError, TypeError, ValueError) as error:
            print(f"# {name}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        print(f"# {name}: {least * 1e6:.0f} us", file=sys.stderr)
        if best is None or least < best[0]:
            best = least, name
    return best[1]


def main():
    folder = sys.argv[1]
    epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    torch.set_num_threads(1)
    label, split, edges, words = read(folder)
    n = len(words)
    data = label, split, adjacency(n, edges), features(n, words)
    form = sys.argv[4] if len(sys.argv) > 4 else fastest(data)
    all_times, correct = [], []
    for seed in range(1, rounds + 1):
        times, accuracy = train(data, FORMS[form], epochs, seed)
        all_times += times
        correct.append(accuracy)
    print(json.dumps({"torch": torch.__version__, "form": form,
                      "seconds": all_times,
                      "accuracy": sum(correct) / len(correct)}))


if __name__ == "__main__":
    main()
