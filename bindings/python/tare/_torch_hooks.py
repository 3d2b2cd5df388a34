# SPDX-License-Identifier: Apache-2.0
"""Phases of a training step, by hooks of torch or in place of its calls.

Only what one object or one module attribute offers is replaced, and put back
at the end; classes of torch are not changed.
"""

from __future__ import annotations

import functools
import threading
import time
import types
from typing import Any, Callable, Dict, List, Optional

from . import _reading
from ._training_config import DEBUG_PERFORMANCE, find_torch, tell_once

MODULES_MOST = 4096


class _Open(threading.local):
    """Scopes that hooks of this thread have opened, innermost last."""

    def __init__(self) -> None:
        self.stack: List[Any] = []


class Part:
    """One thing that is watched."""

    def __init__(self, watch: Any) -> None:
        self.watch = watch
        self.handles: List[Any] = []

    def begin(self) -> None:
        """May raise: then nothing is watched."""

    def step(self) -> None:
        """A step has ended."""

    def end(self) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles.clear()

    def safely(self, call: Callable[..., Any]) -> Callable[..., None]:
        """A hook whose error ends the watching, and returns None: hooks that
        return something change what torch does."""
        @functools.wraps(call)
        def hook(*args: Any) -> None:
            if not self.watch.is_watching:
                return
            try:
                call(*args)
            except Exception as error:  # pylint: disable=broad-except
                self.watch.give_up(call.__name__, error)
        return hook


class Scopes:
    """Scopes that begin in one hook and end in another."""

    def __init__(self) -> None:
        self.open = _Open()

    def enter(self, key: Any, name: str, **attributes: Any) -> None:
        scope = _reading.scope(name, **attributes)
        scope.__enter__()
        self.open.stack.append((key, scope))

    def leave(self, key: Any) -> None:
        """Also ends scopes inside, whose module raised an exception: torch
        calls no hook then."""
        stack = self.open.stack
        if not any(at is key for at, _ in stack):
            return
        while stack:
            at, scope = stack.pop()
            if at is not key:
                scope.fail("no end")
            scope.__exit__(None, None, None)
            if at is key:
                return

    def clear(self) -> None:
        while self.open.stack:
            _, scope = self.open.stack.pop()
            scope.fail("no end")
            scope.__exit__(None, None, None)


# ---- data ------------------------------------------------------------------


_END = object()


class _Batches:
    """An iterator whose __next__ is the scope `data`."""

    def __init__(self, part: "Loader", batches: Any) -> None:
        self._part = part
        self._batches = batches

    def __iter__(self) -> "_Batches":
        return self

    def __next__(self) -> Any:
        watch = self._part.watch
        if not watch.is_watching:
            return next(self._batches)
        with _reading.scope("data"):
            batch = next(self._batches, _END)
        if batch is _END:
            raise StopIteration
        try:
            watch.saw_batch(batch)
        except Exception as error:  # pylint: disable=broad-except
            watch.give_up("count samples", error)
        return batch

    def __len__(self) -> int:
        return len(self._batches)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batches, name)


class _Plain:
    """A loader of any kind, watched from outside."""

    def __init__(self, part: "Loader", loader: Any) -> None:
        self._part = part
        self._loader = loader

    def __iter__(self) -> Any:
        return _Batches(self._part, iter(self._loader))

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class Loader(Part):
    """The scope `data`. `for` asks the class for __iter__, not the object:
    a DataLoader gets a class of its own, derived from its class."""

    def __init__(self, watch: Any, loader: Any) -> None:
        super().__init__(watch)
        self.loader = loader
        self.watched = loader
        self.before: Optional[type] = None

    def begin(self) -> None:
        torch = find_torch()
        kind = type(self.loader)
        if not isinstance(self.loader, torch.utils.data.DataLoader):
            self.watched = _Plain(self, self.loader)
            return
        part = self

        def begin_batches(loader: Any) -> Any:
            return _Batches(part, kind.__iter__(loader))

        watched = type(kind.__name__, (kind,), {
            "__iter__": begin_batches, "__module__": kind.__module__})
        # DataLoader refuses some attributes after its construction.
        object.__setattr__(self.loader, "__class__", watched)
        self.before = kind

    def end(self) -> None:
        if self.before is not None:
            object.__setattr__(self.loader, "__class__", self.before)
            self.before = None


# ---- forward ---------------------------------------------------------------


def _is_compiled(model: Any) -> bool:
    return type(model).__name__ == "OptimizedModule"


def _tensors(value: Any, depth: int = 3) -> List[Any]:
    torch = find_torch()
    if isinstance(value, torch.Tensor):
        return [value]
    if depth and isinstance(value, dict):
        value = list(value.values())
    if depth and isinstance(value, (list, tuple)):
        return [one for each in value[:32] for one in _tensors(each,
                                                              depth - 1)]
    return []


