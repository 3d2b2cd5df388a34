# SPDX-License-Identifier: Apache-2.0
"""Training loops of PyTorch: steps, phases, modules, without changing them.

    import tare.torch
    with tare.torch.watch(model, optimizer, loader):
        for batch, target in loader:
            loss = criterion(model(batch), target)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

Each step is divided into the scopes data, forward, backward and optimizer;
what a step does besides is its own time. A step ends where the optimizer has
changed the weights, so several backward passes may belong to one step
(accumulated gradients: the series `micro_batches`). With `tare run
--gpu=kernels` kernels have these scopes, and idle time of the GPU is
explained by them.

Nothing is synchronised and no result changes. An error in here ends the
watching, with one line, and not the training.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Iterable, Optional

from . import _reading
from ._torch_comm import Communication
from ._torch_hooks import Backward, Loader, Modules, Optimizer
from ._torch_memory import Memory
from ._training_config import (DEBUG_PERFORMANCE, MetricsConfig, find_torch,
                               log, tell_once)

__all__ = ["Watch", "watch"]


class Watch:
    """What watch() gives: a context manager, with figures of its own."""

    def __init__(self, model: Any, optimizer: Any, loader: Any,
                 config: MetricsConfig, name: str) -> None:
        self.config = config
        self.name = name
        self.steps = 0
        self.micro_batches = 0      # of the step that has begun
        self.samples = 0
        self.is_watching = False
        self._open: Any = None
        self._parts: Any = []
        self._model, self._optimizer = model, optimizer
        self.loader: Optional[Iterable[Any]] = loader

    # ---- begin and end -----------------------------------------------------

    def start(self) -> "Watch":
        if self.is_watching:
            return self
        try:
            self._apply()
            _reading.start()
            self._begin()
        except Exception as error:  # pylint: disable=broad-except
            self.give_up("watch", error)
        return self

    def _apply(self) -> None:
        """What may change now: some options act from the start only."""
        import tare  # pylint: disable=import-outside-toplevel
        for name, value in dataclasses.asdict(self.config).items():
            try:
                tare.configure(**{name: value, "enable_metrics": True})
            except ValueError as error:
                if value:
                    tell_once(f"torch {name}", DEBUG_PERFORMANCE,
                              "torch: %s", error)

    def _begin(self) -> None:
        self.is_watching = True
        self._add(Backward(self))
        if self._model is not None:
            self._add(Modules(self, self._model))
        if self._optimizer is not None:
            self._add(Optimizer(self, self._optimizer))
        if self.loader is not None:
            part = Loader(self, self.loader)
            self._add(part)
            self.loader = part.watched
        self._add(Communication(self, self._model))
        self._add(Memory(self))

    def _add(self, part: Any) -> None:
        self._parts.append(part)
        part.begin()

    def stop(self) -> None:
        """Leaves the model, the optimizer and the loader as they were."""
        self.is_watching = False
        parts, self._parts = self._parts, []
        for part in reversed(parts):
            try:
                part.end()
            except Exception as error:  # pylint: disable=broad-except
                tell_once("torch end", DEBUG_PERFORMANCE,
                          "torch: cannot end watching: %s", error)

    def __enter__(self) -> "Watch":
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def give_up(self, what: str, error: Exception) -> None:
        """An error of this package: the training goes on without it."""
        tell_once(f"torch {what}", DEBUG_PERFORMANCE,
                  "torch: cannot %s: %s; nothing is watched from now on",
                  what, error)
        self.stop()

    # ---- steps -------------------------------------------------------------

    def saw_batch(self, batch: Any) -> None:
        self.samples += samples_of(batch)

    def saw_backward(self) -> None:
        self.micro_batches += 1

    def end_step(self) -> None:
        """The weights have changed."""
        self.steps += 1
        if self.micro_batches > 1:
            _reading.observe("micro_batches", float(self.micro_batches),
                             "custom", "")
        for part in self._parts:
            part.step()
        _reading.step(self.samples, self.name)
        self.micro_batches = 0
        self.samples = 0


def samples_of(batch: Any) -> int:
    """The first dimension of the first tensor in a batch; 0: not known."""
    for _ in range(8):
        shape = getattr(batch, "shape", None)
        if shape is not None:
            return int(shape[0]) if len(shape) else 1
        if isinstance(batch, dict) and batch:
            batch = next(iter(batch.values()))
        elif isinstance(batch, (list, tuple)) and batch:
            batch = batch[0]
        else:
            return 0
    return 0


def watch(model: Any = None, optimizer: Any = None, loader: Any = None, *,
          config: Optional[MetricsConfig] = None,
          name: str = "train") -> Watch:
    """Begins to watch a training; `with` or stop() ends it.

    Each argument may be missing. A loader that is no DataLoader cannot be
    watched in place: iterate over watch(...).loader instead. `config` is a
    MetricsConfig: collect_component_profiling times each module,
    profiler_record_shapes notes the shapes of their inputs,
    profiler_profile_memory what they allocate, collect_memory_detailed the
    figures of torch's allocator.
    """
    if find_torch() is None:
        raise RuntimeError("tare.torch.watch() needs a program that has "
                           "imported torch")
    config = config or MetricsConfig(enable_metrics=True)
    watched = Watch(model, optimizer, loader, config, name)
    log.log(DEBUG_PERFORMANCE, "torch: watching steps of '%s'", name)
    return watched.start()
