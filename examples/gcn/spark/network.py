# SPDX-License-Identifier: Apache-2.0
"""The network of ../model.c and the optimiser of ../adam.c.

    sums   = words x weights1
    hidden = dropout(relu(A x sums))
    votes  = hidden x weights2
    logits = A x votes

forward() and backward() run in the executors, on what a partition holds.
Gradients are linear in those of the logits, so the sum over partitions is
exact although rows of the copies are in several.
"""

import numpy as np

import randomness
from graph import TEST, TRAIN, VAL


class Dropout:
    """Which units are dropped: by seed, epoch, node and unit."""

    def __init__(self, rate, seed, epoch):
        self.rate, self.seed, self.epoch = rate, seed, epoch

    @property
    def scale(self):
        """Keeps a unit's expected value the same."""
        return np.float32(1 / (1 - self.rate))

    def words(self, part):
        """The weights of a partition's words; 0: dropped."""
        key = randomness.key(self.seed, randomness.FOR_WORDS, self.epoch)
        rows = randomness.rows_of(key, part.nodes)[part.word.row]
        kept = randomness.of_units(rows, part.word.column) >= \
            np.uint32(int(self.rate * 2 ** 32))
        return part.word_weight * self.scale * kept

    def hidden(self, part, hidden):
        """Hidden units, some of them dropped."""
        key = randomness.key(self.seed, randomness.FOR_HIDDEN, self.epoch)
        rows = randomness.rows_of(key, part.near)
        kept = randomness.lanes(rows, hidden.shape[1]) >= \
            np.uint64(int(self.rate * 2 ** 16))
        return hidden * self.scale * kept


class Pass:
    """Results of forward(), for backward()."""

    def __init__(self, part, weights, dropout):
        self.words = dropout.words(part) if dropout else part.word_weight
        sums = part.word.times(self.words, weights[0])
        hidden = np.maximum(part.inner.times(part.inner_weight, sums), 0)
        self.hidden = dropout.hidden(part, hidden) if dropout else hidden
        votes = self.hidden @ weights[1]
        self.logits = part.outer.times(part.outer_weight, votes)


def _softmax_loss(part, logits):
    """Cross entropy of the training nodes, its gradient, and how many of
    them are right."""
    rows = np.flatnonzero(part.split == TRAIN)
    gradient = np.zeros_like(logits)
    if not len(rows):
        return 0.0, gradient, 0
    picked = logits[rows].astype(np.float64)
    most = picked.max(axis=1, keepdims=True)
    powers = np.exp(picked - most)
    total = powers.sum(axis=1, keepdims=True)
    label = part.label[rows]
    at = np.arange(len(rows)), label
    loss = float((np.log(total[:, 0]) + most[:, 0] - picked[at]).sum())
    share = powers / total
    share[at] -= 1
    gradient[rows] = (share / part.n_train).astype(np.float32)
    return loss, gradient, int((picked.argmax(axis=1) == label).sum())


def forward(part, weights, dropout):
    """What backward() needs; and of the own training nodes the summed loss
    and how many are right."""
    result = Pass(part, weights, dropout)
    loss, result.d_logits, right = _softmax_loss(part, result.logits)
    return result, loss, right


def backward(part, weights, dropout, result):
    """The gradients of both layers, without decay."""
    d_votes = part.outer.transposed_times(part.outer_weight, result.d_logits)
    second = result.hidden.T @ d_votes
    d_hidden = (d_votes @ weights[1].T) * (result.hidden > 0) * dropout.scale
    d_sums = part.inner.transposed_times(part.inner_weight, d_hidden)
    first = part.word.transposed_times(result.words, d_sums)
    return first, second


def confusions(part, weights):
    """Counts of (label, predicted) of the partition's nodes, first of the
    validation set, then of the test set."""
    predicted = Pass(part, weights, None).logits.argmax(axis=1)
    n = part.n_classes
    return np.stack([np.bincount(
        (part.label * n + predicted)[part.split == split], minlength=n * n)
        for split in (VAL, TEST)])


class Adam:
    """The optimiser, in the driver."""

    def __init__(self, weights, rate, decay):
        self.weights = weights
        self.rate, self.decay = rate, np.float32(decay)
        self.mean = [np.zeros_like(one) for one in weights]
        self.square = [np.zeros_like(one) for one in weights]
        self.n = 0

    def step(self, gradients):
        """Moves the weights; the loss by decay, of before."""
        self.n += 1
        by_decay = float(self.decay) / 2 * float(
            (self.weights[0].astype(np.float64) ** 2).sum())
        rate = np.float32(self.rate / (1 - 0.9 ** self.n))
        scale = np.float32(1 / np.sqrt(1 - 0.999 ** self.n))
        for i, gradient in enumerate(gradients):
            if i == 0:
                gradient = gradient + self.decay * self.weights[0]
            mean, square = self.mean[i], self.square[i]
            mean += np.float32(0.1) * (gradient - mean)
            square *= np.float32(0.999)
            square += np.float32(0.001) * gradient * gradient
            self.weights[i] = self.weights[i] - rate * mean / (
                np.sqrt(square) * scale + np.float32(1e-8))
        return by_decay
