# SPDX-License-Identifier: Apache-2.0
"""Configuration of tare.training, and its log levels."""

from __future__ import annotations

import dataclasses
import logging
import sys
from dataclasses import dataclass
from typing import Any, Optional, Set

from ._steps import DEBUG_PERFORMANCE, DEBUG_PROFILING

# Both are between DEBUG (10) and INFO (20): not shown by a program that logs
# INFO, and shown without all of DEBUG by one that asks for them.
logging.addLevelName(DEBUG_PERFORMANCE, "DEBUG_PERFORMANCE")
logging.addLevelName(DEBUG_PROFILING, "DEBUG_PROFILING")

log = logging.getLogger("tare")

_told: Set[str] = set()


def tell_once(key: str, level: int, text: str, *args: Any) -> None:
    """A message that is worth one line, not one a step."""
    if key in _told:
        return
    _told.add(key)
    log.log(level, text, *args)


def find_torch() -> Any:
    """torch, if the program uses it: importing it takes seconds."""
    return sys.modules.get("torch")


@dataclass
class MetricsConfig:
    """Switches of metrics and profiling. All is off by default."""

    # Master switches.
    enable_metrics: bool = False
    enable_profiler: bool = False
    enable_gpu_monitoring: bool = False

    # Light metrics, collected once metrics are on.
    collect_timing: bool = True
    collect_throughput: bool = True
    collect_memory_basic: bool = True

    # Heavier ones.
    collect_gpu_utilization: bool = False
    collect_memory_detailed: bool = False
    collect_component_profiling: bool = False

    # The profiler.
    profiler_record_shapes: bool = False
    profiler_profile_memory: bool = False
    profiler_with_stack: bool = False
    profiler_export_interval: int = 1000
    profiler_trace_dir: str = "traces"

    # Intervals: steps, seconds, steps.
    metrics_log_interval: int = 10
    gpu_monitor_interval: float = 1.0
    memory_cleanup_check_interval: int = 50

    # What to do when measuring costs too much.
    auto_disable_on_slow: bool = True
    performance_threshold: float = 0.05

    def __post_init__(self) -> None:
        for name in ("profiler_export_interval", "metrics_log_interval",
                     "memory_cleanup_check_interval"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}: it must be a whole "
                                 "number of steps, at least 1")
        if not self.gpu_monitor_interval > 0:
            raise ValueError(f"gpu_monitor_interval is "
                             f"{self.gpu_monitor_interval!r}: it must be "
                             "more than 0 seconds")
        if not 0 <= self.performance_threshold <= 1:
            raise ValueError(f"performance_threshold is "
                             f"{self.performance_threshold!r}: it must be "
                             "from 0 to 1")

    def apply(self) -> None:
        """Sets tare's own options to these, for scopes and steps."""
        import tare  # pylint: disable=import-outside-toplevel
        tare.configure(**dataclasses.asdict(self))


@dataclass
class EnergyConfig:
    """Part of a program's configuration, to derive from or to embed.

    The two switches act where no metrics_config is given.
    """

    enable_performance_monitoring: bool = False
    debug_mode: bool = False
    metrics_config: Optional[MetricsConfig] = None

    def __post_init__(self) -> None:
        if self.metrics_config is not None:
            return
        self.metrics_config = MetricsConfig(
            enable_metrics=self.enable_performance_monitoring,
            enable_gpu_monitoring=self.debug_mode,
            collect_component_profiling=self.debug_mode)
