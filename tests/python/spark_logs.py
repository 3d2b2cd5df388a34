# SPDX-License-Identifier: Apache-2.0
"""Event logs of Spark as text, for tests: the events that it writes, with the
keys that it gives them, and its four codecs."""

import ctypes
import json
import struct


class LogMaker:
    """An application, event by event. Times are milliseconds from `start`."""

    def __init__(self, start=1_795_000_000_000, app="app-1", name="demo"):
        self.events = []
        self.start = start
        self.add("SparkListenerLogStart", **{"Spark Version": "3.5.6"})
        self.add("SparkListenerApplicationStart", **{
            "App Name": name, "App ID": app, "Timestamp": start,
            "User": "me"})

    def add(self, kind, **event):
        self.events.append({"Event": kind, **event})
        return self

    def executor(self, name, at=0, cores=1):
        return self.add("SparkListenerExecutorAdded", **{
            "Timestamp": self.start + at, "Executor ID": name,
            "Executor Info": {"Host": "h", "Total Cores": cores}})

    def lost(self, name, at, reason="Remote RPC client disassociated"):
        return self.add("SparkListenerExecutorRemoved", **{
            "Timestamp": self.start + at, "Executor ID": name,
            "Removed Reason": reason})

    def job(self, job, stages, at, site, names=()):
        return self.add("SparkListenerJobStart", **{
            "Job ID": job, "Submission Time": self.start + at,
            "Stage Infos": [{"Stage ID": one, "Stage Name": name}
                            for one, name in zip(stages, names)],
            "Stage IDs": stages,
            "Properties": {"callSite.short": site} if site else {}})

    def job_end(self, job, at, error=None):
        result = {"Result": "JobSucceeded"} if error is None else \
            {"Result": "JobFailed", "Exception": {"Message": error}}
        return self.add("SparkListenerJobEnd", **{
            "Job ID": job, "Completion Time": self.start + at,
            "Job Result": result})

    def stage(self, stage, name, at, end=None, attempt=0, error=None,
              site=None):
        info = {"Stage ID": stage, "Stage Attempt ID": attempt,
                "Stage Name": name, "Submission Time": self.start + at}
        if end is None:
            return self.add("SparkListenerStageSubmitted", **{
                "Stage Info": info,
                "Properties": {"callSite.short": site} if site else {}})
        info["Completion Time"] = self.start + end
        if error:
            info["Failure Reason"] = error
        return self.add("SparkListenerStageCompleted", **{"Stage Info": info})

    def task(self, stage, index, at, end, attempt=0, reason="Success",
             run=None, executor="0", speculative=False, more=None,
             stage_attempt=0, **metrics):
        end_reason = {"Reason": reason, **(more or {})}
        return self.add("SparkListenerTaskEnd", **{
            "Stage ID": stage, "Stage Attempt ID": stage_attempt,
            "Task Type": "ResultTask", "Task End Reason": end_reason,
            "Task Info": {
                "Task ID": index, "Index": index, "Attempt": attempt,
                "Launch Time": self.start + at, "Executor ID": executor,
                "Host": "h", "Speculative": speculative,
                "Getting Result Time": metrics.pop("getting", 0),
                "Finish Time": self.start + end,
                "Killed": reason == "TaskKilled"},
            "Task Metrics": task_metrics(end - at if run is None else run,
                                         **metrics)})

    def end(self, at):
        return self.add("SparkListenerApplicationEnd",
                        Timestamp=self.start + at)

    def text(self):
        return "".join(json.dumps(event, separators=(",", ":")) + "\n"
                       for event in self.events)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text())
        return path


def task_metrics(run, cpu_ns=0, gc=0, deserialize=0, serialize=0, fetch=0,
                 write_ns=0, read=0, written=0, result=0):
    return {
        "Executor Run Time": run, "Executor CPU Time": cpu_ns,
        "JVM GC Time": gc, "Executor Deserialize Time": deserialize,
        "Result Serialization Time": serialize, "Result Size": result,
        "Disk Bytes Spilled": 0,
        "Shuffle Read Metrics": {"Fetch Wait Time": fetch,
                                 "Remote Bytes Read": read,
                                 "Local Bytes Read": 0},
        "Shuffle Write Metrics": {"Shuffle Write Time": write_ns,
                                  "Shuffle Bytes Written": written},
        "Input Metrics": {"Bytes Read": 0},
        "Output Metrics": {"Bytes Written": 0}}


