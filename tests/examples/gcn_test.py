#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs gcn_sequential and gcn_mpi: what they learn, write and refuse.

Cora is read from $TARE_CORA, or from shared/data/cora beside the checkout;
without it the accuracy on it is not checked, and that is said.
"""

import csv
import glob
import json
import os
import re
import shutil
import statistics
import sys

import measured

HEADER = ("epoch,total_time,forward_time,backward_time,comm_time,update_time,"
          "loss,train_acc,val_f1,test_f1,peak_memory_mb")
LAST = re.compile(r"^test accuracy mean ([0-9.]+) sd ([0-9.]+) over (\d+) "
                  r"seeds$")
RANK = re.compile(r"^rank (\d+) of (\d+): nodes (\d+) to (\d+), (\d+) of them;"
                  r" halo (\d+), edges (\d+); sent (\d+) bytes of rows, (\d+) "
                  r"of gradients, (\d+) of weights$")
MPI_ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1",
           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
           "OMPI_MCA_btl": "self,vader,tcp",
           "OMPI_MCA_mpi_yield_when_idle": "1"}

bench = measured.Bench()


def sequential(*options, **more):
    return bench.call([bench.program("gcn_sequential"), *options], **more)


def mpi(n, *options):
    return bench.call(["mpirun", "-n", str(n), bench.program("gcn_mpi"),
                       *options], **MPI_ENV)


def path(*names):
    return os.path.join(bench.folder, *names)


def read_csv(*names):
    """(comments, header, rows) of a run CSV file."""
    comments, lines = {}, []
    with open(path(*names), encoding="utf-8", newline="") as file:
        for line in file:
            if line.startswith("#"):
                key, _, value = line[1:].partition(":")
                comments[key.strip()] = value.strip()
            else:
                lines.append(line)
    return comments, lines[0].rstrip("\n"), list(csv.DictReader(lines))


def losses(name):
    with open(path(name), encoding="utf-8") as file:
        return [float(line) for line in file]


# ---- one process -----------------------------------------------------------

def check_run():
    run = bench.run([bench.program("gcn_sequential"), "--nodes", "2700",
                     "--epochs", "60", "--losses", "l0"])
    last = LAST.match(run.out.strip().split("\n")[-1])
    bench.check(run.status == 0 and last, "it ends with its accuracy",
                run.out + run.err)
    bench.check(last and float(last[1]) > 0.5, "and has learnt something",
                run.out)
    for name in ("epoch", "forward", "backward", "update", "evaluation"):
        bench.same(run.series(name).get("count"), 60,
                   f"'{name}' is measured in every epoch")
    bench.same(run.series("steps").get("count", run.series("steps").get(
        "sum")), 60, "every epoch is a step")
    bench.same(run.all_series("communication"), [],
               "and nothing is communicated")
    curve = losses("l0")
    bench.check(curve[-1] < 0.8 * curve[0], "the loss falls", curve[::10])


def check_csv():
    comments, header, rows = read_csv("results", "sequential_metrics.csv")
    bench.same(header, HEADER, "the header is that of all runs")
    bench.same([row["epoch"] for row in rows],
               [str(i) for i in range(1, 61)], "there is a row an epoch")
    bench.check({"config", "host", "date", "tare", "seed", "processes",
                 "total_training_time"} <= comments.keys()
                and comments["config"] == "sequential",
                "the configuration is in comments", comments)
    total = sum(float(row["total_time"]) for row in rows)
    bench.check(abs(float(comments["total_training_time"]) - total)
                < 1e-9 * total, "and so is the time in all", comments)
    bench.check(all(float(row["comm_time"]) == 0 for row in rows),
                "one process communicates for 0 s")
    off = [row for row in rows if not 0 < sum(float(row[name]) for name in (
        "forward_time", "backward_time", "update_time"))
        <= float(row["total_time"]) + 1e-12]
    bench.same(off, [], "phases are no more than the epoch")


def check_seeds():
    done = sequential("--nodes", "200", "--epochs", "20", "--seeds", "3",
                      "--losses", "l3", "--results", "many")
    bench.same(sorted(os.listdir(path("many"))),
               ["sequential_metrics.csv", "sequential_metrics_2.csv",
                "sequential_metrics_3.csv"], "every seed has a file")
    said = [float(text) for text in re.findall(r"test accuracy ([0-9.]+);",
                                               done.stdout)]
    last = LAST.match(done.stdout.strip().split("\n")[-1])
    bench.check(len(said) == 3 and abs(statistics.mean(said) - float(last[1]))
                < 1e-4 and abs(statistics.stdev(said) - float(last[2]))
                < 1e-3, "mean and spread are those of the seeds", done.stdout)
    sequential("--nodes", "200", "--epochs", "20", "--seed", "2", "--losses",
               "l2", "--results", "")
    bench.same(losses("l2"), losses("l3")[20:40],
               "a seed alone gives the same losses")
    bench.check(losses("l2") != losses("l3")[:20], "another one others")


def check_results():
    done = sequential("--nodes", "200", "--epochs", "20", "--seeds", "1",
                      "--results", "/proc/none")
    bench.check(done.returncode == 0 and done.stderr.count("\n") == 1
                and "cannot write into '/proc/none'" in done.stderr
                and LAST.match(done.stdout.strip().split("\n")[-1]),
                "no place for results: one message, and training goes on",
                done.stderr)
    program = bench.program("gcn_sequential")
    done = bench.call(["bash", "-c", f"ulimit -f 2; trap '' XFSZ; '{program}' "
                       "--nodes 200 --epochs 50 --results full"])
    bench.check(done.returncode == 0 and done.stderr.count("\n") == 1
                and "training goes on" in done.stderr,
                "a full disk: one message, and training goes on",
                done.stderr)


def check_options():
    for words, said in (
            (["--nodes", "x"], "--nodes: 'x' is no number from 10 to"),
            (["--nodes", "9"], "--nodes: '9' is no number from 10 to"),
            (["--epochs"], "--epochs: its value is missing"),
            (["--dropout", "1"], "--dropout: '1' is no number from 0 to"),
            (["--classes", "20", "--nodes", "10"], "20 classes need"),
            (["--what"], "no option '--what'")):
        done = sequential(*words)
        bench.check(done.returncode == 2 and said in done.stderr,
                    f"{' '.join(words)} is refused", done.stderr)


# ---- graphs ----------------------------------------------------------------

class Graph:
    """A small graph as text."""

    def __init__(self):
        splits = ["train"] * 8 + ["val"] * 4 + ["test"] * 8
        self.nodes = ["node,label,split"] + [
            f"{i},{i % 3},{split}" for i, split in enumerate(splits)]
        self.edges = ["a,b"] + [f"{i},{(i + 3) % 20}" for i in range(20)]
        self.features = [f"{i % 3} {3 + i % 5} {8 + i}" for i in range(20)]

    def write(self, name, end="\n"):
        folder = path(name)
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for file, lines in (("nodes.csv", self.nodes),
                            ("edges.csv", self.edges),
                            ("features.txt", self.features)):
            with open(os.path.join(folder, file), "w", encoding="utf-8",
                      newline="") as out:
                out.write("".join(line + end for line in lines))
        return folder


def broken(what, change, said):
    graph = Graph()
    change(graph)
    folder = graph.write("bad")
    done = sequential("--data", folder, "--results", "", "--epochs", "2")
    bench.check(done.returncode == 1 and f"{folder}/{said}" in done.stderr
                and done.stderr.count("\n") == 1 and not done.stdout,
                f"{what} is refused with its place", done.stderr)


def check_bad_graphs():
    def put(name, at, line):
        return lambda graph: getattr(graph, name).__setitem__(at, line)

    def cut(name, keep):
        return lambda graph: getattr(graph, name).__delitem__(
            slice(keep, None))

    cases = [
        ("a missing node", lambda g: g.nodes.pop(6),
         "nodes.csv:7: node 5 must be here, not 6"),
        ("a node out of nowhere", put("edges", 4, "3,20"),
         "edges.csv:5: there is no node 20, only 0 to 19"),
        ("a huge id", put("edges", 4, "3,99999999999999999999999"),
         "edges.csv:5: '99999999999999999999999': a node is too large"),
        ("an id of 2^32", put("edges", 4, "4294967296,3"),
         "edges.csv:5: there is no node 4294967296"),
        ("a huge node", put("nodes", 3, "18446744073709551617,1,train"),
         "nodes.csv:4: '18446744073709551617"),
        ("a duplicate edge", lambda g: g.edges.append("0,3"),
         "edges.csv:22: the edge 0,3 is there twice, first in line 2"),
        ("a duplicate edge the other way", put("edges", 9, "3,0"),
         "edges.csv:10: the edge 0,3 is there twice, first in line 2"),
        ("a label out of range", put("nodes", 4, "3,99,train"),
         "nodes.csv:5: label 99 is out of range: no node has label 3"),
        ("a label beyond all", put("nodes", 4, "3,1000,train"),
         "nodes.csv:5: label 1000 is out of range"),
        ("a label of -2", put("nodes", 4, "3,-2,"),
         "nodes.csv:5: label -2 is out of range"),
        ("a huge label", put("nodes", 4, "3,99999999999,train"),
         "nodes.csv:5: label 99999999999 is out of range"),
        ("a split without a label", put("nodes", 4, "3,-1,train"),
         "nodes.csv:5: node 3 is in a split and has no label"),
        ("an unknown split", put("nodes", 4, "3,0,dev"),
         "nodes.csv:5: 'dev': the split is"),
        ("no number as label", put("nodes", 4, "3,x,train"),
         "nodes.csv:5: 'x,train': a label and a comma must be here"),
        ("a line of one cell", put("edges", 4, "3"),
         "edges.csv:5: '3': a node and a comma must be here"),
        ("an edge of three", put("edges", 4, "3,4,5"),
         "edges.csv:5: '4,5': a node must be here"),
        ("a negative node", put("edges", 4, "-3,4"),
         "edges.csv:5: '-3,4'"),
        ("an empty nodes.csv", cut("nodes", 0), "nodes.csv: the file is empt"),
        ("an empty edges.csv", cut("edges", 0), "edges.csv: the file is empt"),
        ("no nodes", cut("nodes", 1), "nodes.csv: no nodes"),
        ("another header", put("edges", 0, "from,to"),
         "edges.csv:1: the first line must be 'a,b', not 'from,to'"),
        ("no training nodes", lambda g: g.nodes.__setitem__(
            slice(1, 9), [f"{i},{i % 3}," for i in range(8)]),
         "nodes.csv: no node is in split train"),
        ("a missing line of words", lambda g: g.features.pop(),
         "features.txt: 19 lines, but there are 20 nodes"),
        ("one line of words too many", lambda g: g.features.append("1"),
         "features.txt:21: there are only 20 nodes"),
        ("no number as word", put("features", 2, "1 two 3"),
         "features.txt:3: 'two': the number of a word must be here"),
        ("a huge word", put("features", 2, "1 99999999999999"),
         "features.txt:3: word 99999999999999 is out of range"),
        ("a word that is there twice", put("features", 2, "4 1 4"),
         "features.txt:3: word 4 is there twice"),
        ("a zero byte", put("edges", 4, "3,\0004"),
         "edges.csv:5: a zero byte"),
    ]
    for case in cases:
        broken(*case)
    done = sequential("--data", path("nowhere"), "--results", "")
    bench.check(done.returncode == 1 and "cannot open" in done.stderr
                and "No such file" in done.stderr, "no folder is told",
                done.stderr)


def check_odd_graphs():
    """Legal: no label outside the splits, no edges, no words, no split."""
    graph = Graph()
    graph.nodes += ["20,-1,", "21,2,"]
    graph.edges += ["4,4"]
    graph.features += ["", "  5   1 "]
    for end in ("\n", "\r\n"):
        done = sequential("--data", graph.write("odd", end), "--results", "",
                          "--epochs", "5", "--losses",
                          "odd" + str(len(end)))
        bench.check(done.returncode == 0 and LAST.match(
            done.stdout.strip().split("\n")[-1])
            and "1 edges from a node to itself" in done.stderr,
            "an odd graph is trained on", done.stdout + done.stderr)
    bench.same(losses("odd1"), losses("odd2"), "line ends change nothing")


# ---- several processes -----------------------------------------------------

def shares(n_nodes, edges, ranks):
    """Where shares of the same work begin: 6 a node, 1 an end of an edge."""
    work = [12] * n_nodes
    for a, b in edges:
        work[a] += 1
        work[b] += 1
    first, done = [0], 0
    for node, more in enumerate(work):
        if len(first) < ranks and node > first[-1] and \
                done >= sum(work) // ranks * len(first):
            first.append(node)
        done += more
    return first + [n_nodes]


def expected(n_nodes, edges, ranks):
    """(nodes, halo, edges, rows given away) of each rank, from the graph."""
    first = shares(n_nodes, edges, ranks)

    def owner(node):
        return next(i for i in range(ranks) if node < first[i + 1])

    needs = [set() for _ in range(ranks)]
    ends = [0] * ranks
    for a, b in edges:
        ends[owner(a)] += 1
        ends[owner(b)] += 1
        if owner(a) != owner(b):
            needs[owner(a)].add(b)
            needs[owner(b)].add(a)
    gives = [sum(owner(node) == i for need in needs for node in need)
             for i in range(ranks)]
    return [(first[i + 1] - first[i], len(needs[i]), ends[i], gives[i])
            for i in range(ranks)]


def write_ring():
    """A graph whose halo is easy to count: neighbours, and a few far ones."""
    graph, n = Graph(), 101
    split = ["train", "val", "test", ""]
    graph.nodes = ["node,label,split"] + [
        f"{i},{i % 3},{split[i % 4]}" for i in range(n)]
    pairs = sorted({tuple(sorted((i, (i + step) % n))) for i in range(n)
                    for step in (1, 7, 40) if (i * step) % 3 == 0})
    graph.edges = ["a,b"] + [f"{a},{b}" for a, b in pairs]
    graph.features = [f"{i % 3} {3 + i % 5} {8 + i % 30}" for i in range(n)]
    return graph.write("ring"), n, pairs


def check_ranks(folder, n_nodes, pairs, ranks, epochs=40):
    hidden, classes, words = 16, 8, 38  # classes: padded
    done = mpi(ranks, "--data", folder, "--epochs", str(epochs), "--losses",
               f"mpi{ranks}", "--results", "mpi")
    if not bench.check(done.returncode == 0, f"{ranks} ranks train",
                       done.stdout + done.stderr):
        return
    got = [[int(text) for text in match.groups()] for match in
           map(RANK.match, done.stdout.split("\n")) if match]
    wanted = expected(n_nodes, pairs, ranks)
    bench.same([(line[4], line[5], line[6]) for line in got],
               [row[:3] for row in wanted],
               f"each of {ranks} ranks owns its share of nodes and edges")
    # Training: sums, votes and both gradients; evaluation: sums, votes.
    a_row = 4 * (3 * hidden + 3 * classes)
    weights = 4 * (words * hidden + hidden * classes)
    bench.same([tuple(line[7:]) for line in got],
               [(row[3] * a_row * epochs, weights * epochs, weights)
                for row in wanted],
               f"each of {ranks} ranks sends what the others need")
    alone, together = losses("alone"), losses(f"mpi{ranks}")
    worst = max(abs(a - b) for a, b in zip(alone, together))
    bench.check(len(alone) == len(together) and worst < 1e-4,
                f"losses on {ranks} ranks are those of one process", worst)
    _, header, rows = read_csv("mpi", f"mpi_{ranks}_metrics.csv")
    bench.check(header == HEADER and len(rows) == epochs,
                f"{ranks} ranks write one file", header)
    bench.check(all(float(row["comm_time"]) > 0 for row in rows),
                "communication takes time")


def check_mpi():
    if not os.path.exists(bench.program("gcn_mpi")) or not shutil.which(
            "mpirun"):
        bench.check(True, "several ranks # SKIP no MPI (openmpi-bin, "
                    "libopenmpi-dev)")
        return False
    folder, n_nodes, pairs = write_ring()
    sequential("--data", folder, "--epochs", "40", "--losses", "alone",
               "--results", "")
    for ranks in (2, 3, 5):
        check_ranks(folder, n_nodes, pairs, ranks)
    done = mpi(1, "--data", folder, "--epochs", "40", "--losses", "mpi1",
               "--results", "mpi")
    bench.check(done.returncode == 0 and losses("mpi1") == losses("alone"),
                "one rank is one process", done.stderr)
    _, _, rows = read_csv("mpi", "mpi_1_metrics.csv")
    bench.check(all(float(row["comm_time"]) == 0 for row in rows),
                "and communicates for 0 s")
    graph = Graph()
    graph.edges.append("19,2")
    done = mpi(3, "--data", graph.write("bad"), "--results", "")
    bench.check(done.returncode != 0
                and done.stderr.count("edges.csv:22: the edge") == 1,
                "a bad graph is told once for all ranks", done.stderr)
    done = mpi(2, "--nodes", "x")
    bench.check(done.returncode != 0 and done.stderr.count("is no num") == 1,
                "and so is a bad option", done.stderr)
    check_compare()
    return True


def check_compare():
    """The documented command, on a small graph."""
    env = dict(MPI_ENV, GCN=bench.examples, RESULTS="compared")
    done = bench.call([os.path.join(measured.ROOT, "examples", "gcn",
                                    "compare.sh"), "1", "3", "--", "--nodes",
                       "300", "--epochs", "10", "--seeds", "2"], **env)
    bench.check(done.returncode == 0 and "EFFICIENCY" in done.stdout,
                "compare.sh ends with a table", done.stdout + done.stderr)
    with open(path("compared", "report.html"), encoding="utf-8") as page:
        bench.check(page.read().count("<svg ") >= 8,
                    "and with a page of plots", done.stdout)
    told = bench.call([bench.tare, "compare", "--json"]
                      + glob.glob(path("compared", "gcn_*")))
    configs = {c["name"]: c for c in json.loads(told.stdout)["configs"]}
    bench.same(list(configs), ["sequential", "mpi_1", "mpi_3"],
               "of all configurations")
    bench.same([c["runs"] for c in configs.values()], [2, 2, 2],
               "seeds are repeats")
    bench.check(configs["sequential"]["speedup"]["mean"] == 1
                and configs["mpi_1"]["comm_share"]["mean"] == 0
                and configs["mpi_3"]["comm_share"]["mean"] > 0,
                "speedup and communication are in it", told.stdout)
    losses = [c["loss"]["mean"] for c in configs.values()]
    bench.check(max(losses) - min(losses) < 1e-4,
                "all end with the same loss", losses)


# ---- Cora ------------------------------------------------------------------

def find_cora():
    for folder in (os.environ.get("TARE_CORA", ""), os.path.join(
            measured.ROOT, "..", "shared", "data", "cora")):
        if os.path.exists(os.path.join(folder, "nodes.csv")):
            return folder
    return None


def check_cora(has_mpi):
    folder = find_cora()
    if not folder:
        bench.check(True, "accuracy on Cora # SKIP no data (TARE_CORA)")
        return
    options = ["--data", folder, "--seeds", "10", "--quiet", "--results", "",
               "--no-evaluation"]
    runs = [("one process", sequential(*options, "--losses", "cora0"))]
    if has_mpi:
        runs += [(f"{n} ranks", mpi(n, *options, "--losses", f"cora{n}"))
                 for n in (1, 2, 4)]
    for name, done in runs:
        last = LAST.match(done.stdout.strip())
        bench.check(last and float(last[1]) >= 0.805 and last[3] == "10",
                    f"accuracy on Cora of {name}: {done.stdout.strip()}",
                    done.stderr)
    for n in (1, 2, 4) if has_mpi else ():
        worst = max(abs(a - b) for a, b in zip(losses("cora0"),
                                               losses(f"cora{n}")))
        bench.check(worst < 1e-4, f"losses on {n} ranks are those of one "
                    "process, all seeds", worst)


def main():
    check_run()
    check_csv()
    check_seeds()
    check_results()
    check_options()
    check_bad_graphs()
    check_odd_graphs()
    check_cora(check_mpi())
    return bench.finish()


if __name__ == "__main__":
    sys.exit(main())
