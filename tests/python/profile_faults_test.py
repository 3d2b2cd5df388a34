#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The profiler in programs that are in its way: other profilers, trace
functions and debuggers, deep recursion, threads at exit, forks."""

import importlib.util
import os
import subprocess
import sys
import sysconfig
import threading
import unittest

import package

import called_programs
from tare import _profile
from tare.profiling import Profile

EVENTS = _profile.events_engine

# A frame evaluation hook such as TorchDynamo's: counts, and calls the one
# before it.
HOST_HOOK = r"""
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_pystate.h>
#if PY_VERSION_HEX < 0x030b0000
typedef PyFrameObject frame;
#else
typedef struct _PyInterpreterFrame frame;
#endif
static _PyFrameEvalFunction before;
static unsigned long calls;
static PyObject *eval(PyThreadState *state, frame *f, int throws)
{
	calls++;
	return before(state, f, throws);
}
static PyObject *on(PyObject *self, PyObject *unused)
{
	PyInterpreterState *interp = PyInterpreterState_Get();

	before = _PyInterpreterState_GetEvalFrameFunc(interp);
	_PyInterpreterState_SetEvalFrameFunc(interp, eval);
	Py_RETURN_NONE;
}
static PyObject *off(PyObject *self, PyObject *unused)
{
	_PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), before);
	return PyLong_FromUnsignedLong(calls);
}
static PyObject *reset(PyObject *self, PyObject *unused)
{
	_PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(),
					     _PyEval_EvalFrameDefault);
	Py_RETURN_NONE;
}
static PyMethodDef methods[] = {
	{"on", on, METH_NOARGS, 0}, {"off", off, METH_NOARGS, 0},
	{"reset", reset, METH_NOARGS, 0}, {0}};
