#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the library into another project, in each way a user can.

usage: consume.py WAY SOURCE BUILD

WAY: pkgconfig flags cmake folders subproject amalgamation disabled macros.
Everything happens in a temporary folder; an installed copy is made there from
BUILD.
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
C_FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]
CPP_FLAGS = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror"]
STRICT = {
    "c": ["-Wpedantic", "-Wconversion", "-Wsign-conversion"],
    "c++": ["-Wpedantic", "-Wconversion", "-Wsign-conversion",
            "-Wold-style-cast"],
}
COMPILERS = [("gcc", "g++"), ("clang", "clang++")]


class Place:
    """Where the sources, the build and this test's folder are."""

    def __init__(self, source, build, temp):
        self.source, self.build, self.temp = source, build, temp
        self.here = os.path.join(source, "tests", "compile")
        self.consumer = os.path.join(self.here, "consumer.c")
        self.include = os.path.join(source, "include")

    def path(self, *parts):
        return os.path.join(self.temp, *parts)


def run(*command, **options):
    """Runs it and gives its output; prints that and stops on failure."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)
    if done.returncode:
        last = "\n".join(done.stdout.splitlines()[-40:])
        sys.exit(f"{' '.join(command)}\n{last}\n"
                 f"failed with status {done.returncode}")
    return done.stdout


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            print(f"no {program} here")
            sys.exit(SKIP)


def compilers():
    found = [pair for pair in COMPILERS if all(map(shutil.which, pair))]
    if not found:
        print("no compiler for C and C++ here")
        sys.exit(SKIP)
    return found


def check_consumer(place, program, library_path=None, has_reader=True):
    """Runs the consumer: its own words on stdout, and nothing else."""
    env = dict(os.environ, TARE_DIR=place.path("ledgers"))
    env.pop("TARE", None)
    env.pop("LD_LIBRARY_PATH", None) # a reader of the build's must not help
    if library_path:
        env["LD_LIBRARY_PATH"] = library_path
    output = run(program, env=env)
    end = "reported" if has_reader else "no reader"
    if not output.startswith("consumer of tare ") or \
            not output.strip().endswith(end):
        sys.exit(f"{program} printed:\n{output}")
    print(f"{os.path.basename(program)}: {output.strip()}")


def install(place):
    """An installed copy; gives the folder that has pkgconfig/ in it."""
    run("meson", "install", "-C", place.build, "--no-rebuild", "--quiet",
        "--destdir", place.path("root"))
    found = glob.glob(place.path("root", "**", "pkgconfig"), recursive=True)
    if len(found) != 1:
        sys.exit(f"pkgconfig folders in the installed copy: {found}")
    return os.path.dirname(found[0])


def use_pkgconfig(place):
    need("pkg-config")
    libdir = install(place)
    env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=place.path("root"),
               PKG_CONFIG_LIBDIR=os.path.join(libdir, "pkgconfig"))
    shared = run("pkg-config", "--cflags", "--libs", "tare", env=env).split()
    reads = ["-DCONSUMER_READS", *run(
        "pkg-config", "--cflags", "--libs", "tare-read", "tare",
        env=env).split()]
    static = run("pkg-config", "--cflags", "--libs", "--static", "tare-read",
                 "tare", env=env).split()
    if "-pthread" in shared or "-pthread" not in static:
        sys.exit(f"-pthread is for static linking: {shared} {static}")
    for c, cpp in compilers():
        run(c, *C_FLAGS, place.consumer, *shared, "-o", place.path(c))
        check_consumer(place, place.path(c), libdir)
        run(cpp, *CPP_FLAGS, "-x", "c++", place.consumer, "-x", "none",
            *shared, "-o", place.path(cpp))
        check_consumer(place, place.path(cpp), libdir)
        run(c, *C_FLAGS, place.consumer, *reads, "-o", place.path("reads"))
        check_consumer(place, place.path("reads"), libdir)
    # The archive by its name: -static would need all of libc static too.
    names = {"-ltare": "-l:libtare.a", "-ltare-read": "-l:libtare-read.a"}
    archives = [names.get(flag, flag) for flag in static]
    run("gcc", *C_FLAGS, "-DCONSUMER_READS", place.consumer, *archives, "-o",
        place.path("archives"))
    check_consumer(place, place.path("archives"))
    # The recorder alone measures, and says what is missing for a report.
    alone = [flag for flag in archives if flag != "-l:libtare-read.a"]
    run("gcc", *C_FLAGS, place.consumer, *alone, "-o", place.path("alone"))
    check_consumer(place, place.path("alone"), has_reader=False)
    said = run(place.path("alone"), env=dict(
        os.environ, TARE="1", TARE_DIR=place.path("ledgers"),
        LD_LIBRARY_PATH=""))
    if "see 'tare report " not in said:
        sys.exit(f"no word about 'tare report' without a reader:\n{said}")


def flags_of(program, *options):
    return run("sh", "-c", 'printf "%s\\n" ' + run(
        program, "flags", *options).strip()).splitlines()


def check_flags(place, program, name):
    """What `tare flags` prints is enough, and nothing need be set."""
    for options, has_reader in (([], True), (["--read"], True),
                                (["--static"], False),
                                (["--static", "--read"], True)):
        reads = ["-DCONSUMER_READS"] if "--read" in options else []
        target = place.path("-".join([name, *options]).replace("--", ""))
        run("gcc", *C_FLAGS, *reads, place.consumer,
            *flags_of(program, *options), "-o", target)
        check_consumer(place, target, has_reader=has_reader)
    for c, cpp in compilers():
        run(cpp, *CPP_FLAGS, "-x", "c++", "-c", place.consumer,
            *flags_of(program, "--cflags"), "-o", place.path("apart.o"))
        run(cpp, place.path("apart.o"), *flags_of(program, "--libs"),
            "-o", place.path(cpp))
        check_consumer(place, place.path(cpp))


def use_flags(place):
    """Installed, moved to another folder, and in the build folder."""
    install(place)
    program = glob.glob(place.path("root", "**", "bin", "tare"),
                        recursive=True)[0]
    check_flags(place, program, "installed")
    prefix = os.path.dirname(os.path.dirname(program))
    moved = place.path("moved to (here)")
    shutil.move(prefix, moved)
    program = os.path.join(moved, "bin", "tare")
    check_flags(place, program, "moved")
    check_flags(place, os.path.join(place.build, "cli", "tare"), "built")
    if not all(moved in flag for flag in flags_of(program)
               if flag != "-ltare"):
        sys.exit(f"flags of another folder: {flags_of(program)}")
    shutil.rmtree(os.path.join(moved, "include"))
    done = subprocess.run([program, "flags"], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 3 or done.stdout or \
            "cannot find '" not in done.stderr:
        sys.exit(f"without headers: {done}")


def build_by_cmake(place, prefix, folder):
    """The consumer, by find_package() of what is below a prefix."""
    shutil.copy(os.path.join(place.here, "cmake", "CMakeLists.txt"),
                place.temp)
    shutil.copy(place.consumer, place.temp)
    run("cmake", "-G", "Ninja", "-S", place.temp, "-B", folder,
        f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder)
    for name in ("with_shared", "with_static", "reads_shared",
                 "reads_static"):
        check_consumer(place, os.path.join(folder, name),
                       has_reader=name != "with_static")


def use_cmake(place):
    need("cmake", "ninja")
    install(place)
    prefix = os.path.dirname(glob.glob(
        place.path("root", "**", "include", "tare"), recursive=True)[0])
    build_by_cmake(place, os.path.dirname(prefix), place.path("build"))


def machine_with(place, name, script):
    """A machine with another dpkg-architecture; its environment."""
    folder = place.path(name)
    os.mkdir(folder)
    path = os.path.join(folder, "dpkg-architecture")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o755)
    return dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")


def lay_out(place, prefix, env, options):
    """What an installation puts where, without building it again: files that
    are built are those of BUILD."""
    build = os.path.join(env["PATH"].split(":")[0], "build")
    run("meson", "setup", build, place.source, "--prefix", prefix,
        *options, *(f"-D{part}=disabled"
                    for part in ("cli", "tests", "bench", "examples")),
        env=env)
    plan = json.loads(run("meson", "introspect", "--installed", build,
                          env=env))
    for file, target in plan.items():
        built = os.path.join(place.build, os.path.relpath(file, build))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.exists(file):
            shutil.copy(file, target)
        elif os.path.exists(built):
            shutil.copy(built, target)
        for link in glob.glob(glob.escape(built.rsplit(".so", 1)[0]) + ".so*"):
            if os.path.islink(link):
                shutil.copy(link, os.path.dirname(target),
                            follow_symlinks=False)
    return plan.values()


def use_folders(place):
    """With and without dpkg-dev, by `make install` and by Meson itself: CMake
    finds the package, pkg-config and the loader the folder of libraries."""
    need("cmake", "ninja", "pkg-config")
    known = run("pkg-config", "--variable", "pc_path", "pkg-config")
    machines = {"with": "cc -print-multiarch", "without": "exit 1"}
    for name, script in machines.items():
        env = machine_with(place, name, script)
        made = run(os.path.join(place.source, "tools", "libdir"), env=env)
        chosen = made.split() and ["--libdir", made.strip()]
        for way, options in (("make", chosen), ("meson", [])):
            env = machine_with(place, f"{name}-{way}", script)
            prefix = place.path(f"{name}-{way}", "usr", "local")
            targets = lay_out(place, prefix, env, options)
            build_by_cmake(place, prefix, place.path(f"{name}-{way}", "use"))
            folder = next(os.path.dirname(path) for path in targets
                          if path.endswith("tare.pc"))
            below = os.path.relpath(folder, prefix)
            print(f"{name} dpkg-dev, {way}: {below}")
            if (name, way) == ("without", "make") and \
                    f"/usr/local/{below}" not in known.strip().split(":"):
                sys.exit(f"pkg-config does not look in '{below}': {known}")


def use_subproject(place):
    shutil.copytree(place.source, place.path("subprojects", "tare"),
                    ignore=shutil.ignore_patterns("build", ".git"))
    shutil.copy(os.path.join(place.here, "subproject", "meson.build"),
                place.temp)
    shutil.copy(place.consumer, place.temp)
    for kind in ("shared", "static"):
        build = place.path(f"build-{kind}")
        run("meson", "setup", build, place.temp, f"-Ddefault_library={kind}")
        run("ninja", "-C", build)
        check_consumer(place, os.path.join(build, "consumer"))
        check_consumer(place, os.path.join(build, "alone"),
                       has_reader=kind == "shared")
        extra = glob.glob(os.path.join(build, "subprojects/tare/*"))
        names = {os.path.basename(path) for path in extra}
        if names & {"tests", "bench", "examples", "cli"}:
            sys.exit(f"a subproject should build the library alone: {names}")


def use_amalgamation(place):
    for name in ("tare.c", "tare.h", "tare_read.c", "tare_read.h"):
        shutil.copy(os.path.join(place.build, "src", name), place.temp)
    define = "-DCONSUMER_OF_TWO_FILES"
    for c, cpp in compilers():
        for name in ("tare", "tare_read"):
            run(c, *C_FLAGS, "-c", place.path(f"{name}.c"), "-o",
                place.path(f"{name}.o"))
        run(c, *C_FLAGS, define, "-I", place.temp, place.consumer,
            place.path("tare.o"), "-pthread", "-o", place.path(c))
        check_consumer(place, place.path(c), has_reader=False)
        run(c, *C_FLAGS, define, "-DCONSUMER_READS", "-I", place.temp,
            place.consumer, place.path("tare.o"), place.path("tare_read.o"),
            "-pthread", "-o", place.path("reads"))
        check_consumer(place, place.path("reads"))
        run(cpp, *CPP_FLAGS, define, "-I", place.temp, "-x", "c++",
            place.consumer, "-x", "none", place.path("tare.o"), "-pthread",
            "-o", place.path(cpp))
        check_consumer(place, place.path(cpp), has_reader=False)
        run(c, *C_FLAGS, "-Wpedantic", "-DTARE_DISABLE", "-c",
            place.path("tare.c"), "-o", place.path("off.o"))
        check_no_tare(place.path("off.o"))


def check_no_tare(file):
    symbols = run("nm", file)
    if "tare" in symbols:
        sys.exit(f"{file} has symbols of tare:\n{symbols}")


def without_probes(place):
    """probes.c with the lines of every probe removed."""
    lines, in_probe = [], False
    with open(os.path.join(place.here, "probes.c"),
              encoding="utf-8") as file:
        for line in file:
            if line.startswith("\t") and ("probe_" in line or
                    line.strip().startswith(("TARE_", "tare_"))):
                in_probe = True
            if not in_probe:
                lines.append(line)
            elif line.rstrip().endswith(";"):
                in_probe = False
    path = place.path("bare.c")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines)
    return path


def sizes_of(place, compiler, language, flags, source):
    """Bytes of code with constants, of data, and of zeroed data."""
    name = place.path("code.o")
    run(compiler, "-x", language, *flags, "-I", place.include, "-c", source,
        "-o", name)
    check_no_tare(name)
    return run("size", name).splitlines()[1].split()[:3]


def languages():
    for c, cpp in compilers():
        yield c, "c", C_FLAGS
        yield cpp, "c++", CPP_FLAGS


def use_disabled(place):
    """TARE_DISABLE: no symbol, and not a byte more than without probes."""
    probes = os.path.join(place.here, "probes.c")
    bare = without_probes(place)
    for compiler, language, flags in languages():
        for level in ("-O1", "-O2", "-Os"):
            off = sizes_of(place, compiler, language,
                           [*flags, level, "-DTARE_DISABLE"], probes)
            plain = sizes_of(place, compiler, language,
                             [*flags, level, "-DNO_PROBES"], bare)
            print(f"{compiler} {level}: {'/'.join(off)} bytes, "
                  f"{'/'.join(plain)} without probes")
            if off != plain:
                sys.exit("the sizes differ from those without probes")


def use_macros(place):
    """Every macro compiles without a warning, on and off."""
    probes = os.path.join(place.here, "probes.c")
    for compiler, language, flags in languages():
        for off in ([], ["-DTARE_DISABLE"]):
            run(compiler, "-x", language, *flags, *off, *STRICT[language],
                "-fsyntax-only", "-I", place.include, probes)
        if language == "c++":
            check_needs(compiler, place, probes)


def check_needs(compiler, place, source):
    """A program in C++14 gets one error, which says what to do."""
    done = subprocess.run(
        [compiler, "-x", "c++", "-std=c++14", "-fsyntax-only", "-Wall",
         "-I", place.include, source], text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    told = [line for line in done.stdout.splitlines()
            if "error:" in line or "warning:" in line]
    if done.returncode == 0 or len(told) != 1 or \
            "needs C++17: compile with -std=c++17 or later" not in told[0]:
        sys.exit(f"{compiler} -std=c++14:\n{done.stdout}")


WAYS = {
    "pkgconfig": use_pkgconfig,
    "flags": use_flags,
    "cmake": use_cmake,
    "folders": use_folders,
    "subproject": use_subproject,
    "amalgamation": use_amalgamation,
    "disabled": use_disabled,
    "macros": use_macros,
}


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in WAYS:
        sys.exit(__doc__)
    way, source, build = sys.argv[1:]
    # Flags of this build (a sanitizer's, say) are not the consumer's.
    for name in ("CFLAGS", "CXXFLAGS", "LDFLAGS", "CC", "CXX"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory(prefix="tare-consume-") as temp:
        WAYS[way](Place(os.path.abspath(source), os.path.abspath(build),
                        temp))


if __name__ == "__main__":
    main()
