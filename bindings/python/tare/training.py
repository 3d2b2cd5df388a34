# SPDX-License-Identifier: Apache-2.0
"""Metrics, GPU monitor and profiler of a training program.

    config = MetricsConfig(enable_metrics=True)
    metrics = MetricsCollector(config)
    profiler = ProfilerManager(config)
    gpu = GPUMonitor(config)

    with profiler.profile_step("train_step"):
        with metrics.time_component("total_step"):
            ...
    metrics.step(samples=32)

All of it is off by default, and then costs a comparison. A failure in here
never ends a training: it is logged once, and what failed is switched off.
Log lines go to the logger "tare" at the levels DEBUG_PERFORMANCE and
DEBUG_PROFILING.
"""

from __future__ import annotations

from ._training_collector import MetricsCollector
from ._training_config import (DEBUG_PERFORMANCE, DEBUG_PROFILING,
                               EnergyConfig, MetricsConfig)
from ._training_gpu import GPUMonitor
from ._training_profiler import ProfilerManager

__all__ = ["DEBUG_PERFORMANCE", "DEBUG_PROFILING", "EnergyConfig",
           "GPUMonitor", "MetricsCollector", "MetricsConfig",
           "ProfilerManager"]
