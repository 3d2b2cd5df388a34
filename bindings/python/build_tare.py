#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the Python package: a PEP 517 backend without requirements.

usage: build_tare.py FOLDER     builds the wheel into FOLDER

The package's C code is in three parts: the recorder and the reader, each
made into one file by tools/amalgamate.py, and the sources in src/. The list
of sources of the first two is read from src/meson.build; Meson itself is not
needed. In a source distribution both files are there already.

Why a backend of its own: pip, uv and `python -m build` fetch the usual ones
from PyPI, and a build must work without a network.

src/core becomes _tare.abi3.so, which all CPython from 3.10 on can load.
src/profile becomes _profile, which belongs to one version; a wheel with it is
for that version only.

Variables: CC, CFLAGS, LDFLAGS; TARE_WITHOUT_PROFILE=1 leaves _profile out;
TARE_OBJECTS is a folder of objects to use again, outside of a checkout.
"""

import base64
import concurrent.futures
import hashlib
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PARTS = ("tare", "tare_read")
ABI3 = "0x030A0000"
NAME = "tare"
WARNINGS = ["-Wall", "-Wextra", "-Werror=implicit-function-declaration"]
OPTIMISE = ["-O2", "-g0", "-fno-semantic-interposition",
            "-ffunction-sections", "-fdata-sections", "-fno-plt",
            "-ftls-model=initial-exec"]
LINK = ["-shared", "-pthread", "-Wl,-z,nodelete", "-Wl,--gc-sections",
        "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-s", "-Wl,--build-id=none"]
# A zip file needs a date; the same content gives the same wheel.
DATE = (1980, 1, 1, 0, 0, 0)


class Stop(Exception):
    """What went wrong, in words for the person who builds."""


def is_checkout():
    return os.path.exists(os.path.join(ROOT, "tools", "amalgamate.py"))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# ---- the recorder and the reader -------------------------------------------


def listed(text, name, ending):
    """The strings of a list in src/meson.build."""
    match = re.search(rf"^{name} = {ending}", text, re.M | re.S)
    if not match:
        raise Stop(f"src/meson.build has no list '{name}'")
    return re.findall(r"'([^']+)'", match.group(1))


def amalgamate(folder):
    """Makes tare.[ch] and tare_read.[ch] in `folder`."""
    text = read(os.path.join(ROOT, "src", "meson.build"))
    of = {name: listed(text, f"{name}_sources", r"files\((.*?)^\)")
          for name in ("shared", "record", "read")}
    seldom = []
    for start in listed(text, "small_code", r"\[(.*?)^\]"):
        seldom += ["--seldom", f"src/{start}"]
    for part, own in (("tare", "record"), ("tare_read", "read")):
        sources = [os.path.join(ROOT, "src", file)
                   for file in of["shared"] + of[own]]
        run([sys.executable, os.path.join(ROOT, "tools", "amalgamate.py"),
             "--root", ROOT, "--out", folder, "--name", part,
             *seldom, *sources])


def parts_folder(scratch):
    """Where tare.c and the others are; made if this is a checkout."""
    if is_checkout():
        folder = os.path.join(scratch, "amalgamation")
        amalgamate(folder)
        return folder
    folder = os.path.join(HERE, "amalgamation")
    if not os.path.exists(os.path.join(folder, "tare.c")):
        raise Stop("neither a checkout of tare nor a source distribution: "
                   f"'{folder}/tare.c' is not there")
    return folder


def version():
    header = os.path.join(ROOT, "include", "tare", "version.h")
    if not is_checkout():
        header = os.path.join(HERE, "amalgamation", "tare.h")
    match = re.search(r'#define TARE_VERSION "([^"]+)"', read(header))
    if not match:
        raise Stop(f"no TARE_VERSION in '{header}'")
    return match.group(1)


# ---- compiling -------------------------------------------------------------


def run(command):
    try:
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
    except OSError as error:
        raise Stop(f"cannot run '{command[0]}': {error.strerror}") from None
    if done.returncode:
        shown = " ".join(shlex.quote(word) for word in command[:4])
        raise Stop(f"failed: {shown} ...\n{done.stdout}")
    return done.stdout


def words(name, default=""):
    return shlex.split(os.environ.get(name, default))


def compiler():
    return words("CC", "cc")


def is_limited():
    """A free-threaded CPython has no stable ABI yet."""
    return not sysconfig.get_config_var("Py_GIL_DISABLED")


def python_header():
    folder = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(folder, "Python.h")):
        raise Stop(f"cannot find Python.h in '{folder}': install the headers "
                   "of this Python (Debian: python3-dev)")
    return folder


def content(path, folders):
    """All that a source includes by quotes, for the name of its object."""
    seen, todo, parts = set(), [path], []
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        text = read(at)
        parts.append(text)
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
            for folder in [os.path.dirname(at), *folders]:
                one = os.path.normpath(os.path.join(folder, name))
                if os.path.exists(one):
                    todo.append(one)
                    break
    return "".join(parts)


class Builder:
    """Compiles into objects that are kept: the next build is quick."""

    def __init__(self, scratch, kept):
        self.scratch = scratch
        self.kept = kept
        self.cc = compiler()
        self.parts = parts_folder(scratch)
        self.compiler = run(self.cc + ["--version"])

    def object_of(self, source, flags):
        folders = [self.parts, os.path.dirname(source),
                   os.path.join(HERE, "src")]
        command = self.cc + OPTIMISE + WARNINGS + [
            "-std=gnu11", "-fPIC", "-fvisibility=hidden", "-DNDEBUG",
            *[f"-I{folder}" for folder in folders], *flags,
            *words("CFLAGS")]
        if is_checkout():
            command.append(f"-ffile-prefix-map={ROOT}=.")
        command.append(f"-ffile-prefix-map={self.scratch}=.")
        # Folders say nothing: the content of what is included is in the key.
        key = "\0".join(word for word in command if not word.startswith(
            ("-I", "-ffile-prefix-map")))
        key += python_tag() + self.compiler + content(source, folders)
        name = hashlib.sha256(key.encode()).hexdigest()[:32] + ".o"
        out = os.path.join(self.kept, name)
        if not os.path.exists(out):
            part = f"{out}.{os.getpid()}"
            run(command + ["-c", source, "-o", part])
            os.replace(part, out)
        return out

    def link(self, name, sources, flags, out):
        """The extension `name` from (source, more flags)."""
        workers = min(len(sources), os.cpu_count() or 1)
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            objects = list(pool.map(
                lambda one: self.object_of(one[0], flags + one[1]), sources))
        exports = os.path.join(self.scratch, f"{name}.map")
        with open(exports, "w", encoding="utf-8") as file:
            file.write(f"{{ global: PyInit_{name}; local: *; }};\n")
        run(self.cc + [f"-Wl,--version-script={exports}", "-o", out, *objects,
                       *LINK, *words("LDFLAGS")])
        return out


def python_tag():
    """Its headers are not in the key."""
    return sysconfig.get_config_var("SOABI") or sys.version


def own_sources(folder):
    path = os.path.join(HERE, "src", folder)
    if not os.path.isdir(path):
        return []
    return [os.path.join(path, name) for name in sorted(os.listdir(path))
            if name.endswith(".c")]


def with_profile():
    return bool(own_sources("profile")) and \
        os.environ.get("TARE_WITHOUT_PROFILE") != "1"


def build_extensions(scratch, out):
    """Name in the package -> file, of all extensions."""
    kept = os.path.join(ROOT, "build", "python", "objects")
    if not is_checkout():
        kept = os.environ.get("TARE_OBJECTS",
                              os.path.join(scratch, "objects"))
    os.makedirs(kept, exist_ok=True)
    os.makedirs(out, exist_ok=True)
    builder = Builder(scratch, kept)
    include = [f"-I{python_header()}"]
    limit = [f"-DPy_LIMITED_API={ABI3}"] if is_limited() else []
    ending = ".abi3.so" if is_limited() else \
        sysconfig.get_config_var("EXT_SUFFIX")
    parts = [(os.path.join(builder.parts, f"{part}.c"), [])
             for part in PARTS]
    files = [builder.link(
        "_tare", parts + [(path, include + limit)
                          for path in own_sources("core")],
        [], os.path.join(out, f"_tare{ending}"))]
    if with_profile():
        name = "_profile" + sysconfig.get_config_var("EXT_SUFFIX")
        files.append(builder.link(
            "_profile", [(path, include) for path in own_sources("profile")],
            [], os.path.join(out, name)))
    return files


# ---- what is in the package ------------------------------------------------


def package_files():
    """Path in the wheel -> file."""
    found = {}
    for folder, _, names in os.walk(os.path.join(HERE, "tare")):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith((".py", ".pyi")) or name == "py.typed":
                found[os.path.relpath(path, HERE)] = path
    return found


def metadata():
    return (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\n"
            "Summary: Measures where a program's time and memory go\n"
            "License: Apache-2.0\nRequires-Python: >=3.10\n"
            "Classifier: Programming Language :: Python :: 3\n"
            "Classifier: Typing :: Typed\n")


def platform_tag():
    return re.sub(r"[-.]", "_", sysconfig.get_platform())


def tag():
    one = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    if not is_limited():
        return f"{one}-{one}t-{platform_tag()}"
    if with_profile():
        return f"{one}-{one}-{platform_tag()}"
    return f"cp310-abi3-{platform_tag()}"


def hash_of(data):
    digest = hashlib.sha256(data).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def put(archive, records, name, data, mode=0o644):
    info = zipfile.ZipInfo(name, DATE)
    info.external_attr = (0o100000 | mode) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data, compresslevel=9)
    records.append(f"{name},{hash_of(data)},{len(data)}")


def write_wheel(folder, files):
    """Writes the wheel of `files` (path in it -> bytes, mode); its name."""
    name = f"{NAME}-{version()}-{tag()}.whl"
    info = f"{NAME}-{version()}.dist-info"
    records = []
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for path, (data, mode) in sorted(files.items()):
            put(archive, records, path, data, mode)
        put(archive, records, f"{info}/METADATA", metadata().encode())
        wheel = ("Wheel-Version: 1.0\nGenerator: build_tare\n"
                 f"Root-Is-Purelib: false\nTag: {tag()}\n")
        put(archive, records, f"{info}/WHEEL", wheel.encode())
        records.append(f"{info}/RECORD,,")
        put(archive, [], f"{info}/RECORD",
            ("\n".join(records) + "\n").encode())
    return name


def data_of(path):
    with open(path, "rb") as file:
        return file.read()


# ---- the backend's hooks ---------------------------------------------------


def get_requires_for_build_wheel(config_settings=None):
    """Nothing."""
    return []


get_requires_for_build_sdist = get_requires_for_build_wheel
get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None,
                metadata_directory=None):
    """PEP 517."""
    files = {name: (data_of(path), 0o644)
             for name, path in package_files().items()}
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "out")
        for path in build_extensions(scratch, out):
            files[f"tare/{os.path.basename(path)}"] = (data_of(path), 0o755)
    return write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None,
                   metadata_directory=None):
    """PEP 660: the extensions are built into the source folder."""
    with tempfile.TemporaryDirectory() as scratch:
        build_extensions(scratch, os.path.join(HERE, "tare"))
    return write_wheel(wheel_directory,
                       {"tare_editable.pth": (f"{HERE}\n".encode(), 0o644)})


def sdist_files(scratch):
    """Path in the archive -> file."""
    found = package_files()
    for name in ("pyproject.toml", "build_tare.py"):
        found[name] = os.path.join(HERE, name)
    for folder, _, names in os.walk(os.path.join(HERE, "src")):
        for name in names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, HERE)] = path
    parts = parts_folder(scratch)
    for part in PARTS:
        for ending in (".c", ".h"):
            found[f"amalgamation/{part}{ending}"] = \
                os.path.join(parts, part + ending)
    licence = os.path.join(ROOT if is_checkout() else HERE, "LICENSE")
    if os.path.exists(licence):
        found["LICENSE"] = licence
    return found


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517."""
    top = f"{NAME}-{version()}"
    os.makedirs(sdist_directory, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        files = sdist_files(scratch)
        info = os.path.join(scratch, "PKG-INFO")
        with open(info, "w", encoding="utf-8") as file:
            file.write(metadata())
        files["PKG-INFO"] = info
        path = os.path.join(sdist_directory, f"{top}.tar.gz")
        with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
            for name, file in sorted(files.items()):
                archive.add(file, f"{top}/{name}", filter=plain)
    return f"{top}.tar.gz"


def plain(info):
    """No owner, no date: the same content gives the same archive."""
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    info.mode = 0o644
    return info


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        name = build_wheel(sys.argv[1])
    except Stop as stop:
        sys.exit(f"build_tare: {stop}")
    print(os.path.join(sys.argv[1], name))


if __name__ == "__main__":
    main()
