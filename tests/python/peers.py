# SPDX-License-Identifier: Apache-2.0
"""For tests that meet packages of PyPI: goes on in an environment with them.

    import peers          # before `import package`
    ...
    @peers.needs("pandas")
    def test_...

Without the registry the test goes on without them, and what needs them is
skipped.
"""

import importlib.util
import os
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PLACE = os.path.join(ROOT, "build", "venv-python")
PACKAGES = ("fastapi==0.115.6", "uvicorn==0.34.0", "Flask==3.1.0",
            "httpx==0.28.1", "pandas==2.2.3", "pyarrow==18.1.0",
            "scikit-learn==1.6.0", "jsonschema==4.23.0",
            "tensorboard==2.18.0", "pytest==8.3.4", "gunicorn==23.0.0",
            "py-spy==0.4.3")
MARK = "TARE_TEST_PEERS"


def go_on():
    """Starts this test again in the environment, once."""
    if MARK in os.environ:
        return
    os.environ[MARK] = "1"
    lock = open(f"{PLACE}.lock", "w", encoding="utf-8")
    try:
        import fcntl
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([os.path.join(ROOT, "tools", "venv"), PLACE,
                        *PACKAGES], timeout=600, check=False)
    except subprocess.TimeoutExpired:
        pass
    finally:
        lock.close()
    python = os.path.join(PLACE, "bin", "python")
    if os.path.exists(python):
        os.environ.pop("TARE_TEST_PACKAGE", None)
        os.execv(python, [python, *sys.argv])


def needs(*names):
    """Skips a test without these modules."""
    missing = [name for name in names
               if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


os.makedirs(os.path.dirname(PLACE), exist_ok=True)
go_on()
