#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A photo service: jobs of four stages, measured by tare.service.

usage: photo_service.py [PHOTOS] [--serve]       (24)

Workers take jobs from a queue. A job reads EXIF data, evaluates the photo,
selects a preset and exports. A resource manager throttles while memory is
short, a GPU manager says whether the evaluation may use a GPU, and a photo
that cannot be read is a failed record. With --serve the figures are also at
/api/metrics, until the end of input.
"""

import queue
import random
import sys
import threading
import time

import tare
from tare.service import (get_performance_metrics_collector,
                          measure_performance, record_gpu_usage,
                          record_memory_usage)

WORKERS = 3


class ResourceManager:
    """Throttles while the machine has little memory left."""

    def __init__(self, most_percent=95.0):
        self.most_percent = most_percent

    def should_throttle_processing(self):
        record_memory_usage("resource_manager")
        stats = get_performance_metrics_collector().get_memory_usage_stats(
            "resource_manager")
        percent = stats.get("current_percent")
        return percent is not None and percent > self.most_percent


class GPUManager:
    def is_available(self):
        record_gpu_usage("gpu_check")
        stats = get_performance_metrics_collector().get_gpu_usage_stats()
        return stats["available"]


class Photo:
    def __init__(self, photo_id):
        chance = random.Random(photo_id)
        self.id = photo_id
        self.is_broken = photo_id % 10 == 9
        self.pixels = [chance.randrange(256) for _ in range(20000)]
        self.exif = {}
        self.score = 0.0
        self.preset = ""


def analyze_exif(photo):
    if photo.is_broken:
        raise ValueError(f"photo {photo.id} has no EXIF data")
    photo.exif = {"iso": 100 << photo.id % 4, "width": 200, "height": 100}


def evaluate_with_ai(photo, on_gpu):
    """A mean and a contrast stand for the model."""
    mean = sum(photo.pixels) / len(photo.pixels)
    contrast = sum(abs(pixel - mean) for pixel in photo.pixels)
    photo.score = contrast / len(photo.pixels) / 128
    if on_gpu:
        record_gpu_usage("ai_inference")


def select_preset(photo):
    photo.preset = "vivid" if photo.score > 0.5 else "neutral"


def export_photo(photo):
    table = [min(int(value * 1.1), 255) for value in range(256)]
    return bytes(table[pixel] for pixel in photo.pixels)


def process_job(photo, on_gpu):
    with measure_performance("job_processing", job_id=f"job-{photo.id}"):
        with measure_performance("exif", photo_id=photo.id, stage="exif"):
            analyze_exif(photo)
        with measure_performance("ai", photo_id=photo.id, stage="ai"):
            evaluate_with_ai(photo, on_gpu)
        with measure_performance("preset", photo_id=photo.id,
                                 stage="preset"):
            select_preset(photo)
        with measure_performance("export", photo_id=photo.id,
                                 stage="export"):
            export_photo(photo)


def worker(jobs, resources, on_gpu):
    while True:
        photo = jobs.get()
        if photo is None:
            return
        while resources.should_throttle_processing():
            time.sleep(0.1)
        try:
            process_job(photo, on_gpu)
        except ValueError:
            pass  # it is in the records, with its reason


def process_batch(count):
    jobs = queue.Queue()
    resources, on_gpu = ResourceManager(), GPUManager().is_available()
    threads = [threading.Thread(target=worker,
                                args=(jobs, resources, on_gpu))
               for _ in range(WORKERS)]
    with measure_performance("batch_processing"):
        for thread in threads:
            thread.start()
        for photo_id in range(count):
            jobs.put(Photo(photo_id))
        for _ in threads:
            jobs.put(None)
        for thread in threads:
            thread.join()


def print_statistics(collector):
    stats = collector.get_processing_time_stats("job_processing")
    print(f"Average: {stats['avg_duration_ms']:.2f}ms")
    for row in collector.get_operation_summary():
        print(f"{row['operation']:18} {row['count']:4} calls "
              f"{row['avg_duration_ms']:9.3f} ms each, "
              f"{row['success_rate']:.0%} successful")
    memory = collector.get_memory_usage_stats()
    print(f"memory: {memory['current_process_mb']:.1f} MB of this process, "
          f"{memory['current_percent']:.1f} % of the machine's in use")
    gpu = collector.get_gpu_usage_stats()
    print("GPU: " + (f"{gpu['current_load_percent']} %" if gpu["available"]
                     else f"not available ({gpu['reason']})"))


def main():
    numbers = [word for word in sys.argv[1:] if word.isdigit()]
    collector = get_performance_metrics_collector()
    collector.update_config({
        "max_history_size": 10000, "memory_sample_interval": 60,
        "export_directory": "data/metrics", "enable_gpu_tracking": True,
        "enable_memory_tracking": True})
    collector.start_monitoring()
    process_batch(int(numbers[0]) if numbers else 24)
    print_statistics(collector)
    print("exported:", collector.export_to_json())
    print("exported:", collector.export_to_csv("processing"))
    if "--serve" in sys.argv:
        with tare.serve() as server:
            print(f"{server.url}/api/metrics/operations/summary "
                  f"token {server.token}", flush=True)
            sys.stdin.read()
    collector.stop_monitoring()


if __name__ == "__main__":
    main()
