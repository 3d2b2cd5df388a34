#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs in other languages: names of their functions, in every output.
. "$(dirname "$0")/expect.sh"
needs_names

# every_output NAME MANGLED WHAT: NAME is in all outputs of the newest run, and
# MANGLED in none.
every_output() {
	local how text all="" bad=""
	for how in "report" "report --json" "tree" "flame" \
		"export -F collapsed" "export -F speedscope" \
		"export -F callgrind" "export -F pprof" \
		"alloc --by path" "flame --from alloc"; do
		# Compressed where it is for pprof; markup is no difference.
		text=$("$TARE" $how 2>&1 | { gzip -dcf || cat; } |
			tr -d '\0' | sed 's/&lt;/</g; s/&gt;/>/g')
		case $text in
		*"$1"*) ;;
		*) bad="$bad; none in $how" ;;
		esac
		case $text in
		*"$2"*) bad="$bad; mangled in $how" ;;
		esac
	done
	expect_is "$bad" "" "$3"
}

# ---- Rust ------------------------------------------------------------------

cat >rock.rs <<'END'
use std::time::{Duration, Instant};
mod shop {
    pub trait Price {
        fn price(&self, n: u64) -> u64;
    }
    pub struct Cart<T> {
        pub item: T,
    }
    impl<T: Copy + Into<u64>> Price for Cart<T> {
        #[inline(never)]
        fn price(&self, n: u64) -> u64 {
            let mut x: u64 = self.item.into();
            let mut seen: Vec<u64> = Vec::with_capacity(100);
            for i in 0..n {
                x = std::hint::black_box(x ^ (x << 7) ^ i);
            }
            seen.push(x);
            std::hint::black_box(&seen)[0]
        }
    }
}
use shop::Price;
fn main() {
    let cart = shop::Cart { item: 3u32 };
    let start = Instant::now();
    let mut sum = 0;
    while start.elapsed() < Duration::from_millis(500) {
        sum ^= cart.price(10000);
    }
    println!("{}", sum);
}
END
# rustup finds its compilers in the user's own home.
real_home=$(getent passwd "$(id -u)" | cut -d: -f6)
export RUSTUP_HOME=${RUSTUP_HOME:-$real_home/.rustup}
if ! command -v rustc >/dev/null; then
	expect_skip "no rustc"
elif [ "$HAS_RUST_NAMES" != yes ]; then
	expect_skip "this tare was built without libiberty"
elif ! rustc -O -g -C symbol-mangling-version=v0 -o rock rock.rs \
	>rustc.txt 2>&1; then
	expect_skip "rustc does not work: $(head -1 rustc.txt)"
else
	expect_status 0 "$TARE" run --alloc --no-report -- ./rock
	every_output "Price>::price" "_RN" \
		"Rust's newer names are readable everywhere"
	expect_status 0 "$TARE" report --json
	expect_has "$out" \
		"<rock::shop::Cart<u32> as rock::shop::Price>::price" \
		"whole where there is room"
	expect_status 0 "$TARE" tree
	expect_has "$out" "<Cart<> as Price>::price" "and shortened where not"

	# What the program asked for, not where Rust's libraries do the work.
	cat >paying.rs <<'END'
use std::collections::HashMap;
#[inline(never)]
fn count(n: u64) -> usize {
	let mut m: HashMap<u64, u64> = HashMap::new();
	for i in 0..n {
		*m.entry(i * 2654435761 % 50021).or_insert(0) += 1;
	}
	m.len()
}
#[inline(never)]
fn strings(n: usize) -> usize {
	let mut v = Vec::new();
	for i in 0..n {
		v.push(format!("item {}", i));
	}
	v.iter().map(|s| s.len()).sum()
}
fn main() {
	println!("{}", strings(50000) + count(3_000_000));
}
END
	rustc -O -g -o paying paying.rs
	expect_status 0 "$TARE" run --alloc --json=run.json -- ./paying
	expect_has "$err" "paying::count  paying.rs" \
		"the function that pays, in paths and functions"
	expect_has_not "$(grep -A30 "place" <<<"$err")" "alloc::" \
		"no place in Rust's libraries"
	expect_status 0 "$TARE" alloc --json
	expect_json "$out" "max(d['rows'], key=lambda r: r['allocs'])['where']
		.startswith('paying::strings')" True \
		"allocations are where the program made them"
	expect_json "$(cat run.json)" "[f['own_ns'] > .9 * f['total_ns']
		for f in d['report']['samples']['paid']
		if f['function'] == 'paying::count' and not f['called']]" \
		"[True]" "a function pays for the map that it uses"
