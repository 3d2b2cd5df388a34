# SPDX-License-Identifier: Apache-2.0
"""Communication of DistributedDataParallel, and collectives of a program.

DDP sums gradients bucket by bucket, while the backward pass goes on. A hook
for communication sees each bucket: when it is ready, and when its sum is
there. It does what DDP does without one: the mean over all processes, by the
same all-reduce. A program that registers a hook of its own keeps it.
"""

from __future__ import annotations

import functools
import time
from typing import Any, Dict

from . import _reading
from ._torch_hooks import Part
from ._training_config import DEBUG_PERFORMANCE, find_torch, tell_once

# Calls of torch.distributed that wait for other processes.
COLLECTIVES = ("all_reduce", "all_gather", "broadcast", "reduce",
               "reduce_scatter", "gather", "scatter", "barrier",
               "all_to_all_single", "all_gather_into_tensor")


class Communication(Part):
    """The scope `communication`, and the series `ddp.allreduce`."""

    def __init__(self, watch: Any, model: Any) -> None:
        super().__init__(watch)
        self.model = model
        self.real: Dict[str, Any] = {}
        self.ours: Dict[str, Any] = {}

    def begin(self) -> None:
        torch = find_torch()
        distributed = getattr(torch, "distributed", None)
        if distributed is None or not distributed.is_available() or \
                not distributed.is_initialized():
            return
        for name in COLLECTIVES:
            if hasattr(distributed, name):
                self._replace(distributed, name)
        kind = torch.nn.parallel.DistributedDataParallel
        if isinstance(self.model, kind):
            self._follow(distributed)

    def _replace(self, distributed: Any, name: str) -> None:
        real = self.real[name] = getattr(distributed, name)

        @functools.wraps(real)
        def collective(*args: Any, **named: Any) -> Any:
            if not self.watch.is_watching:
                return real(*args, **named)
            with _reading.scope(f"communication {name}"):
                return real(*args, **named)

        self.ours[name] = collective
        setattr(distributed, name, collective)

    def _follow(self, distributed: Any) -> None:
        all_reduce = self.real["all_reduce"]

        def hook(_state: Any, bucket: Any) -> Any:
            began = time.perf_counter()
            buffer = bucket.buffer()
            size = buffer.numel() * buffer.element_size()
            work = all_reduce(buffer.div_(distributed.get_world_size()),
                              async_op=True)

            def done(future: Any) -> Any:
                self._saw(time.perf_counter() - began, size)
                return future.value()[0]

            return work.get_future().then(done)

        hook.__annotations__ = {}   # torch accepts its own types or none
        try:
            self.model.register_comm_hook(None, hook)
        except Exception as error:  # pylint: disable=broad-except
            tell_once("torch ddp", DEBUG_PERFORMANCE,
                      "torch: sums of gradients are not timed: %s", error)

    def _saw(self, seconds: float, size: int) -> None:
        if not self.watch.is_watching:
            return
        _reading.observe("ddp.allreduce", seconds, "custom", "s")
        _reading.observe("ddp.bucket", float(size), "memory", "B")

    def end(self) -> None:
        distributed = getattr(find_torch(), "distributed", None)
        for name, ours in self.ours.items():
            if getattr(distributed, name, None) is ours:
                setattr(distributed, name, self.real[name])
        self.ours.clear()
