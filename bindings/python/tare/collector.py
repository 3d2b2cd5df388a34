# SPDX-License-Identifier: Apache-2.0
"""One collector of metrics for the whole process.

    @time_function("my_operation")
    def my_function(): ...

    with time_block("critical_section"):
        ...

    record_metric("cpu_usage", 85.0, "percentage", "system_monitor")
    record_timing("database_query_time", 0.025, "database")   # seconds
    record_counter("api_requests", 1.0, "api_handler")
    print_metrics_report()

Collecting begins with the first use of this module, not with its import.
get_metrics_collector().disable() ends it, enable() takes it up again.
"""

from __future__ import annotations

from ._collector_core import (CentralizedMetricsCollector,
                              get_metrics_collector, print_metrics_report,
                              record_counter, record_metric, record_timing)
from ._collector_metric import (Metric, MetricsAggregator, MetricsFilter,
                                MetricType)
from ._collector_timing import (PerformanceMonitor, Timer, measure_throughput,
                                time_block, time_function,
                                track_resource_usage)

__all__ = ["CentralizedMetricsCollector", "Metric", "MetricType",
           "MetricsAggregator", "MetricsFilter", "PerformanceMonitor",
           "Timer", "get_metrics_collector", "measure_throughput",
           "print_metrics_report", "record_counter", "record_metric",
           "record_timing", "time_block", "time_function",
           "track_resource_usage"]
