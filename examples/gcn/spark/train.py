#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the graph convolutional network of ../ on Apache Spark.

    python3 train.py --data DIR --partitions 2
    python3 train.py --master spark://host:7077 --partitions 8 --data DIR
    python3 -m tare.spark run -- train.py --data DIR     # where its time goes

An epoch has three actions, each within the phase that it belongs to: Spark is
lazy, so a clock around a transformation would measure nothing. forward and
backward leave their results in the executors (persist), so that the action of
treeAggregate only moves gradients, and communication is broadcast() and that
action, not the computing.
"""

import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Sent to the executors.
MODULES = ("graph", "network", "randomness")


def _need(name, advice):
    try:
        return __import__(name)
    except ImportError:
        sys.exit(f"train.py: no Python package '{name}': {advice}")


np = _need("numpy", "pip install numpy")
pyspark = _need("pyspark", "pip install pyspark==3.5.6, with Java 17")
tare = _need("tare", "pip install ./bindings/python")

sys.path.insert(0, HERE)
import graph as graphs      # noqa: E402
import graph_make           # noqa: E402
import network              # noqa: E402
import options as options_of_run    # noqa: E402
import randomness           # noqa: E402


# ---- in the executors --------------------------------------------------------


def timed(function, *arguments):
    """(seconds, result): what an executor computes, without what Spark does
    around it."""
    begin = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - begin, result


def forward(part, weights, dropout):
    """(results for backward, loss, right, seconds, peak memory)"""
    seconds, (result, loss, right) = timed(network.forward, part, weights,
                                           dropout)
    return result, loss, right, seconds, peak_mb()


def backward(part, weights, dropout, result):
    """(gradients, seconds)"""
    seconds, gradients = timed(network.backward, part, weights, dropout,
                               result)
    return gradients, seconds


def peak_mb():
    """Peak memory of this Python worker. tare is not needed there."""
    try:
        with open("/proc/self/status", encoding="ascii") as lines:
            return next(int(line.split()[1]) / 1024 for line in lines
                        if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return 0.0


def add_scores(a, b):
    """Losses and counts add up; of time and memory the largest counts."""
    return a[0] + b[0], a[1] + b[1], max(a[2], b[2]), max(a[3], b[3])


def add_gradients(a, b):
    """None: nothing yet."""
    if a is None or b is None:
        return b if a is None else a
    return [one + other for one, other in zip(a, b)]


# ---- in the driver -----------------------------------------------------------


class Trainer:
    """One network after another, on one graph that the executors keep."""

    def __init__(self, context, options, graph):
        self.context, self.options, self.graph = context, options, graph
        self.n_train = graph.n_of(graphs.TRAIN)
        cut = graphs.cut(graph, options.partitions)
        self.rows = sum(part.n_far for part in cut)
        self.parts = context.parallelize(cut, options.partitions).persist()
        self.parts.count()      # the executors have it before the first epoch
        self.training = self.adam = None
        self.history = []
        self.computed = 0.0     # seconds, of the slowest partitions

    def begin(self, seed):
        """New weights, the same as those of the C trainers."""
        graph, hidden = self.graph, self.options.hidden
        self.adam = network.Adam([
            randomness.weights(graph.n_words, hidden,
                               randomness.mix(seed, 1)),
            randomness.weights(hidden, graph.n_classes,
                               randomness.mix(seed, 2))],
            self.options.rate, self.options.decay)

    def _forward(self, shared, dropout):
        passes = self.parts.map(
            lambda part: forward(part, shared.value, dropout)).persist()
        return passes, passes.map(lambda one: one[1:]).reduce(add_scores)

    def _backward(self, shared, dropout, passes):
        both = self.parts.zip(passes).map(
            lambda pair: backward(pair[0], shared.value, dropout,
                                  pair[1][0])).persist()
        return both, both.map(lambda one: one[1]).reduce(max)

    def evaluate(self):
        """Macro F1 of validation and test set, accuracy of the test set."""
        weights, n = self.adam.weights, self.graph.n_classes
        counts = self.parts.map(
            lambda part: network.confusions(part, weights)).reduce(
                lambda a, b: a + b)
        val, test = counts.reshape(2, n, n)
        return macro_f1(val), macro_f1(test), \
            float(np.trace(test) / test.sum())

    def epoch(self, seed, number, is_evaluated):
        """Trains once on all nodes; returns what was measured."""
        training = self.training
        dropout = network.Dropout(self.options.dropout, seed, number) \
            if self.options.dropout else None
        with training.epoch():
            with training.phase("broadcast"):
                shared = self.context.broadcast(self.adam.weights)
            with training.phase("forward"):
                passes, (loss, right, computed, peak) = self._forward(
                    shared, dropout)
            with training.phase("backward"):
                gradients, more = self._backward(shared, dropout, passes)
            with training.phase("gradient_aggregation"):
                total = gradients.map(lambda one: one[0]).treeAggregate(
                    None, add_gradients, add_gradients)
            with training.phase("update"):
                by_decay = self.adam.step(total)
            for one in passes, gradients, shared:
                one.unpersist()
            self.computed += computed + more
            training.values(loss=loss / self.n_train + by_decay,
                            train_acc=right / self.n_train,
                            computed_s=computed + more,
                            executor_peak_mb=peak)
            training.samples(self.graph.n_nodes)
            if is_evaluated:
                with training.pause("evaluation"):
                    val_f1, test_f1, accuracy = self.evaluate()
                training.values(val_f1=val_f1, test_f1=test_f1,
                                test_acc=accuracy)
        return training.history[-1], accuracy if is_evaluated else None


def macro_f1(matrix):
    """The mean of the classes' F1; absent ones do not count."""
    both = matrix.sum(axis=0) + matrix.sum(axis=1)
    return float((2 * np.diag(matrix)[both > 0] / both[both > 0]).mean())