static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "hosthook", 0, -1, methods};
PyMODINIT_FUNC PyInit_hosthook(void) { return PyModule_Create(&module); }
"""


def host_hook():
    """A new copy of the module with a hook of the host."""
    source = os.path.join(package.SCRATCH, "hosthook.c")
    built = os.path.join(package.SCRATCH, "hosthook.so")
    if not os.path.exists(built):
        with open(source, "w", encoding="utf-8") as file:
            file.write(HOST_HOOK)
        subprocess.run(
            ["cc", "-w", "-O1", "-fPIC", "-shared", "-I",
             sysconfig.get_path("include"), source, "-o", built], check=True)
    spec = importlib.util.spec_from_file_location("hosthook", built)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fib_calls(profile):
    return profile.function("fib").calls


class OtherTools(unittest.TestCase):

    def test_two_profiles_at_once_are_refused(self):
        with Profile() as p:
            with self.assertRaisesRegex(ValueError, "already running"):
                Profile().enable()
            p.enable()
            called_programs.fib(5)
        self.assertEqual(fib_calls(p), 15)
        Profile().runcall(called_programs.fib, 1)

    def test_cprofile_outside(self):
        import cProfile
        outside = cProfile.Profile()
        outside.enable()
        with Profile() as p:
            called_programs.fib(5)
        outside.disable()
        self.assertEqual(fib_calls(p), 15)
        theirs = [entry.callcount for entry in outside.getstats()
                  if getattr(entry.code, "co_name", "") == "fib"]
        self.assertEqual(theirs, [15])

    def test_a_profile_function_of_the_host_goes_on(self):
        seen = []

        def host(frame, event, argument):
            if frame.f_code.co_name == "fib":
                seen.append(event)
        for has_builtins in (False, True):
            seen.clear()
            sys.setprofile(host)
            try:
                with Profile(has_builtins) as p:
                    called_programs.fib(5)
                    self.assertIs(sys.getprofile(), host)
                self.assertIs(sys.getprofile(), host)
                called_programs.fib(1)
            finally:
                sys.setprofile(None)
            self.assertEqual(fib_calls(p), 15)
            self.assertEqual(seen.count("call"), 16)

    def test_a_host_that_removes_the_profile_function(self):
        with Profile(engine=EVENTS) as p:
            called_programs.fib(5)
            sys.setprofile(None)
            called_programs.fib(5)
        self.assertIsNone(sys.getprofile())
        self.assertIn(fib_calls(p), (15, 30))
        self.assertEqual(fib_calls(p) == 15, bool(p.notes()))

    def test_a_trace_function_and_a_debugger_go_on(self):
        lines = []

        def trace(frame, event, argument):
            lines.append(event)
            return trace
        for engine in {"frame", EVENTS}:
            lines.clear()
            sys.settrace(trace)
            try:
                with Profile(engine=engine) as p:
                    called_programs.fib(5)
            finally:
                sys.settrace(None)
            self.assertEqual(fib_calls(p), 15)
            self.assertGreater(lines.count("line"), 15)

    def test_a_frame_hook_of_the_host_is_called_below(self):
        host = host_hook()
        host.on()
        with Profile(engine="frame") as p:
            called_programs.fib(5)
        self.assertEqual(p.engine, "frame")
        self.assertEqual(fib_calls(p), 15)
        self.assertGreaterEqual(host.off(), 15)

    def test_a_frame_hook_installed_while_running_stays(self):
        code = ("from profile_faults_test import *\n"
                "host = host_hook()\n"
                "p = Profile(engine='frame'); p.enable()\n"
                "host.on()\n"
                "called_programs.fib(5)\n"
                "p.disable()\n"
                "assert fib_calls(p) == 15, fib_calls(p)\n"
                "p = Profile(engine='frame'); p.enable()\n"
                "called_programs.fib(5)\n"
                "p.disable()\n"
                "assert p.engine != 'frame', p.engine\n"
                "assert fib_calls(p) == 15, fib_calls(p)\n"
                "assert host.off() >= 30\n")
        package.python(code, env=self.env())

    def test_a_host_that_resets_frame_evaluation(self):
        host = host_hook()
        with Profile(engine="frame") as p:
            called_programs.fib(5)
            host.reset()
            called_programs.fib(5)
        self.assertEqual(fib_calls(p), 15)
        self.assertIn("removed", " ".join(p.notes()))

    @staticmethod
    def env():
        return {"PYTHONPATH": os.pathsep.join(
            [package.PLACE, os.path.dirname(os.path.abspath(__file__))])}


class Limits(unittest.TestCase):

    def test_recursion_far_beyond_the_c_stack(self):
        """Python calls need no C stack in 3.11 and later; with a frame hook
        they would."""
        if sys.version_info < (3, 11):
            self.skipTest("the interpreter itself uses the C stack")
        code = ("import sys\n"
                "from tare.profiling import Profile\n"
                "sys.setrecursionlimit(200_000)\n"
                "def down(n):\n"
                "    return n and 1 + down(n - 1)\n"
                "with Profile(engine='frame') as p:\n"
                "    assert down(100_000) == 100_000\n"
                "row = p.function('down')\n"
                "assert row.calls == 100_001, row\n"
                "assert row.primitive_calls == 1, row\n"
                "assert 'C stack' in p.notes()[-1], p.notes()\n"
                "with Profile(engine='frame') as p:\n"
                "    down(10)\n"
                "assert p.function('down').calls == 11\n")
        package.python(code)

    def test_the_recursion_limit_is_that_of_the_program(self):
        code = ("from tare.profiling import Profile\n"
                "depth = 0\n"
                "def down():\n"
                "    global depth\n"
                "    depth += 1\n"
                "    down()\n"
                "def deepest():\n"
                "    global depth\n"
                "    depth = 0\n"
                "    try: down()\n"
                "    except RecursionError: pass\n"
                "    return depth\n"
                "bare = deepest()\n"
                "for engine in (None, 'frame'):\n"
                "    p = Profile(engine=engine); p.enable()\n"
                "    profiled = deepest()\n"
                "    p.disable()\n"
                "    assert bare == profiled, (bare, profiled)\n"
                "    assert p.function('down').calls == profiled\n")
        package.python(code)

    def test_a_million_code_objects(self):
        p = Profile(max_nodes=1000)
        p.enable()
        for _ in range(5000):
            exec("def f(): pass\nf()", {})
        p.disable()
        self.assertGreater(p.dropped_calls, 5000)


class Ends(unittest.TestCase):

    def check(self, code, **words):
        done = package.python(code, **words)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_exit_while_running(self):
        for engine in {"frame", EVENTS}:
            for end in ("pass", "import os; os._exit(0)",
                        "import sys; sys.exit(0)"):
                self.check("from tare.profiling import Profile\n"
                           f"p = Profile(engine={engine!r})\n"
                           "p.enable()\n"
                           "class Late:\n"
                           "    def __del__(self): sorted([3, 1])\n"
                           "late = Late()\n" + end)

    def test_threads_alive_at_exit(self):
        for builtins in (False, True):
            out = self.check(
                "import threading, time\n"
                "from tare.profiling import Profile\n"
                f"p = Profile({builtins}); p.enable()\n"
                "def forever():\n"
                "    while True: sum(x for x in range(10))\n"
                "def a_while(): time.sleep(0.2); print('done')\n"
                "for _ in range(3):\n"
                "    threading.Thread(target=forever, daemon=True).start()\n"
                "threading.Thread(target=a_while).start()\n"
                "time.sleep(0.05)\n")
            self.assertEqual(out, "done\n")

    def test_a_running_profile_that_is_dropped(self):
        p = Profile()
        p.enable()
        called_programs.fib(5)
        tree = p._tree
        del p
        tree.stop()
        p = Profile().runcall(called_programs.fib, 5)
        self.assertEqual(p, 5)

    def test_disable_in_a_nested_call_and_in_a_generator(self):
        p = Profile()

        def inner():
            p.disable()

        def numbers():
            p.enable()
            yield 1
            called_programs.fib(3)
            inner()
            yield 2
        list(numbers())
        called_programs.fib(3)
        self.assertEqual(fib_calls(p), 5)
        self.assertEqual(p.function("inner").calls, 1)

    def test_stop_by_another_thread(self):
        p = Profile()
        p.enable()
        stopped = threading.Event()

        def stop():
            p.disable()
            stopped.set()

        def waits():
            thread = threading.Thread(target=stop)
            thread.start()
            stopped.wait()
            thread.join()
        waits()
        row = p.function("waits")
        self.assertEqual(row.calls, 1)
        self.assertGreater(row.total_s, 0)

    def test_fork_while_running(self):
        for builtins in (False, True):
            out = self.check(
                "import os, sys, threading, time\n"
                "from tare.profiling import Profile\n"
                "def fib(n): return n if n < 2 else fib(n-1) + fib(n-2)\n"
                f"p = Profile({builtins}); p.enable()\n"
                "gate = threading.Event()\n"
                "other = threading.Thread(target=gate.wait); other.start()\n"
                "fib(5)\n"
                "child = os.fork()\n"
                "fib(5)\n"
                "if not child:\n"
                "    p.disable()\n"
                "    print(p.function('fib').calls, flush=True)\n"
                "    os._exit(0)\n"
                "os.waitpid(child, 0)\n"
                "gate.set(); other.join(); fib(5); p.disable()\n"
                "print(p.function('fib').calls)\n",
                env={"PYTHONWARNINGS": "ignore"})
            self.assertEqual(out, "30\n45\n")

    def test_an_extension_for_another_python(self):
        """Its file name belongs to one version: others do not find it."""
        name = os.path.basename(_profile.__file__)
        self.assertIn(sysconfig.get_config_var("SOABI"), name)


if __name__ == "__main__":
    package.main()
