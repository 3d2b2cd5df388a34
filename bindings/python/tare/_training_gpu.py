# SPDX-License-Identifier: Apache-2.0
"""GPU figures for a training loop: cached, and never an error."""

from __future__ import annotations

import math
import threading
import time
from typing import Any, Optional

from . import _reading
from ._training_config import (DEBUG_PERFORMANCE, MetricsConfig, find_torch,
                               tell_once)

NOT_AVAILABLE = math.nan


class GPUMonitor:
    """Utilization of a GPU in percent, asked for at most once an interval.

    0.0 while monitoring is off, as nothing is asked then; NaN where it cannot
    be known. The driver is called by a thread of tare, not by this one.
    """

    def __init__(self, config: MetricsConfig, gpu: int = 0) -> None:
        self.config = config
        self.enabled = config.enable_gpu_monitoring
        self.interval = config.gpu_monitor_interval
        self.gpu = gpu
        self._lock = threading.Lock()
        self._polled_at: Optional[float] = None
        self._utilization = NOT_AVAILABLE
        self._nvml: Optional[bool] = None

    @property
    def nvml_available(self) -> bool:
        """Can tare read this GPU itself? Asked at the first use."""
        if self._nvml is None:
            self._nvml = self.enabled and self._read_driver() is not None
        return self._nvml

    @property
    def gpu_utilization(self) -> float:
        """Percent; the newest figure if it is younger than the interval."""
        if not self.enabled:
            return 0.0
        with self._lock:
            now = time.monotonic()
            if (self._polled_at is None
                    or now - self._polled_at >= self.interval):
                self._utilization = self._poll()
                self._polled_at = time.monotonic()
            return self._utilization

    @property
    def age(self) -> float:
        """Seconds since the figure was asked for; NaN: never."""
        at = self._polled_at
        return NOT_AVAILABLE if at is None else time.monotonic() - at

    def _poll(self) -> float:
        value = self._read_driver()
        self._nvml = value is not None
        if value is None:
            tell_once("gpu", DEBUG_PERFORMANCE,
                      "GPU monitoring: %s; using torch's figures if there "
                      "are any", self._reason())
            value = _read_torch(self.gpu)
        return NOT_AVAILABLE if value is None else value

    def _read_driver(self) -> Optional[float]:
        try:
            now = _reading.gpu(self.gpu)
            load = None if now is None else now["load_percent"]
        except Exception as error:  # pylint: disable=broad-except
            tell_once("gpu driver", DEBUG_PERFORMANCE,
                      "GPU monitoring: the driver failed: %s", error)
            return None
        if load is None or math.isnan(load):
            return None
        return float(load)

    def _reason(self) -> str:
        try:
            return _reading.gpu_reason() or f"no GPU {self.gpu}"
        except Exception as error:  # pylint: disable=broad-except
            return str(error)


def _read_torch(gpu: int) -> Optional[float]:
    torch: Any = find_torch()
    if torch is None:
        return None
    try:
        if not torch.cuda.is_available():
            return None
        return float(torch.cuda.utilization(gpu))
    except Exception as error:  # pylint: disable=broad-except
        tell_once("gpu torch", DEBUG_PERFORMANCE,
                  "GPU monitoring: torch has no figure: %s", error)
        return None
