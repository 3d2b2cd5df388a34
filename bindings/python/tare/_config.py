# SPDX-License-Identifier: Apache-2.0
"""Configuration: options of the environment, of tare.conf, and of calls."""

import dataclasses

from . import _tare

_BOOL, _INT, _DOUBLE = 1, 2, 3
_SWITCHES = ("enable_metrics", "enable_performance_monitoring",
             "enable_profiler")
_ENOENT, _EINVAL = -4, -1


@dataclasses.dataclass(frozen=True)
class Config:
    """The options that matter for a program. All others: option().

    The values are those of this process now: defaults, then tare.conf, then
    the environment (TARE_ENABLE_METRICS=true), then configure().
    """

    enable_metrics: bool = False
    enable_performance_monitoring: bool = False
    enable_profiler: bool = False
    enable_gpu_monitoring: bool = False
    debug_mode: bool = False
    collect_timing: bool = True
    collect_throughput: bool = True
    collect_memory_basic: bool = True
    collect_gpu_utilization: bool = False
    collect_memory_detailed: bool = False
    collect_component_profiling: bool = False
    profiler_record_shapes: bool = False
    profiler_profile_memory: bool = False
    profiler_with_stack: bool = False
    profiler_export_interval: int = 1000   # steps
    profiler_trace_dir: str = "traces"
    metrics_log_interval: int = 10         # steps
    gpu_monitor_interval: float = 1.0      # seconds
    memory_cleanup_check_interval: int = 50  # steps
    auto_disable_on_slow: bool = True
    performance_threshold: float = 0.05    # share of the CPU time
    max_history_size: int = 10000          # operations
    memory_sample_interval: float = 60.0   # seconds
    export_directory: str = "data/metrics"
    enable_memory_tracking: bool = True
    enable_gpu_tracking: bool = True

    @classmethod
    def now(cls):
        """The options of this process as they are."""
        return cls(**{field.name: option(field.name)
                      for field in dataclasses.fields(cls)})


def _table():
    return {row["name"]: row for row in _tare.options()}


def _value_of(row, text):
    if row["type"] == _BOOL:
        return text == "true"
    if row["type"] == _INT:
        return int(text)
    if row["type"] == _DOUBLE:
        return float(text)
    return text


def _text_of(row, value):
    if row["type"] == _BOOL:
        if not isinstance(value, (bool, str)):
            raise TypeError(f"{row['name']}: True or False is needed, "
                            f"not {value!r}")
        return str(value).lower()
    if row["type"] in (_INT, _DOUBLE) and isinstance(value, bool):
        raise TypeError(f"{row['name']}: a number is needed, not {value!r}")
    return str(value)


def option(name):
    """The present value of any option (docs/options.md)."""
    row = _table().get(name)
    if row is None:
        raise ValueError(f"no option '{name}'")
    return _value_of(row, _tare.option_get(name))


def _set(row, text):
    if _tare.option_get(row["name"]) == text:
        return
    error = _tare.option_set(row["name"], text)
    if error == _EINVAL:
        raise ValueError(f"{row['name']} cannot change once measuring has "
                         "started: call configure() first, or set "
                         f"{row['variable']} in the environment")
    if error:
        raise ValueError(f"{row['name']}: '{text}' is not {row['range']}")


def configure(**options):
    """Sets options of this process, all or none, and returns the Config.

    enable_metrics=True (or enable_performance_monitoring, enable_profiler)
    also switches measuring on, False switches it off.

    >>> import tare
    >>> tare.configure(enable_metrics=True).enable_metrics
    True
    >>> tare.configure(performance_threshold=7)
    Traceback (most recent call last):
        ...
    ValueError: performance_threshold: '7' is not a number from 0 to 1
    """
    table = _table()
    for name in options:
        if name not in table:
            raise TypeError(f"no option '{name}'")
    texts = {name: _text_of(table[name], value)
             for name, value in options.items()}
    before = {name: _tare.option_get(name) for name in texts}
    done = []
    try:
        for name, text in texts.items():
            _set(table[name], text)
            done.append(name)
    except ValueError:
        for name in reversed(done):
            _set(table[name], before[name])
        raise
    switched = [texts[name] for name in _SWITCHES if name in texts]
    if "true" in switched:
        _tare.on()
    elif switched:
        _tare.off()
    return Config.now()
