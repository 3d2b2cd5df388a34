#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A memory pool by kind of tensor, measured by tare.collector.

usage: memory_pool.py [ROUNDS]                   (200)

Each kind of tensor has a pool of its own, a buddy allocator. Times, counts
and fragmentation of each pool and of all of them are metrics.
"""

import enum
import random
import sys
from dataclasses import dataclass

from tare.collector import (PerformanceMonitor, get_metrics_collector,
                            record_counter, record_metric)

SMALLEST = 4096


class TensorType(enum.Enum):
    KV_CACHE = "kv_cache"
    ACTIVATIONS = "activations"
    WEIGHTS = "weights"
    TEMPORARY = "temporary"


@dataclass(frozen=True)
class MemoryBlock:
    kind: TensorType
    offset: int
    size: int          # of the block, a power of two
    asked: int         # of the tensor
    tensor_id: str


class BuddyAllocator:
    """Splits blocks into halves, and joins halves that are both free."""

    def __init__(self, size):
        self.size = size
        self.free_blocks = {size: {0}}

    def allocate(self, asked):
        """Offset and size of a block; MemoryError: there is none."""
        size = SMALLEST
        while size < asked:
            size *= 2
        found = size
        while found <= self.size and not self.free_blocks.get(found):
            found *= 2
        if found > self.size:
            raise MemoryError(f"no block of {size} bytes")
        offset = self.free_blocks[found].pop()
        while found > size:
            found //= 2
            self.free_blocks.setdefault(found, set()).add(offset + found)
        return offset, size

    def free(self, offset, size):
        while size < self.size:
            buddy = offset ^ size
            if buddy not in self.free_blocks.get(size, ()):
                break
            self.free_blocks[size].discard(buddy)
            offset = min(offset, buddy)
            size *= 2
        self.free_blocks.setdefault(size, set()).add(offset)

    def free_bytes(self):
        return sum(size * len(blocks)
                   for size, blocks in self.free_blocks.items())

    def largest_free(self):
        return max((size for size, blocks in self.free_blocks.items()
                    if blocks), default=0)

    def fragmentation(self):
        """The part of the free memory that is not in the largest block."""
        free = self.free_bytes()
        return 1 - self.largest_free() / free if free else 0.0


class MemoryPool:
    def __init__(self, kind, size):
        self.kind = kind
        self.source = f"pool_{kind.value}"
        self.allocator = BuddyAllocator(size)
        self.blocks = {}
        self.failures = 0
        self.monitor = PerformanceMonitor(self.source)

    def allocate(self, asked, tensor_id):
        if tensor_id in self.blocks:
            raise ValueError(f"'{tensor_id}' is allocated")
        with self.monitor.measure("memory_pool_allocate_time"):
            try:
                offset, size = self.allocator.allocate(asked)
            except MemoryError:
                self.failures += 1
                record_counter("memory_pool_failures", 1.0, self.source)
                raise
        block = MemoryBlock(self.kind, offset, size, asked, tensor_id)
        self.blocks[tensor_id] = block
        record_counter("memory_pool_allocations", 1.0, self.source)
        self._record()
        return block

    def deallocate(self, tensor_id):
        block = self.blocks.pop(tensor_id)
        with self.monitor.measure("memory_pool_free_time"):
            self.allocator.free(block.offset, block.size)
        record_counter("memory_pool_frees", 1.0, self.source)
        self._record()

    def _record(self):
        record_metric("memory_pool_used", self.used(), "memory", self.source)
        record_metric("memory_pool_fragmentation",
                      self.allocator.fragmentation(), "ratio", self.source)

    def used(self):
        return self.allocator.size - self.allocator.free_bytes()

    def get_performance_metrics(self):
        times = self.monitor.get_stats()
        return {
            "blocks": len(self.blocks), "used_bytes": self.used(),
            "total_bytes": self.allocator.size,
            "fragmentation": self.allocator.fragmentation(),
            "failures": self.failures,
            "allocations": times.get("memory_pool_allocate_time",
                                     {}).get("count", 0),
            "average_allocate_us": times.get(
                "memory_pool_allocate_time", {}).get("average", 0.0) * 1e6,
            "average_free_us": times.get(
                "memory_pool_free_time", {}).get("average", 0.0) * 1e6,
        }


class AdvancedMemoryPoolingSystem:
    def __init__(self, size=16 << 20):
        self.pools = {kind: MemoryPool(kind, size) for kind in TensorType}

    def allocate(self, kind, size, tensor_id):
        """A MemoryBlock; MemoryError: its pool has none of that size."""
        return self.pools[kind].allocate(size, tensor_id)

    def deallocate(self, kind, tensor_id):
        self.pools[kind].deallocate(tensor_id)

    def get_performance_metrics(self):
        """Of each pool, and of all together."""
        pools = {kind.value: pool.get_performance_metrics()
                 for kind, pool in self.pools.items()}
        whole = {key: sum(pool[key] for pool in pools.values())
                 for key in ("blocks", "used_bytes", "total_bytes",
                             "failures", "allocations")}
        stats = get_metrics_collector().get_metric_stats(
            "memory_pool_allocate_time")
        whole["average_allocate_us"] = (stats.get("average") or 0.0) * 1e6
        return {"pools": pools, "system": whole}


def exercise(memory_system, rounds):
    """Tensors of all kinds come and go."""
    chance = random.Random(3)
    held = []
    for at in range(rounds):
        kind = chance.choice(list(TensorType))
        size = chance.randrange(SMALLEST, 1 << 20)
        try:
            memory_system.allocate(kind, size, f"tensor_{at}")
        except MemoryError:
            continue
        held.append((kind, f"tensor_{at}"))
        if len(held) > 30:
            memory_system.deallocate(*held.pop(chance.randrange(30)))
    for kind, tensor_id in held:
        memory_system.deallocate(kind, tensor_id)


def main():
    memory_system = AdvancedMemoryPoolingSystem()
    block = memory_system.allocate(TensorType.KV_CACHE, 1024 * 1024,
                                   "tensor_1")
    print(block)
    exercise(memory_system, int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    perf_metrics = memory_system.get_performance_metrics()
    for name, pool in perf_metrics["pools"].items():
        print(f"{name:12} {pool['blocks']} blocks, "
              f"{pool['allocations']} allocations of "
              f"{pool['average_allocate_us']:.2f} us, "
              f"fragmentation {pool['fragmentation']:.2f}, "
              f"{pool['failures']} failures")
    print("system:", perf_metrics["system"])
    print(get_metrics_collector().report(top=5))


if __name__ == "__main__":
    main()
