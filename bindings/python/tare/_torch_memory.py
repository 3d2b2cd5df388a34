# SPDX-License-Identifier: Apache-2.0
"""Figures of torch's caching allocator, at the end of each step."""

from __future__ import annotations

from typing import Any, Dict

from . import _reading
from ._torch_hooks import Part
from ._training_config import find_torch

# Series -> key of torch.cuda.memory_stats().
FIGURES = {
    "torch.allocated": "allocated_bytes.all.current",
    "torch.allocated_peak": "allocated_bytes.all.peak",
    "torch.reserved": "reserved_bytes.all.current",
    "torch.reserved_peak": "reserved_bytes.all.peak",
    "torch.inactive": "inactive_split_bytes.all.current",
}


def fragmentation(stats: Dict[str, Any]) -> float:
    """Share of what torch reserved that is free but in pieces, 0..1."""
    reserved = float(stats.get("reserved_bytes.all.current", 0))
    pieces = float(stats.get("inactive_split_bytes.all.current", 0))
    return pieces / reserved if reserved > 0 else 0.0


class Memory(Part):
    """Beside what the driver says, which includes what torch keeps free."""

    def begin(self) -> None:
        config = self.watch.config
        self.is_on = (config.collect_memory_detailed or
                      config.profiler_profile_memory)

    def step(self) -> None:
        cuda = find_torch().cuda
        if not self.is_on or not cuda.is_available() or \
                not cuda.is_initialized():
            return
        stats = cuda.memory_stats()
        for name, key in FIGURES.items():
            if key in stats:
                _reading.observe(name, float(stats[key]), "memory", "B")
        _reading.observe("torch.fragmentation", fragmentation(stats),
                         "percentage", "")
