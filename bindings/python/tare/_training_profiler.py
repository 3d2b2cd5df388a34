# SPDX-License-Identifier: Apache-2.0
"""Profiles of single training steps, by torch's profiler or by tare's."""

from __future__ import annotations

import glob
import os
from contextlib import contextmanager
from typing import Any, Iterator, List, Optional, Set

from . import _reading
from ._training_config import (DEBUG_PERFORMANCE, DEBUG_PROFILING,
                               MetricsConfig, find_torch, log, tell_once)


class ProfilerManager:
    """Profiles every profiler_export_interval-th step and no other one.

    A profiled step is written to <trace_dir>/<step name>_step_<n>.json, for
    chrome://tracing and Perfetto: by torch's profiler if the program uses
    torch, otherwise by tare, with the scopes of the step.
    """

    def __init__(self, config: MetricsConfig) -> None:
        self.config = config
        self.enabled = config.enable_profiler
        self.step_count = 0
        self._by_torch: List[str] = []
        self._planned: Set[str] = set()

    @contextmanager
    def profile_step(self, step_name: str = "train_step") -> Iterator[Any]:
        """A step. Gives torch's profiler of a profiled one, else None."""
        if not self.enabled:
            yield None
            return
        self.step_count += 1
        number = self.step_count
        # A name is not a path.
        name = step_name.replace("/", "_").replace("\0", "_")
        is_torch = find_torch() is not None
        if not is_torch:
            self._plan(name)
        profiler = None
        if is_torch and number % self.config.profiler_export_interval == 0:
            profiler = self._start()
        try:
            yield profiler
        finally:
            if profiler is not None:
                self._finish(profiler, name, number)
            elif not is_torch:
                self._step(name)

    def exported(self) -> List[str]:
        """Paths of the traces that are written so far. Those by tare come
        from a thread, some time after their step."""
        found = set(self._by_torch)
        for name in self._planned:
            found.update(glob.glob(os.path.join(
                glob.escape(self.config.profiler_trace_dir),
                f"{glob.escape(name)}_step_*.json")))
        return sorted(found, key=lambda path: (len(path), path))

    # ---- torch -------------------------------------------------------------

    def _start(self) -> Optional[Any]:
        try:
            torch: Any = find_torch()
            kinds = torch.profiler.ProfilerActivity
            activities = [kinds.CPU]
            if torch.cuda.is_available():
                activities.append(kinds.CUDA)
            profiler = torch.profiler.profile(
                activities=activities,
                record_shapes=self.config.profiler_record_shapes,
                profile_memory=self.config.profiler_profile_memory,
                with_stack=self.config.profiler_with_stack)
            profiler.start()
            return profiler
        except Exception as error:  # pylint: disable=broad-except
            self._give_up("start", error)
            return None

    def _finish(self, profiler: Any, name: str, number: int) -> None:
        try:
            profiler.stop()
            self._export_trace(profiler, name, number)
        except Exception as error:  # pylint: disable=broad-except
            self._give_up("export", error)

    def _export_trace(self, profiler: Any, name: str, number: int) -> None:
        folder = self.config.profiler_trace_dir
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{name}_step_{number}.json")
        profiler.export_chrome_trace(path)
        self._by_torch.append(path)
        log.log(DEBUG_PROFILING, "Exported profiler trace: %s", path)

    def _give_up(self, what: str, error: Exception) -> None:
        self.enabled = False
        tell_once(f"profiler {what}", DEBUG_PERFORMANCE,
                  "profiler: cannot %s a profile: %s; it is off from now "
                  "on", what, error)

    # ---- tare --------------------------------------------------------------

    def _plan(self, name: str) -> None:
        """Traces by tare: once for each name of steps."""
        if name in self._planned:
            return
        self._planned.add(name)
        try:
            os.makedirs(self.config.profiler_trace_dir, exist_ok=True)
            _reading.start()
            _reading.plan_traces(name, self.config.profiler_export_interval,
                                 self.config.profiler_trace_dir)
            tell_once("torch profiler", DEBUG_PERFORMANCE,
                      "profiler: the program does not use torch; tare "
                      "traces its scopes")
        except Exception as error:  # pylint: disable=broad-except
            self._give_up("start", error)

    def _step(self, name: str) -> None:
        try:
            _reading.step(0, name)
        except Exception as error:  # pylint: disable=broad-except
            self._give_up("export", error)
