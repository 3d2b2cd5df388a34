#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare.torch: training loops of PyTorch, on the CPU.

Under an interpreter that has torch: this one, or Debian's with python3-torch.
"""

import importlib.util
import json
import logging
import os
import re
import socket
import subprocess
import sys
import unittest
from unittest import mock

OTHERS = ("/usr/bin/python3",)


def has_torch(python):
    return subprocess.run(
        [python, "-c", "import sys, torch; sys.exit(sys.version_info < "
         "(3, 10))"], capture_output=True, check=False).returncode == 0


if importlib.util.find_spec("torch") is None:
    for other in OTHERS:
        if not os.environ.get("TORCH_TEST_AGAIN") and has_torch(other):
            os.environ["TORCH_TEST_AGAIN"] = "1"
            os.execv(other, [other, *sys.argv])
    print("1..0 # SKIP no torch for Python 3.10 or later "
          "(apt install python3-torch)")
    sys.exit(0)

import package

import torch
from torch import nn

import tare
import tare.torch
from tare import _reading, _torch_memory, _training_config
from tare.training import MetricsConfig

torch.set_num_threads(1)
BATCHES, BATCH = 8, 4


def data():
    torch.manual_seed(7)
    xs = torch.randn(BATCHES * BATCH, 6)
    return torch.utils.data.TensorDataset(xs, xs.sum(1, keepdim=True))


def loader(**how):
    return torch.utils.data.DataLoader(data(), batch_size=BATCH, **how)


def model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(inplace=True),
                         nn.Linear(16, 1))


def train(net, optimizer, batches, each=1):
    """Each `each`-th batch changes the weights."""
    for i, (x, y) in enumerate(batches):
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        if (i + 1) % each == 0:
            optimizer.step()
            optimizer.zero_grad()


def weights(net):
    return [p.detach().clone() for p in net.parameters()]


def counted(name):
    found = tare.stats(name)
    return found.count if found else 0


class Case(unittest.TestCase):

    def setUp(self):
        tare.on()
        tare.clear()
        _training_config._told.clear()

    def run_one(self, each=1, config=None, **how):
        net = model()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
        batches = loader(**how)
        with tare.torch.watch(net, optimizer, batches,
                              config=config) as watch:
            train(net, optimizer, batches, each)
        return net, watch


class Phases(Case):

    def test_each_step_has_its_phases(self):
        _, watch = self.run_one()
        self.assertEqual(watch.steps, BATCHES)
        for phase, n in (("data", BATCHES + 1), ("forward", BATCHES),
                         ("backward", BATCHES), ("optimizer", BATCHES)):
            self.assertEqual(counted(phase), n, phase)
        self.assertEqual(tare.stats("steps").total, BATCHES)

    def test_nothing_changes(self):
        plain = model()
        optimizer = torch.optim.SGD(plain.parameters(), lr=0.01, momentum=0.9)
        train(plain, optimizer, loader())
        for config in (None, MetricsConfig(
                enable_metrics=True, collect_component_profiling=True,
                profiler_record_shapes=True, profiler_profile_memory=True)):
            net, _ = self.run_one(config=config)
            for a, b in zip(weights(plain), weights(net)):
                self.assertTrue(torch.equal(a, b))

    def test_workers_of_the_loader(self):
        _, watch = self.run_one(num_workers=2)
        self.assertEqual(watch.steps, BATCHES)
        self.assertEqual(counted("data"), BATCHES + 1)

    def test_gradients_that_are_accumulated(self):
        _, watch = self.run_one(each=4)
        self.assertEqual(watch.steps, BATCHES // 4)
        self.assertEqual(tare.stats("micro_batches").mean, 4)
        self.assertEqual(counted("backward"), BATCHES)
        self.assertEqual(counted("optimizer"), BATCHES // 4)

    def test_a_loader_of_any_kind(self):
        net = model()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        plain = list(loader())
        watch = tare.torch.watch(net, optimizer, plain)
        train(net, optimizer, watch.loader)
        watch.stop()
        self.assertEqual(counted("data"), BATCHES + 1)
        self.assertEqual(len(watch.loader), BATCHES)

    def test_a_model_that_does_not_train(self):
        net = model().eval()
        with tare.torch.watch(net), torch.no_grad():
            net(torch.zeros(2, 6))
        self.assertEqual(counted("evaluate"), 1)
        self.assertEqual(counted("forward"), 0)


class Left(Case):

    def test_all_is_left_as_it_was(self):
        backward = torch.autograd.backward
        net = model()
        optimizer = torch.optim.Adam(net.parameters())
        batches = loader()
        watch = tare.torch.watch(net, optimizer, batches, config=MetricsConfig(
            enable_metrics=True, collect_component_profiling=True))
        self.assertIn("step", vars(optimizer))
        watch.stop()
        self.assertNotIn("step", vars(optimizer))
        self.assertIs(type(batches), torch.utils.data.DataLoader)
        self.assertIs(torch.autograd.backward, backward)
        for module in net.modules():
            self.assertFalse(module._forward_hooks)
            self.assertFalse(module._forward_pre_hooks)
        train(net, optimizer, batches)
        self.assertEqual(watch.steps, 0)

    def test_schedulers_of_the_learning_rate(self):
        for is_before in (True, False):
            net = model()
            optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
            make = lambda: torch.optim.lr_scheduler.StepLR(  # noqa: E731
                optimizer, 1, 0.5)
            scheduler = make() if is_before else None
            with tare.torch.watch(net, optimizer) as watch:
                scheduler = scheduler or make()
                net(torch.zeros(2, 6)).sum().backward()
                optimizer.step()
                scheduler.step()
            self.assertEqual(watch.steps, 1)
            self.assertEqual(optimizer.param_groups[0]["lr"], 0.5)

    def test_mixed_precision(self):
        net = model()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        scaler = torch.cuda.amp.GradScaler(enabled=False)
        with tare.torch.watch(net, optimizer) as watch:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = net(torch.ones(2, 6)).sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        self.assertEqual(loss.dtype, torch.bfloat16)
        self.assertEqual((watch.steps, counted("backward")), (1, 1))


class Components(Case):
    config = MetricsConfig(enable_metrics=True,
                           collect_component_profiling=True)

    def test_time_of_each_module(self):
        self.run_one(config=self.config)
        for name in ("module 0", "module 1", "module 2"):
            self.assertEqual(counted(name), BATCHES, name)
        # The first module's input has no gradient: its end is not known.
        self.assertEqual(counted("module 2 backward"), BATCHES)
        self.assertGreater(tare.stats("module 2 backward").total, 0)

    def test_without_the_switch_there_are_none(self):
        self.run_one()
        self.assertEqual(counted("module 0"), 0)

    def test_shapes(self):
        config = MetricsConfig(enable_metrics=True, profiler_record_shapes=True,
                               collect_component_profiling=True)
        self.run_one(config=config)
        shapes = {r.attrs.get("shapes") for r in tare.records("module 0")}
        self.assertEqual(shapes, {"[(4, 6)]"})
        tare.clear()
        self.run_one(config=self.config)
        self.assertFalse([r for r in tare.records("module 0")
                          if "shapes" in r.attrs])

    def test_a_model_that_changes_between_steps(self):
        net = model()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        x = torch.ones(2, 6)
        with tare.torch.watch(net, optimizer, config=self.config) as watch:
            net(x).sum().backward()
            optimizer.step()
            net.append(nn.Linear(1, 1))
            del net[1]
            net(x).sum().backward()
            optimizer.step()
            self.assertTrue(watch.is_watching)
        self.assertEqual(watch.steps, 2)
        self.assertEqual(counted("forward"), 2)


class Faults(Case):

    def test_an_exception_in_the_model(self):
        class Bad(nn.Module):
            def forward(self, x):
                raise ArithmeticError("no")

        net = nn.Sequential(nn.Linear(6, 6), Bad())
        with tare.torch.watch(net, config=Components.config) as watch:
            for _ in range(3):
                with self.assertRaises(ArithmeticError):
                    net(torch.zeros(1, 6))
            self.assertTrue(watch.is_watching)
        self.assertEqual(counted("forward"), 3)
        self.assertEqual(tare.stats("forward").failures, 3)

    def test_an_error_of_tare_ends_the_watching_only(self):
        with mock.patch.object(_reading, "step",
                               side_effect=OSError("no disk")), \
                self.assertLogs("tare", logging.DEBUG) as logs:
            net, watch = self.run_one()
        self.assertFalse(watch.is_watching)
        told = [x for x in logs.output if "no disk" in x]
        self.assertEqual(len(told), 1)
        plain = model()
        optimizer = torch.optim.SGD(plain.parameters(), lr=0.01, momentum=0.9)
        train(plain, optimizer, loader())
        for a, b in zip(weights(plain), weights(net)):
            self.assertTrue(torch.equal(a, b))


class Memory(Case):

    def test_figures_of_the_allocator(self):
        stats = {"allocated_bytes.all.current": 600,
                 "allocated_bytes.all.peak": 700,
                 "reserved_bytes.all.current": 1000,
                 "reserved_bytes.all.peak": 1000,
                 "inactive_split_bytes.all.current": 250}
        self.assertEqual(_torch_memory.fragmentation(stats), 0.25)
        self.assertEqual(_torch_memory.fragmentation({}), 0)
        config = MetricsConfig(enable_metrics=True,
                               collect_memory_detailed=True)
        with mock.patch.multiple(torch.cuda, is_available=lambda: True,
                                 is_initialized=lambda: True,
                                 memory_stats=lambda: stats):
            self.run_one(config=config)
        self.assertEqual(tare.stats("torch.reserved").max, 1000)
        self.assertEqual(tare.stats("torch.allocated").count, BATCHES)
        self.assertEqual(tare.stats("torch.fragmentation").max, 0.25)


class Documents(Case):

    def test_the_examples_of_the_guide_run(self):
        path = os.path.join(package.ROOT, "docs", "guide", "gpu.md")
        with open(path, encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(),
                                re.M | re.S)
        self.assertEqual(len(blocks), 2)
        net = model()
        room = {"model": net, "loader": loader(), "tare": tare,
                "criterion": nn.functional.mse_loss,
                "optimizer": torch.optim.SGD(net.parameters(), lr=0.01)}
        for block in blocks:
            exec(block, room)   # pylint: disable=exec-used
        self.assertEqual(counted("optimizer"), BATCHES)


# ---- several processes -----------------------------------------------------

WORKER = """
import json, os, sys
import torch, torch.distributed as dist
from torch import nn
torch.set_num_threads(1)
import tare, tare.torch
rank = int(os.environ["RANK"])
dist.init_process_group("gloo")
torch.manual_seed(1)
net = nn.parallel.DistributedDataParallel(
    nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
watch = tare.torch.watch(net, optimizer) if sys.argv[1] == "yes" else None
torch.manual_seed(rank)
for _ in range(5):
    x = torch.randn(4, 6)
    ((net(x) - x.sum(1, keepdim=True)) ** 2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
total = torch.ones(1)
dist.all_reduce(total)
if watch:
    watch.stop()
names = ("ddp.allreduce", "ddp.bucket", "communication all_reduce",
         "backward", "optimizer")
found = {n: (tare.stats(n).count if tare.is_on() and tare.stats(n) else 0)
         for n in names}
found["total"] = total.item()
found["weights"] = [p.double().sum().item() for p in net.parameters()]
print(json.dumps(found))
dist.destroy_process_group()
"""


class Distributed(Case):

    def run_two(self, is_watched):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        workers = []
        for rank in range(2):
            env = dict(os.environ, RANK=str(rank), WORLD_SIZE="2",
                       MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
                       PYTHONPATH=package.PLACE, GLOO_SOCKET_IFNAME="lo")
            workers.append(subprocess.Popen(
                [sys.executable, "-c", WORKER, is_watched], env=env,
                stdout=subprocess.PIPE, text=True))
        found = []
        for worker in workers:
            out, _ = worker.communicate(timeout=300)
            self.assertEqual(worker.returncode, 0)
            found.append(json.loads(out.splitlines()[-1]))
        return found

    def test_two_processes_with_gloo(self):
        if not torch.distributed.is_available():
            self.skipTest("this torch has no torch.distributed")
        plain, watched = self.run_two("no"), self.run_two("yes")
        for rank in range(2):
            self.assertEqual(watched[rank]["weights"],
                             plain[rank]["weights"])
            self.assertEqual(watched[rank]["total"], 2)
            self.assertGreaterEqual(watched[rank]["ddp.allreduce"], 5)
            self.assertEqual(watched[rank]["ddp.bucket"],
                             watched[rank]["ddp.allreduce"])
            self.assertEqual(watched[rank]["communication all_reduce"], 1)
            self.assertEqual(watched[rank]["backward"], 5)
        self.assertEqual(watched[0]["weights"], watched[1]["weights"])


if __name__ == "__main__":
    package.main()