class Modules(Part):
    """The scope `forward` (`evaluate`: a model that does not train), and one
    for each module inside, if components are profiled."""

    def __init__(self, watch: Any, model: Any) -> None:
        super().__init__(watch)
        self.model = model
        self.scopes = Scopes()
        self.names: Dict[int, str] = {}
        self.backward: Dict[str, float] = {}

    def begin(self) -> None:
        self.handles += [
            self.model.register_forward_pre_hook(self.safely(self._enter)),
            self.model.register_forward_hook(self.safely(self._leave))]
        if not self.watch.config.collect_component_profiling:
            return
        if _is_compiled(self.model):
            tell_once("torch compiled", DEBUG_PERFORMANCE,
                      "torch: the model is compiled: its modules are not "
                      "timed one by one, which would undo the compilation")
            return
        named = list(self.model.named_modules())
        for name, module in named[1:MODULES_MOST]:
            self._add_module(name, module)

    def _add_module(self, name: str, module: Any) -> None:
        self.names[id(module)] = name
        self.handles += [
            module.register_forward_pre_hook(self.safely(self._module_in)),
            module.register_forward_hook(self.safely(self._module_out))]

    def _enter(self, module: Any, _inputs: Any) -> None:
        # A step whose forward pass raised an exception has left scopes open.
        self.scopes.clear()
        self.scopes.enter(module,
                          "forward" if module.training else "evaluate")

    def _leave(self, module: Any, _inputs: Any, _output: Any) -> None:
        self.scopes.leave(module)

    def _module_in(self, module: Any, inputs: Any) -> None:
        name = self.names.get(id(module))
        if name is None:
            return
        attributes = {}
        if self.watch.config.profiler_record_shapes:
            shapes = [tuple(one.shape) for one in _tensors(inputs)]
            attributes["shapes"] = str(shapes)[:200]
        self.scopes.enter(module, f"module {name}", **attributes)

    def _module_out(self, module: Any, inputs: Any, output: Any) -> None:
        self.scopes.leave(module)
        name = self.names.get(id(module))
        if name is not None and not list(module.children()):
            self._time_backward(name, inputs, output)

    def _time_backward(self, name: str, inputs: Any, output: Any) -> None:
        """From the gradient of the output to that of the input. Hooks of
        tensors: those of modules forbid changes in place."""
        ends = [one for one in _tensors(output) if one.requires_grad]
        starts = [one for one in _tensors(inputs) if one.requires_grad]
        if not ends or not find_torch().is_grad_enabled():
            return
        began: Dict[str, float] = {}

        def come(_gradient: Any) -> None:
            began.setdefault("at", time.perf_counter())

        def go(_gradient: Any) -> None:
            at = began.pop("at", None)
            if at is not None and self.watch.is_watching:
                _reading.observe(f"module {name} backward",
                                 time.perf_counter() - at, "custom", "s")

        ends[0].register_hook(come)
        if starts:
            starts[0].register_hook(go)

    def end(self) -> None:
        super().end()
        self.scopes.clear()


# ---- backward --------------------------------------------------------------


class Backward(Part):
    """The scope `backward`: torch.autograd.backward, which Tensor.backward()
    calls by that name."""

    def __init__(self, watch: Any) -> None:
        super().__init__(watch)
        self.real: Any = None
        self.is_inside = _Inside()

    def begin(self) -> None:
        autograd = find_torch().autograd
        real = self.real = autograd.backward

        @functools.wraps(real)
        def backward(*args: Any, **named: Any) -> Any:
            if not self.watch.is_watching or self.is_inside.depth:
                return real(*args, **named)
            self.is_inside.depth += 1
            try:
                with _reading.scope("backward"):
                    result = real(*args, **named)
            finally:
                self.is_inside.depth -= 1
            self.watch.saw_backward()
            return result

        self.ours = backward
        autograd.backward = backward

    def end(self) -> None:
        autograd = find_torch().autograd
        # Somebody else may have put something in front of it since.
        if self.real is not None and autograd.backward is self.ours:
            autograd.backward = self.real
        self.real = None


class _Inside(threading.local):
    def __init__(self) -> None:
        self.depth = 0


# ---- optimizer -------------------------------------------------------------


class Optimizer(Part):
    """The scope `optimizer`, and the end of a step."""

    def __init__(self, watch: Any, optimizer: Any) -> None:
        super().__init__(watch)
        self.optimizer = optimizer
        self.had_own = False
        self.before: Any = None
        self.ours: Any = None

    def begin(self) -> None:
        optimizer = self.optimizer
        self.had_own = "step" in vars(optimizer)
        real = self.before = optimizer.step

        @functools.wraps(real)
        def step(_self: Any, *args: Any, **named: Any) -> Any:
            if not self.watch.is_watching:
                return real(*args, **named)
            with _reading.scope("optimizer"):
                result = real(*args, **named)
            try:
                self.watch.end_step()
            except Exception as error:  # pylint: disable=broad-except
                self.watch.give_up("end a step", error)
            return result

        # A method: learning rate schedulers take it apart.
        self.ours = types.MethodType(step, optimizer)
        optimizer.step = self.ours

    def end(self) -> None:
        if vars(self.optimizer).get("step") is not self.ours:
            return
        if self.had_own:
            self.optimizer.step = self.before
        else:
            del self.optimizer.step