fi

# ---- Go --------------------------------------------------------------------

mkdir go
cat >go/main.go <<'END'
package main

// #include <stdlib.h>
import "C"
import (
	"fmt"
	"time"
)

//go:noinline
func mix(n int) uint64 {
	x := uint64(n)
	for i := 0; i < 200000; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func fill(n int) uint64 {
	s := make([]uint64, 4096)
	for i := range s {
		s[i] = uint64(i * n)
	}
	return s[n%4096]
}

func main() {
	C.free(C.malloc(10)) // linked with libc
	start := time.Now()
	var s uint64
	for n := 0; time.Since(start) < 1500*time.Millisecond; n++ {
		s ^= mix(n)
		for k := 0; k < 20; k++ {
			s ^= fill(n + k)
		}
	}
	fmt.Println(s)
}
END
printf 'module shares\n\ngo 1.19\n' >go/go.mod

# NAME: its own share in per cent, by tare (with its error) and by perf.
share_by_tare() {
	"$TARE" report --json 2>/dev/null | "$PYTHON" -c "
import json, sys
rows = [f for f in json.load(sys.stdin)['samples']['functions']
	if f['function'] == '$1']
print(sum(100 * f['own_share'] for f in rows),
	sum(100 * f['own_error'] for f in rows))"
}
share_by_perf() {
	perf report -i perf.data --stdio --sort sym 2>/dev/null |
		awk -v name="$1" '$NF == name { sub("%", "", $1); sum += $1 }
			END { print sum + 0 }'
}

# Another program may disturb a run: three tries. Few samples are uncertain.
same_shares() {
	local try name
	for try in 1 2 3; do
		"$TARE" run --rate 1000 --no-report -- ./shares >/dev/null 2>&1
		perf record -q -e cpu-clock -F 999 -o perf.data ./shares \
			>/dev/null 2>&1
		for name in main.mix main.fill runtime.asyncPreempt; do
			echo "$try $name $(share_by_tare $name)" \
				"$(share_by_perf $name)"
		done >shares.txt
		sed 's/^/# try, name, tare, its error, perf: /' shares.txt
		awk '{ d = $3 - $5; most = 3 + 2 * $4 }
			d > most || d < -most { bad = 1 }
			END { exit bad }' shares.txt && return
	done
	return 1
}
if ! command -v go >/dev/null; then
	expect_skip "no go"
elif ! perf record -q -e cpu-clock -o perf.data true >/dev/null 2>&1; then
	expect_skip "no perf, or it may not sample"
elif ! (cd go && GOCACHE=$PWD/cache GOFLAGS= CGO_ENABLED=1 \
	go build -o ../shares .) >go.txt 2>&1; then
	expect_skip "go does not work: $(head -1 go.txt)"
else
	same_shares
	expect_is "$?" 0 "a Go program's shares are those of perf, +- 3 points"
fi

# ---- generated code --------------------------------------------------------

# A program that generates code: a copy of a function in memory of its own. It
# writes its perf map to the given place, or none.
cat >jit.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline, aligned(4096))) static unsigned work(unsigned n)
{
	for (unsigned i = 0; i < 100000; i++)
		__asm__ volatile("" : "+r"(n));
	return n;
}
__attribute__((aligned(4096))) static void after(void) {}
int main(int argc, char **argv)
{
	size_t size = 4096;
	char *code = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned (*call)(unsigned);
	char path[64];
	FILE *map;

	memcpy(code, (void *)work, size);
	__builtin___clear_cache(code, code + size);
	(void)mprotect(code, size, PROT_READ | PROT_EXEC);
	memcpy(&call, &code, sizeof(call));
	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if (argc > 1 && strcmp(argv[1], "link") == 0)
		(void)snprintf(path, sizeof(path), "perf-%d.txt",
			       (int)getpid());
	map = argc > 1 ? fopen(path, "w") : NULL;
	if (map) {
		fprintf(map, "%lx %zx JS:*generatedWork /app/hot.js:7:1\n",
			(unsigned long)code, size);
		fclose(map);
	}
	if (argc > 1 && strcmp(argv[1], "link") == 0) {
		char full[4096], at[64];

		(void)snprintf(at, sizeof(at), "/tmp/perf-%d.map",
			       (int)getpid());
		if (realpath(path, full))
			(void)symlink(full, at);
	}
	while ((double)clock() / CLOCKS_PER_SEC < 0.3)
		(void)call(1);
	printf("%d\n", (int)getpid());
	return (void *)after == NULL;
}
END
"$CC" -O1 -w -o jit jit.c || exit 1

