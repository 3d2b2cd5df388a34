#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Python functions in `tare run`, without a package in the program. With
# another interpreter: TARE_TEST_PYTHON.
python=${TARE_TEST_PYTHON:-}
. "$(dirname "$0")/expect.sh"
python=${python:-$PYTHON}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
case $version in
3.1[0-4]) ;;
*)
	echo "1..0 # SKIP Python $version is not sampled"
	exit 77
	;;
esac

# Stacks of the newest run, one a line.
stacks() {
	"$TARE" export -F collapsed -u count last
}

# A regular expression that some line of $found matches.
expect_line() {
	printf '%s\n' "$found" | grep -Eq "$1"
	verdict $? "$2" "no line matches '$1' in:
$(printf '%s\n' "$found" | head -40)"
}

# ---- kinds of functions ----------------------------------------------------

expect_status 0 "$python" "$here/python_program.py" 0
alone=$out
expect_status 0 "$TARE" run --rate 1000 -- \
	"$python" "$here/python_program.py" 2
expect_is "$out" "$alone" "the program computes the same"
found=$(stacks)
p=python_program

name() { # of a method: 3.10 has no qualified names
	[ "$version" = 3.10 ] && printf '%s' "$p\\.${1##*.}" ||
		printf '%s' "$p\\.${1//./\\.}"
}
expect_line "$p\\.<module>;$p\\.main;$p\\.for_a_time;$p\\.everything;" \
	"from the module down"
expect_line "threading\\..*_bootstrap;.*$p\\.for_a_time;$p\\.everything;" \
	"in a thread, with its own beginning"
expect_line "($p\\.recursive;){31}$p\\.burn" "each level of a recursion"
expect_line "$p\\.consumes;$p\\.generated;$p\\.burn" "in a generator"
expect_line "$(name Shop.sell);$(name Shop.Shelf.größe);$p\\.burn" \
	"methods, with their classes and letters"
expect_line "$(name Shop.stock);$p\\.burn" "in a property"
expect_line "$(name 'decorated.<locals>.wrapper');$p\\.wrapped;$p\\.burn" \
	"behind a decorator"
expect_line "$p\\.sorts;.*$(name 'sorts.<locals>.<lambda>');$p\\.burn" \
	"called back by a function in C"
expect_line "$p\\.evaluates;<made here>\\.made;$p\\.burn" "made by exec"
expect_line "asyncio.*;$p\\.awaited;$p\\.burn" "in a coroutine"
expect_is "$(printf '%s' "$found" | grep -c _PyEval_)" 0 \
	"the evaluation loop is no function of the program"
expect_is "$("$TARE" report --json last | "$PYTHON" -c '
import json, sys
s = json.load(sys.stdin)["samples"]
print(s["python"], s["python_refused"] or "-",
      s["python_samples"] > 0.5 * s["samples"],
      s["python_unread"] < 0.05 * s["samples"])')" \
	"$version - True True" "most samples have Python functions"

# ---- files and lines -------------------------------------------------------

line() {
	grep -n "$1" "$here/python_program.py" | head -1 | cut -d: -f1
}

expect_status 0 "$TARE" report functions --json last
expect_json "$out" "next('%s:%d' % (f['file'].split('/')[-1], f['first_line'])
for f in d['samples']['functions'] if f['function'] == 'python_program.burn')" \
	"python_program.py:$(line '^def burn')" "file and line of a function"
lines="$(line '^def burn' | awk '{ print $1 + 2, $1 + 3 }')"
expect_json "$out" "str(next(f['line'] for f in d['samples']['functions']
if f['function'] == 'python_program.burn')) in '$lines'.split()" True \
	"and the line that took most of its time"
expect_status 0 "$TARE" report functions last
found=$out
expect_line "$p\.burn +$p\.py:" "in the report"
expect_status 0 "$TARE" tree last
expect_has "$out" "python_program.everything" "in the tree"
expect_status 0 "$TARE" flame -o flame.svg last
expect_has "$(cat flame.svg)" "python_program.everything" "in flame graphs"
expect_status 0 "$TARE" export -o run.speedscope.json -F speedscope last
expect_has "$(cat run.speedscope.json)" '"python_program.everything"' \
	"for speedscope"
expect_status 0 "$TARE" export -o run.pb.gz last
expect_has "$(gzip -dc run.pb.gz | tr -c '[:print:]' ' ')" \
	"python_program.everything" "for pprof"
expect_status 0 "$TARE" export -o run.trace.json last
expect_has "$(cat run.trace.json)" "python_program.everything" \
	"in Chrome traces"

# ---- names of threads ------------------------------------------------------

cat >named.py <<'END'
import concurrent.futures
import sys
import threading
import time

def burn(*unused):
    end = time.thread_time() + 0.1
    while time.thread_time() < end:
        sum(range(1000))

class Proxy:
    def __getattr__(self, name):
        raise SystemExit("asked for " + name)

    def start(self):
        import _thread
        lock = _thread.allocate_lock()
        lock.acquire()
        _thread.start_new_thread(lambda: (burn(), lock.release()), ())
        lock.acquire()

odd = threading.Thread(target=burn)
if sys.version_info < (3, 14): # which itself wants a text
    odd._name = 7
