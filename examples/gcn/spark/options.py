# SPDX-License-Identifier: Apache-2.0
"""Options of the trainer; those of the C trainers have the same names."""

import argparse


def _number(kind, least, most=None):
    def take(text):
        value = kind(text)
        if not value >= least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"'{text}' is out of range")
        return value
    take.__name__ = kind.__name__
    return take


def parse(words=None):
    """The options, or exits with what is wrong."""
    parser = argparse.ArgumentParser(
        description="Trains a two-layer graph convolutional network on "
        "Spark.")
    add = parser.add_argument
    add("--master", help="local-cluster[2,1,1024], spark://host:7077; "
        "default: what spark-submit says, or local-cluster of the "
        "partitions")
    add("--partitions", type=_number(int, 1, 4096), default=2, metavar="N",
        help="into which the nodes are cut, one worker each (2)")
    add("--data", metavar="DIR",
        help="read nodes.csv, edges.csv and features.txt there")
    add("--nodes", type=_number(int, 10), default=2708, metavar="N",
        help="else make a graph of N nodes (2708)")
    add("--words", type=_number(int, 2, 1 << 24), default=1433, metavar="N")
    add("--classes", type=_number(int, 2, 1000), default=7, metavar="N")
    add("--graph-seed", type=_number(int, 0), default=1, metavar="N")
    add("--seeds", type=_number(int, 1), default=1, metavar="N",
        help="train N times, with seeds one after another (1)")
    add("--seed", type=_number(int, 0), default=1, metavar="N",
        help="the first of them (1)")
    add("--epochs", type=_number(int, 1), default=200, metavar="N")
    add("--hidden", type=_number(int, 1, 65536), default=16, metavar="N")
    add("--dropout", type=_number(float, 0, 0.99), default=0.5, metavar="P")
    add("--rate", type=_number(float, 0, 1000), default=0.01, metavar="R")
    add("--decay", type=_number(float, 0, 1000), default=5e-4, metavar="D")
    add("--results", default="results", metavar="DIR",
        help="folder of CSV files (results); '' for none")
    add("--name", help="DIR/NAME_metrics.csv (spark_N)")
    add("--events", metavar="DIR", help="write files for TensorBoard there")
    add("--losses", metavar="FILE", help="write the loss of each epoch there")
    add("--no-evaluation", action="store_true",
        help="only train, and evaluate after the last epoch")
    add("--quiet", action="store_true", help="only the last line")
    return parser.parse_args(words)