expect_status 0 "$TARE" run -- ./jit map
expect_has "$err" " generatedWork " "generated code has the names of its map"
expect_has "$err" "hot.js:7" "with file and line"
rm -f "/tmp/perf-$out.map"
expect_status 0 "$TARE" report
expect_has "$out" " generatedWork " "also when the map is gone"
expect_status 0 "$TARE" flame
expect_has "$out" "generatedWork" "in all outputs"

expect_status 0 "$TARE" run -- ./jit
expect_has "$err" " [unknown]" "without a map all of it is one row"
expect_is "$(grep -c '\[unknown\] is code in no file' <<<"$err")" 1 \
	"and a line says how to get names"
expect_status 0 "$TARE" report functions
expect_has "$out" "a perf map (/tmp/perf-PID.map) or a jitdump" \
	"below all functions, too"
expect_has_not "$err" "generatedWork" "with no name of another process"

expect_status 0 "$TARE" run -- ./jit link
expect_has_not "$err" "generatedWork" "a link instead of a map is not followed"
rm -f "/tmp/perf-$out.map"

# Process ids are used again: a map of another time is of another process.
expect_status 0 "$TARE" run --no-report -- ./jit map
run=$("$TARE" ls 2>/dev/null | awk 'NR == 2 { print $1 }')
rm -f "$TARE_DIR/runs/$run.map"
expect_status 0 "$TARE" report
expect_has "$out" " generatedWork " "the map itself is read if nothing is kept"
pid=${run##*-}
touch -d '-1 hour' "/tmp/perf-$pid.map"
expect_status 0 "$TARE" report
expect_has_not "$out" "generatedWork" "not if it was written before the run"
touch "/tmp/perf-$pid.map"
if [ "$(id -u)" = 0 ]; then
	chown 65534 "/tmp/perf-$pid.map"
	expect_status 0 "$TARE" report
	expect_has_not "$out" "generatedWork" "nor if it is another user's"
else
	expect_skip "only root can give files away"
fi
rm -f "/tmp/perf-$pid.map"

cat >hot.js <<'END'
function inner(n) {
	let x = 0;
	for (let i = 0; i < n; i++)
		x = (x * 31 + i) | 0;
	return x;
}
function hotLoop(ms) {
	const start = Date.now();
	let s = 0;
	while (Date.now() - start < ms)
		s ^= inner(100000);
	return s;
}
hotLoop(700);
console.log(process.pid);
END
if command -v node >/dev/null; then
	expect_status 0 "$TARE" run -- node --perf-basic-prof hot.js
	expect_has "$err" "hot.js:1" "node: functions by its perf map"
	rm -f "/tmp/perf-$out.map"
	expect_status 0 "$TARE" run -- node --perf-prof hot.js
	expect_has "$err" "hot.js:1" "and by its jitdump"
	expect_status 0 "$TARE" run -- node hot.js
	expect_has "$err" "[JIT code: names by node --perf-basic-prof]" \
		"without one, the report says how to get names"
else
	expect_skip "no node"
fi

finish