threads = [threading.Thread(target=burn, name=name) for name in
           ("loader", "größe", "worker-12", "worker-345", "n" * 3000)]
for thread in threads + [odd]:
    thread.start()
for thread in threads + [odd]:
    thread.join()
with concurrent.futures.ThreadPoolExecutor(3, "pool") as pool:
    list(pool.map(burn, range(6)))
Proxy().start()
many = [threading.Thread(target=len, args=("",), name="x" + chr(0x4e00 + i))
        for i in range(400)]
for thread in many:
    thread.start()
    thread.join()
print("done")
END
expect_status 0 "$TARE" run --rate 1000 -- "$python" named.py
expect_is "$out" "done" "threads of any name: the program is the same"
found=$(stacks)
for title in loader größe 'worker-\*' 'pool_\*'; do
	expect_line "^\[thread $title\];threading\..*named\.burn" \
		"a thread by its name: $title"
done
expect_is "$(printf '%s\n' "$found" | grep '^\[thread' |
	grep -v 'thread x[^;]*\]' |
	grep -vc 'größe\|loader\|nnn\]\|pool_\|worker-\|Thread-')" 0 \
	"what is no name is none"

# ---- waiting threads -------------------------------------------------------

expect_status 0 "$TARE" run --wall --rate 200 -- \
	"$python" "$here/python_program.py" 1
found=$(stacks)
expect_line "$p\\.waits;(.*;)?threading\\..*wait" "threads that wait"

# ---- processes -------------------------------------------------------------

cat >pool.py <<'END'
import multiprocessing
import sys

def count(n):
    total = 0
    for i in range(n):
        total += i % 3
    return total

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(count, [300000] * 8)))
END
for way in fork spawn; do
	expect_status 0 "$TARE" run -- "$python" pool.py $way
	expect_is "$out" 2400000 "a pool of $way computes the same"
	found=$("$TARE" report functions last)
	expect_line 'pool\.count +pool\.py:' "its workers' functions, by $way"
done

# ---- the end ---------------------------------------------------------------

expect_status 3 "$TARE" run --rate 2000 -- \
	"$python" "$here/python_program.py" 0.3 now
expect_is "$out" "$alone" "os._exit with threads that run"
found=$(stacks)
expect_line "$p\\.burn" "and its samples are there"

cat >ends.py <<'END'
import atexit
import threading
import time

class Late:
    def __del__(self):
        sum(i * i for i in range(200000))

def at_exit():
    sum(i * i for i in range(200000))

def for_ever():
    while True:
        sum(i * i for i in range(100))

late = Late()
late.itself = late
atexit.register(at_exit)
for _ in range(3):
    threading.Thread(target=for_ever, daemon=True).start()
time.sleep(0.2)
END
# 3.10 itself may crash here: a daemon thread takes the lock of an interpreter
# that is freed already (take_gil), the more often the longer the exit takes.
[ "$version" != 3.10 ] || sed -i s/daemon=True/daemon=False/ ends.py
[ "$version" != 3.10 ] || sed -i 's/while True/for _ in range(1000)/' ends.py
for _ in 1 2 3 4 5; do
	expect_status 0 "$TARE" run --wall --rate 4000 -- "$python" ends.py
done

# ---- as fast as it can -----------------------------------------------------

seconds=${TARE_TEST_PYTHON_SECONDS:-4}
expect_status 0 "$TARE" run --wall --rate 4000 -- \
	"$python" -X faulthandler "$here/python_stress.py" "$seconds"
expect_is "$out" "done" "functions that come and go: no crash"
stacks >stacks.txt
"$PYTHON" "$here/python_edges.py" <stacks.txt >edges.txt
verdict $? "no wrong name" "$(cat edges.txt)"

# ---- other interpreters ----------------------------------------------------

# fake VERSION EXTRA DEALLOC: a program that exports what an interpreter does.
fake() {
	cat >fake.c <<END
#include <time.h>
const unsigned long Py_Version = $1;
void *PyGILState_GetThisThreadState(void) { return (void *)8; }
int _Py_IsFinalizing(void) { return 0; }
static void gone(void *x) { (void)x; }
long PyCode_Type[64] = { [6] = ${3:-(long)gone} };
$2
int main(void)
{
	while (clock() < 100000)
		;
	return 0;
}
END
	"$CC" -O1 -rdynamic -o fake fake.c || echo "Bail out! no fake.c"
	expect_status 0 "$TARE" run -- ./fake
}

fake 0x030f00f0 ""
expect_has "$err" "Python 3.15: its functions are not shown, only 3.10 to" \
	"an unknown version is refused"
fake 0x030b00f0 "long _Py_RefTotal;"
expect_has "$err" "Python 3.11: its functions are not shown, it is a debug" \
	"a debug build is refused"
fake 0x030d00f0 'struct { char cookie[8]; long version, is_free_threaded; }
_PyRuntime = { "xdebugpy", 0, 1 };'
expect_has "$err" "Python 3.13: its functions are not shown, it is a free-" \
	"a free-threaded build is refused"
fake 0x030d00f0 "" 0
expect_has "$err" "it does not export what is needed" \
	"what is incomplete is refused"
fake 0x030d00f0 ""
expect_has_not "$err" "its functions are not shown" \
	"a state at a bad address is no crash"
finish