def about(options, graph, seed):
    """Comment lines of the CSV file."""
    return {"workers": options.partitions, "processes": options.partitions,
            "seed": seed, "epochs": options.epochs, "nodes": graph.n_nodes,
            "edges": graph.n_edges, "words": graph.n_words,
            "classes": graph.n_classes, "hidden": options.hidden,
            "dropout": options.dropout, "learning_rate": options.rate,
            "weight_decay": options.decay,
            "data": options.data or "generated"}


def train_seed(trainer, seed, losses):
    """Returns the accuracy after the last epoch."""
    options = trainer.options
    trainer.begin(seed)
    with tare.Training(options.name or f"spark_{options.partitions}",
                       config=about(options, trainer.graph, seed),
                       results=options.results, events=options.events,
                       epochs=options.epochs) as training:
        trainer.training = training
        for number in range(1, options.epochs + 1):
            last, accuracy = trainer.epoch(
                seed, number,
                not options.no_evaluation or number == options.epochs)
            if losses:
                losses.write(f"{last.loss:.9g}\n")
        total = sum(one.total_time for one in training.history)
    trainer.history += training.history
    if not options.quiet:
        print(f"seed {seed}: loss {last.loss:.4f}, training accuracy "
              f"{last.train_acc:.4f}, macro F1 validation {last.val_f1:.4f} "
              f"test {last.test_f1:.4f}, test accuracy {accuracy:.4f}; "
              f"{total:.3f} s, {1e6 * total / options.epochs:.0f} us an "
              "epoch", flush=True)
    return accuracy


def open_context(options):
    """As spark-submit or --master says; else as many local executors as
    there are partitions."""
    from pyspark import SparkConf, SparkContext
    # The executors' Python must be this one, which has numpy.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf().setAppName("gcn").setIfMissing(
        "spark.ui.enabled", "false").setIfMissing(
        "spark.ui.showConsoleProgress", "false")
    if options.master:
        conf.setMaster(options.master)
    conf.setIfMissing("spark.master",
                      f"local-cluster[{options.partitions},1,1024]")
    context = SparkContext(conf=conf)
    context.setLogLevel("ERROR")
    for name in MODULES:
        context.addPyFile(os.path.join(HERE, f"{name}.py"))
    return context


def tell_costs(trainer):
    """What an epoch's time is spent on, in words."""
    n = len(trainer.history)

    def mean(column):
        return 1e3 * sum(getattr(one, column) for one in trainer.history) / n

    total, computed = mean("total_time"), 1e3 * trainer.computed / n
    print(f"{trainer.options.partitions} partitions hold {trainer.rows} rows "
          f"of {trainer.graph.n_nodes} nodes: copies of nodes that are two "
          "links away")
    print(f"an epoch takes {total:.1f} ms: action of forward "
          f"{mean('forward_time'):.1f}, of backward "
          f"{mean('backward_time'):.1f}; communication "
          f"{mean('comm_time'):.1f} (broadcast {mean('broadcast_time'):.1f}, "
          f"aggregation {mean('gradient_aggregation_time'):.1f}); update "
          f"{mean('update_time'):.1f}")
    print(f"the slowest partition computes {computed:.1f} ms of that: "
          f"{100 * (1 - computed / total):.0f} % of the time is Spark's, "
          "which starts tasks and moves weights, results and gradients")


def train(options, graph):
    """All seeds."""
    context = open_context(options)
    losses = open(options.losses, "w", encoding="ascii") \
        if options.losses else None
    try:
        trainer = Trainer(context, options, graph)
        results = [train_seed(trainer, options.seed + i, losses)
                   for i in range(options.seeds)]
    finally:
        context.stop()
        if losses:
            losses.close()
    if not options.quiet:
        tell_costs(trainer)
    print(f"test accuracy mean {statistics.fmean(results):.4f} sd "
          f"{statistics.stdev(results) if len(results) > 1 else 0:.4f} over "
          f"{len(results)} seeds")


def main():
    options = options_of_run.parse()
    try:
        if options.data:
            graph = graphs.read(options.data)
        else:
            graph = graph_make.make(options.nodes, options.words,
                                    options.classes, options.graph_seed)
        if graph.n_nodes < options.partitions:
            raise graphs.Fault(f"{graph.n_nodes} nodes are too few for "
                               f"{options.partitions} partitions")
    except graphs.Fault as fault:
        sys.exit(f"train.py: {fault}")
    train(options, graph)


if __name__ == "__main__":
    main()