def example():
    """Two actions; one shuffles, is skewed, and loses an executor."""
    log = LogMaker()
    log.executor("0").executor("1")
    log.job(0, [0, 1], 1000, "collect at /home/me/app.py:13",
            ["reduceByKey at /home/me/app.py:12",
             "collect at /home/me/app.py:13"])
    site = "collect at /home/me/app.py:13"
    log.stage(0, "reduceByKey at /home/me/app.py:12", 1000, site=site)
    for index, took in enumerate((100, 110, 120, 1000)):
        log.task(0, index, 1000, 1000 + took, run=took - 30, deserialize=20,
                 serialize=5, write_ns=2_000_000, written=1000,
                 cpu_ns=(took - 40) * 1_000_000, gc=4, result=500)
    log.stage(0, "reduceByKey at /home/me/app.py:12", 1000, 2000)
    log.stage(1, site, 2000, site=site)
    log.task(1, 0, 2000, 2200, run=150, fetch=50, read=4000, result=2000,
             getting=0)
    log.task(1, 1, 2000, 2100, reason="ExecutorLostFailure", executor="1",
             more={"Loss Reason": "killed by signal 9"})
    log.lost("1", 2100)
    log.executor("2", 2300)
    log.task(1, 1, 2300, 2500, attempt=1, run=150, fetch=10, read=4000,
             executor="2")
    log.task(1, 2, 2300, 2600, run=290, speculative=True, attempt=1)
    log.task(1, 2, 2300, 2600, reason="TaskKilled",
             more={"Kill Reason": "another attempt succeeded"})
    log.stage(1, site, 2000, 2700)
    log.job_end(0, 2700)
    log.job(1, [2], 4000, "count at /home/me/app.py:20")
    log.stage(2, "count at /home/me/app.py:20", 4000,
              site="count at /home/me/app.py:20")
    log.task(2, 0, 4000, 4100, reason="ExceptionFailure",
             more={"Class Name": "java.lang.X", "Description": "no"})
    log.stage(2, "count at /home/me/app.py:20", 4000, 4100,
              error="Job aborted")
    log.job_end(1, 4100, error="Job aborted due to stage failure")
    log.lost("0", 4900, "Executor killed by driver.")
    return log.end(5000)


# ---- codecs ------------------------------------------------------------------


def zstd(data):
    """A stream of libzstd."""
    lib = ctypes.CDLL("libzstd.so.1")
    lib.ZSTD_compressBound.restype = ctypes.c_size_t
    lib.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    lib.ZSTD_compress.restype = ctypes.c_size_t
    lib.ZSTD_compress.argtypes = [
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
        ctypes.c_int]
    out = ctypes.create_string_buffer(lib.ZSTD_compressBound(len(data)))
    n = lib.ZSTD_compress(out, len(out), data, len(data), 3)
    return out.raw[:n]


def chunks(data, size=30000):
    """Blocks as Spark's streams make them."""
    return [data[at:at + size] for at in range(0, len(data), size)]


def matches(data, least):
    """(literals, distance, length) of a simple LZ77; last has distance 0."""
    seen, at, start = {}, 0, 0
    while at + 4 <= len(data):
        key = data[at:at + 4]
        before = seen.get(key)
        seen[key] = at
        if before is None or at - before > 8000:
            at += 1
            continue
        n = 4
        while n < 60 and at + n < len(data) and \
                data[before + n] == data[at + n]:
            n += 1
        if n < least:
            at += 1
            continue
        yield data[start:at], at - before, n
        at += n
        start = at
    yield data[start:], 0, 0


def _nibble(n):
    if n < 15:
        return n, b""
    return 15, b"\xff" * ((n - 15) // 255) + bytes([(n - 15) % 255])


def lz4(data):
    """Frames of lz4-java."""
    out = b""
    for chunk in chunks(data):
        block = bytearray()
        for literals, distance, n in matches(chunk, 4):
            high, more = _nibble(len(literals))
            low, rest = _nibble(n - 4) if distance else (0, b"")
            block += bytes([high << 4 | low]) + more + literals
            if distance:
                block += struct.pack("<H", distance) + rest
        out += struct.pack("<8sBiii", b"LZ4Block", 0x25, len(block),
                           len(chunk), 0) + block
    return out + struct.pack("<8sBiii", b"LZ4Block", 0x15, 0, 0, 0)


def _snappy_literals(data):
    out = b""
    for part in chunks(data, 60000):
        n = len(part) - 1
        out += (bytes([n << 2]) if n < 60 else
                bytes([61 << 2]) + struct.pack("<H", n)) + part
    return out


def snappy(data):
    """Frames of snappy-java."""
    out = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
    for chunk in chunks(data):
        n, block = len(chunk), bytearray()
        while n > 127:
            block.append(n & 127 | 128)
            n >>= 7
        block.append(n)
        for literals, distance, n in matches(chunk, 4):
            block += _snappy_literals(literals)
            if 4 <= n <= 11 and 0 < distance < 2048:
                block += bytes([(n - 4) << 2 | distance >> 8 << 5 | 1,
                                distance & 255])
            elif distance:
                block += bytes([(n - 1) << 2 | 2]) + \
                    struct.pack("<H", distance)
        out += struct.pack(">i", len(block)) + block
    return out


def lzf(data):
    """Frames of compress-lzf."""
    out = b""
    for number, chunk in enumerate(chunks(data)):
        if number == 1:     # one as it is
            out += struct.pack(">2sBH", b"ZV", 0, len(chunk)) + chunk
            continue
        block = bytearray()
        for literals, distance, n in matches(chunk, 4):
            for part in chunks(literals, 32):
                block += bytes([len(part) - 1]) + part
            if distance:
                length = n - 2
                block += bytes([min(length, 7) << 5 | (distance - 1) >> 8])
                if length >= 7:
                    block.append(length - 7)
                block.append((distance - 1) & 255)
        out += struct.pack(">2sBHH", b"ZV", 1, len(block), len(chunk)) + block
    return out


CODECS = {"zstd": zstd, "lz4": lz4, "snappy": snappy, "lzf": lzf}
