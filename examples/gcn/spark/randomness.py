# SPDX-License-Identifier: Apache-2.0
"""The numbers of ../random.h: determined by their purpose, not by what was
drawn before. So a partition gets the same ones for a node as a C trainer."""

import numpy as np

_MASK = (1 << 64) - 1
FOR_WORDS, FOR_HIDDEN = 1, 2


def mix(a, b):
    """Mixes two whole numbers into one. (splitmix64)"""
    x = (a + (b + 1) * 0x9e3779b97f4a7c15) & _MASK
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & _MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & _MASK
    return x ^ x >> 31


def mix_all(a, b):
    """The same for arrays of uint64, which wrap around as in C."""
    x = a + (b + np.uint64(1)) * np.uint64(0x9e3779b97f4a7c15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xbf58476d1ce4e5b9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94d049bb133111eb)
    return x ^ x >> np.uint64(31)


def rows_of(key, nodes):
    """A number for each node."""
    return mix_all(np.full(len(nodes), key, np.uint64),
                   nodes.astype(np.uint64))


def of_units(row_keys, units):
    """32 bits for each unit of a row. (lowbias32)"""
    x = row_keys.astype(np.uint32) ^ \
        units.astype(np.uint32) * np.uint32(0x9e3779b9)
    x = (x ^ x >> np.uint32(16)) * np.uint32(0x7feb352d)
    x = (x ^ x >> np.uint32(15)) * np.uint32(0x846ca68b)
    return x ^ x >> np.uint32(16)


def key(seed, what, epoch):
    """Of a pass."""
    return mix(mix(seed, what), epoch)


def lanes(row_keys, width):
    """16 bits for each hidden unit of the rows, four from one number."""
    fours = np.arange((width + 3) // 4, dtype=np.uint64)
    bits = mix_all(row_keys[:, None], fours[None, :])
    parts = [bits >> np.uint64(shift) & np.uint64(0xffff)
             for shift in (0, 16, 32, 48)]
    return np.stack(parts, axis=2).reshape(len(row_keys), -1)[:, :width]


def weights(n_in, n_out, seed):
    """A layer's first weights, uniform as by Glorot and Bengio."""
    spread = np.sqrt(6.0 / (n_in + n_out))
    rows = rows_of(seed, np.arange(n_in))
    bits = mix_all(rows[:, None],
                   np.arange(n_out, dtype=np.uint64)[None, :])
    unit = (bits >> np.uint64(11)).astype(np.float64) * 2.0 ** -53
    return ((2 * unit - 1) * spread).astype(np.float32)
