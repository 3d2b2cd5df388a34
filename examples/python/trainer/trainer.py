#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trainer with collector, GPU monitor and profiler manager.

usage: trainer.py [EPOCHS]                       (5)

Fits a plane by gradient descent. Each epoch is a row of
results/sequential_metrics.csv and of the TensorBoard file in events/; every
20th step is traced into traces/.
"""

import logging
import random
import sys
from dataclasses import dataclass

import tare
from tare.training import (DEBUG_PERFORMANCE, EnergyConfig, GPUMonitor,
                           MetricsCollector, MetricsConfig, ProfilerManager)

BATCH, BATCHES = 64, 10


@dataclass
class TrainerConfig(EnergyConfig):
    learning_rate: float = 0.1
    epochs: int = 5


def make_batch(chance):
    """Points of the plane y = 2 a - 3 b + 1, and their classes."""
    points = [(chance.uniform(-1, 1), chance.uniform(-1, 1))
              for _ in range(BATCH)]
    return points, [2 * a - 3 * b + 1 for a, b in points]


class EnergyTrainer:
    def __init__(self, config):
        self.config = config
        self.metrics_config = config.metrics_config
        self.metrics = MetricsCollector(self.metrics_config)
        self.profiler = ProfilerManager(self.metrics_config)
        self.gpu_monitor = GPUMonitor(self.metrics_config)
        self.weights = [0.0, 0.0, 0.0]
        self.global_step = 0

    def predict(self, points):
        u, v, w = self.weights
        return [u * a + v * b + w for a, b in points]

    def train_step(self, training, points, wanted):
        with self.profiler.profile_step("train_step"):
            with self.metrics.time_component("total_step"):
                with training.phase("forward"), \
                        self.metrics.time_component("flow_processor"):
                    errors = [given - true for given, true in
                              zip(self.predict(points), wanted)]
                with training.phase("backward"), \
                        self.metrics.time_component("loss_computation"):
                    loss = sum(e * e for e in errors) / BATCH
                    slopes = [sum(e * x for e, x in zip(errors, column))
                              / BATCH * 2 for column in
                              ([a for a, _ in points],
                               [b for _, b in points], [1.0] * BATCH)]
                with training.phase("update"):
                    rate = self.config.learning_rate
                    self.weights = [weight - rate * slope for weight, slope
                                    in zip(self.weights, slopes)]
        self.global_step += 1
        self.metrics.step(samples=BATCH)
        return loss

    def validate(self, chance):
        points, wanted = make_batch(chance)
        truth = [value > 0 for value in wanted]
        given = [value > 0 for value in self.predict(points)]
        hits = sum(one == other for one, other in zip(truth, given))
        return hits / BATCH, tare.macro_f1(truth, given)

    def train(self):
        chance = random.Random(4)
        config = {"learning_rate": self.config.learning_rate}
        with tare.Training("sequential", config=config,
                           events="events") as training:
            for _ in range(self.config.epochs):
                with training.epoch():
                    for _ in range(BATCHES):
                        loss = self.train_step(training,
                                               *make_batch(chance))
                    with training.pause("validation"):
                        accuracy, f1 = self.validate(chance)
                    training.values(loss=loss, train_acc=accuracy,
                                    val_f1=f1, test_f1=f1)
        return training


def main():
    logging.basicConfig(level=DEBUG_PERFORMANCE,
                        format="%(levelname)s %(message)s")
    epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    trainer = EnergyTrainer(TrainerConfig(
        epochs=epochs, metrics_config=MetricsConfig(
            enable_metrics=True, enable_profiler=True,
            enable_gpu_monitoring=True, profiler_export_interval=20,
            auto_disable_on_slow=False)))
    training = trainer.train()
    for epoch in training.history:
        print(f"epoch {epoch.epoch}: loss {epoch.loss:.4f}, "
              f"F1 {epoch.val_f1:.3f}, {epoch.total_time * 1e3:.1f} ms, "
              f"forward {epoch.forward_time * 1e3:.1f} ms")
    load = trainer.gpu_monitor.gpu_utilization
    print("GPU:", "not available" if load != load else f"{load:.0f} %")
    for name, stats in trainer.metrics.component_stats().items():
        print(f"{name}: {stats['count']} times "
              f"{stats['mean'] * 1e3:.3f} ms")
    print("weights:", [round(weight, 2) for weight in trainer.weights])
    print("results:", training.csv)


if __name__ == "__main__":
    main()
