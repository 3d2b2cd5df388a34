#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tare alloc: places, paths, leaks, peaks and differences; and the totals
# against another tool's.
. "$(dirname "$0")/expect.sh"
needs_names

PRELOAD=$(dirname "$TARE")/../preload/libtare-alloc.so
if [ ! -e "$PRELOAD" ] || [ -n "$(nm -D "$PRELOAD" | grep __asan_init)" ]; then
	echo "1..0 # SKIP no libtare-alloc.so, or with a sanitizer in it"
	exit 0
fi

# noted MODE PROGRAM ARGUMENT...: runs it with its allocations noted.
noted() {
	local mode=$1
	shift
	env LD_PRELOAD="$PRELOAD" TARE=on TARE_REPORT=none TARE_ALLOC="$mode" \
		"$@"
}

cat >leaky.c <<'EOF'
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept[64];

__attribute__((noinline)) static void leak_here(int i)
{
	kept[i] = malloc(1000); /* line 9 */
}

__attribute__((noinline)) static void leak_there(int i)
{
	kept[i] = strdup("seventeen bytes."); /* line 14 */
}

__attribute__((noinline)) static void no_leak(void)
{
	void *volatile block = calloc(1, 100000);
	void *volatile other = malloc(10);

	free(other);
	free(block);
}

static void snapshot(const char *name)
{
	int (*take)(const char *);

	*(void **)(void *)&take = dlsym(RTLD_DEFAULT, "tare_alloc_snapshot");
	if (take)
		(void)take(name);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;

	no_leak();
	for (int i = 0; i < n; i++)
		leak_here(i);
	snapshot("middle");
	for (int i = 0; i < 5; i++)
		leak_there(32 + i);
	for (int i = 0; i < 3; i++) {
		free(kept[i]);
		kept[i] = NULL;
	}
	return 0;
}
EOF
"$CC" -g -O1 -fno-builtin -o leaky leaky.c -ldl || exit 1

# ---- places ----------------------------------------------------------------

expect_status 0 noted exact ./leaky
expect_is "$out$err" "" "the program prints what it prints"
expect_status 0 "$TARE" alloc
expect_has "$out" "live 6.92 KiB in 12" "what is live"
expect_has "$out" "peak 97.7 KiB" "what was at most"
expect_has "$out" "leak_here (leaky.c:9)" "a place by file and line"
expect_has "$out" "leak_there (leaky.c:14)" "strdup allocates for its caller"
expect_has "$out" "no_leak" "also what was freed"
first=$(printf '%s\n' "$out" | sed -n 3p)
expect_has "$first" "leak_here" "most live bytes come first"

expect_status 1 "$TARE" alloc --leaks
expect_has "$out" "leak_here" "what was never freed"
expect_has_not "$out" "no_leak" "and nothing else"
expect_status 0 "$TARE" alloc --peak --top 1
expect_has "$out" "no_leak" "what made the peak"
expect_has "$out" "more: --top 0" "and that there is more"
expect_status 0 "$TARE" alloc --by path
expect_has "$out" "leak_here (leaky.c:9) < main (leaky.c:" "a path of calls"
expect_status 0 "$TARE" alloc --by module
expect_has "$out" "leaky" "by module"
expect_status 0 "$TARE" alloc --sort count --top 1
expect_has "$out" "leak_here" "by count"
expect_status 0 "$TARE" alloc --sort temporary --top 1
expect_has "$out" "no_leak" "by what lives shortly"

expect_status 0 "$TARE" alloc --json
expect_json "$out" "d['totals']['allocs']" 17 "all of them"
expect_json "$out" "d['totals']['bytes']" 110095 "their bytes"
expect_json "$out" "d['totals']['live_bytes']" 7085 "live at the end"
expect_json "$out" "d['totals']['peak_bytes']" 100010 "at most"
expect_json "$out" "d['totals']['is_estimate']" False "and exactly so"
expect_json "$out" "sum(r['allocs'] for r in d['rows'])" 17 "rows add up"
expect_json "$out" "sum(r['bytes'] for r in d['rows'])" 110095 \
	"rows add up in bytes"
expect_json "$out" "sum(r['peak_bytes'] for r in d['rows'])" 100010 \
	"rows at the peak are the peak"
expect_json "$out" "[s['name'] for s in d['snapshots']]" "['middle']" \
	"snapshots"

# ---- differences -----------------------------------------------------------

expect_status 0 "$TARE" alloc --diff middle end
expect_has "$out" "-2.93 KiB" "freed since"
expect_has "$out" "+85 B" "allocated since"
expect_has "$out" "-3" "and how many"
expect_has_not "$out" "no_leak" "what did not change is left out"
expect_status 0 "$TARE" alloc --diff end middle
expect_has "$out" "+2.93 KiB" "the other way round"
one=$("$TARE" ls --json | "$PYTHON" -c '
import json, sys
print(json.load(sys.stdin)["runs"][0]["id"])' 2>/dev/null ||
	"$TARE" ls | sed -n 2p | cut -d' ' -f1)
expect_status 0 noted exact ./leaky 20
expect_status 0 "$TARE" alloc --diff "$one" last
expect_has "$out" "+9.77 KiB" "between two runs"
expect_has "$out" "+10" "and how many"
expect_status 0 "$TARE" alloc --diff "$one" last --json
expect_json "$out" "[r['to']['live'] - r['from']['live'] for r in d['rows']]" \
	"[10]" "as JSON"

# ---- a child that becomes another program ----------------------------------

cat >become.c <<'EOF'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;

static void become(const char *how, const char *path)
{
	char *argv[] = { "true", "one", NULL }, *envp[] = { NULL };

	if (strcmp(how, "execve") == 0)
		execve(path, argv, envp);
	else if (strcmp(how, "execv") == 0)
		execv(path, argv);
	else if (strcmp(how, "execvp") == 0)
		execvp(path, argv);
	else if (strcmp(how, "execvpe") == 0)
		execvpe(path, argv, envp);
	else if (strcmp(how, "execl") == 0)
		execl(path, "sh", "-c", "exit $#", "a", "b", "c", NULL);
	else if (strcmp(how, "execlp") == 0)
		execlp(path, "sh", "-c", "exit $#", "a", "b", "c", NULL);
	else if (strcmp(how, "execle") == 0)
		execle(path, "sh", "-c", "exit ${LD_PRELOAD:+1}$#", "a", "b",
		       "c", NULL, envp);
	else
		fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, envp);
}

/* HOW PATH: as vfork, too. */
int main(int argc, char **argv)
{
	int status = 0;
	pid_t pid;

	kept = malloc(100);
	pid = argc > 3 ? vfork() : fork();
	if (pid == 0) {
		if (argc <= 3)
			kept = malloc(1000);
		become(argv[1], argv[2]);
		if (errno != ENOENT && errno != EINVAL)
			_exit(99);
		kept = malloc(2000);
		_exit(98);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}
EOF
"$CC" -g -O1 -fno-builtin -w -o become become.c || exit 1
states() {
	"$TARE" ls --all | awk '$2 == "become" { print $4 }' | tr '\n' ' '
}
for how in "execve /bin/true 0" "execv /bin/true 0" "execvp true 0" \
	"execvpe true 0" "execl /bin/sh 2" "execlp sh 2" "execle /bin/sh 2" \
	"fexecve /bin/true 0"; do
	set -- $how
	rm -rf "$TARE_DIR"
	expect_status "$3" "$TARE" run --no-report --alloc -- ./become $1 $2
	expect_is "$(states)" "finished finished " \
		"$1 closes the ledger of a child that allocated"
	rm -rf "$TARE_DIR"
	expect_status "$3" "$TARE" run --no-report --alloc -- ./become $1 $2 v
	expect_is "$(states)" "finished " \
		"$1 in a child of vfork leaves its parent's alone"
	rm -rf "$TARE_DIR"
	expect_status 98 "$TARE" run --no-report --alloc -- \
		./become $1 ./nowhere
	expect_is "$(states)" "finished finished " \
		"$1 that fails changes nothing"
done
child=$("$TARE" ls --all | awk '$2 == "become" { print $1; exit }')
expect_status 0 "$TARE" alloc --json "$child"
expect_json "$out" "d['totals']['bytes']" 3000 "and the ledger goes on"

# ---- samples ---------------------------------------------------------------

expect_status 0 noted sampled ./leaky
expect_status 0 "$TARE" alloc
expect_has "$out" "estimated from samples: allocated ± " \
	"what is estimated says so"

# ---- C++ -------------------------------------------------------------------

if command -v "${CXX:-c++}" >/dev/null; then
	cat >words.cpp <<'EOF'
#include <map>
#include <memory>
#include <string>
#include <vector>

__attribute__((noinline)) static void fill(std::vector<std::string> &words)
{
	for (int i = 0; i < 1000; i++)
		words.push_back(std::string(100 + i % 7, 'x'));
}

__attribute__((noinline)) static void list(std::vector<int *> &numbers)
{
	for (int i = 0; i < 100; i++)
		numbers.emplace_back(nullptr);
}

int main()
{
	std::vector<std::string> words;
	std::vector<int *> numbers;
	std::map<int, std::string> index;

	fill(words);
	list(numbers);
	for (int i = 0; i < 500; i++)
		index[i * 7 % 501] = words[i];
	std::unique_ptr<int[]> block(new int[1000]);
	return block[0] == 77 && index.size() == 3;
}
EOF
	"${CXX:-c++}" -std=c++17 -g -O1 -o words words.cpp || exit 1
	expect_status 0 noted exact ./words
	expect_status 0 "$TARE" alloc --sort count
	expect_has "$out" "fill (words.cpp:9)" "new allocates for its caller"
	expect_has "$out" "list (words.cpp:15)" \
		"so do members of std, also those that return something"
	expect_has_not "$out" "::emplace_back" "none of these is a place"
fi

# ---- against another tool --------------------------------------------------

# dhat PROGRAM: "bytes blocks" in all, and at the peak.
dhat() {
	valgrind --tool=dhat --dhat-out-file=/dev/null "$@" 2>&1 >/dev/null |
		tr -d , | sed -n '
		s/.*Total: *\([0-9]*\) bytes in \([0-9]*\) blocks.*/\1 \2/p
		s/.*At t-gmax: *\([0-9]*\) bytes in \([0-9]*\) blocks.*/\1 \2/p'
}

ours() {
	"$TARE" alloc --json | "$PYTHON" -c '
import json, sys
t = json.load(sys.stdin)["totals"]
print(t["bytes"], t["allocs"])
print(t["peak_bytes"], t["peak_allocs"])'
}

cat >mixed.c <<'EOF'
#include <stdlib.h>
#include <string.h>

static void *block[1000];
static unsigned state = 1;

static unsigned dice(unsigned n)
{
	state = state * 1103515245u + 12345u;
	return (state >> 8) % n;
}

int main(void)
{
	for (int i = 0; i < 20000; i++) {
		unsigned at = dice(1000), n = 1 + dice(3000);

		switch (dice(5)) {
		case 0:
			free(block[at]);
			block[at] = malloc(n);
			break;
		case 1:
			free(block[at]);
			block[at] = calloc(n, 1 + dice(3));
			break;
		case 2:
			block[at] = realloc(block[at], n);
			break;
		case 3:
			free(block[at]);
			if (posix_memalign(&block[at], 64, n))
				return 1;
			break;
		default:
			free(block[at]);
			block[at] = NULL;
		}
	}
	return 0;
}
EOF
"$CC" -g -O1 -fno-builtin -o mixed mixed.c || exit 1
if command -v valgrind >/dev/null && valgrind --tool=dhat --version \
	>/dev/null 2>&1; then
	for program in mixed words; do
		[ -x "$program" ] || continue
		expect_status 0 noted exact "./$program"
		expect_is "$(ours)" "$(dhat "./$program")" \
			"$program: totals and peak are those of dhat"
	done
else
	echo "# SKIP no valgrind: totals are not compared with dhat's"
fi

# ---- what is not there -----------------------------------------------------

expect_status 0 env LD_PRELOAD="$PRELOAD" TARE=on TARE_REPORT=none \
	TARE_SAMPLE=1 ./mixed
expect_status 2 "$TARE" alloc --by colour
expect_status 2 "$TARE" alloc --diff middle
expect_has "$err" "wants two" "a difference has two sides"
expect_status 2 "$TARE" alloc one two
expect_status 3 "$TARE" alloc nonexistent
expect_status 3 "$TARE" alloc --diff nowhere end
expect_has "$err" "'nowhere' is no snapshot of the run, and no run" \
	"a snapshot that is not there"
# ---- what is no leak -------------------------------------------------------

cat >hello.c <<'EOF'
#include <locale.h>
#include <stdio.h>

int main(void)
{
	(void)setlocale(LC_ALL, "");
	printf("hello\n");
	return 0;
}
EOF
"$CC" -O1 -o hello hello.c
noted exact ./hello >/dev/null
expect_status 0 "$TARE" alloc --leaks
expect_has "$out" "ignored: " "what stdio keeps is said, in one line"
expect_status 1 "$TARE" alloc --leaks --no-ignore --by path
expect_has "$out" "_IO_file_doallocate" "and shown if wanted"
expect_status 0 "$TARE" alloc --leaks --json
expect_json "$out" "d['ignored']['live'] > 0, d['rows']" "(True, [])" "as JSON"

if command -v g++ >/dev/null; then
	cat >hello.cc <<'EOF'
#include <iostream>
#include <string>

int main()
{
	std::cout << std::string("hello, world of long texts ") << 1.5 << "\n";
	try {
		throw 7;
	} catch (int) {
	}
}
EOF
	for how in "" "-static-libstdc++"; do
		g++ -O1 $how -o hello_cc hello.cc 2>/dev/null || continue
		noted exact ./hello_cc >/dev/null
		expect_status 0 "$TARE" alloc --leaks
		expect_has "$out" "libstdc++ 71 KiB" "the pool of C++ $how"
	done
else
	expect_skip "no g++"
fi

noted exact ./leaky
expect_status 1 "$TARE" alloc --leaks
expect_has "$out" "leak_here" "a program's leaks are leaks"
expect_status 1 "$TARE" alloc --leaks --ignore 'leak_here'
expect_has_not "$out" "leak_here" "by its function one is ignored"
expect_has "$out" "leak_there" "and not the others"
expect_has "$out" "(--ignore 6.84 KiB" "which is said"
expect_status 0 "$TARE" alloc --leaks --ignore leak_here --ignore '*_there'
expect_status 0 "$TARE" alloc --leaks --ignore 'leaky'
printf '# known\n\nleak_here\n  leak_th*\n' >known.txt
expect_status 0 "$TARE" alloc --leaks --ignore-file known.txt
expect_has "$out" "--ignore-file " "also by a file"
expect_status 3 "$TARE" alloc --leaks --ignore-file nosuch.txt
expect_has "$err" "cannot open 'nosuch.txt'" "a missing file is an error"
head -c 70000 /dev/zero | tr '\0' x >long.txt
expect_status 2 "$TARE" alloc --leaks --ignore-file long.txt
expect_status 2 "$TARE" alloc --ignore x

# ---- several processes -------------------------------------------------------

cat >leaky.c <<'END'
#include <stdlib.h>
static volatile char *kept;
int main(void)
{
	for (int i = 0; i < 7; i++)
		kept = malloc(100000);
	kept = NULL;
	return 0;
}
END
$CC -g -O0 -o leaky leaky.c
expect_status 0 "$TARE" run --alloc -- sh -c './leaky; ./leaky; :'
expect_has "$err" "of 3 processes, added up" \
	"whose allocations the report has"
expect_status 1 "$TARE" alloc --leaks --json
expect_json "$out" \
	"sum(r['live'] for r in d['rows'] if 'leaky.c' in r['where'] or
	'main' in r['where'])" 14 "the leaks of all processes are added up"
expect_json "$out" "d['totals']['live_bytes'] >= 1400000" True "and totals"
expect_status 1 "$TARE" alloc --leaks
expect_has "$out" "processes, added up" "of how many processes"

# ---- a C++ module in a program of C ------------------------------------------

cat >module.cpp <<'END'
struct S {
	int *p;
	S() : p(new int[1000]) {}
	~S() { delete[] p; }
} s;
extern "C" int loaded() { return *(new int(42)); }
END
cat >loader.c <<'END'
#include <dlfcn.h>
int main(void)
{
	void *module = dlopen("./module.so", RTLD_NOW | RTLD_LOCAL);
	int (*loaded)(void) = 0;

	if (module)
		*(void **)&loaded = dlsym(module, "loaded");
	return loaded ? loaded() : 1;
}
END
${CXX:-c++} -shared -fPIC -o module.so module.cpp
$CC -o loader loader.c -ldl
expect_status 42 "$TARE" run --alloc --no-report -- ./loader

# ---- what grows to the end ---------------------------------------------------

cat >grows.c <<'END'
#include <stdlib.h>
static void *volatile kept[1004];
__attribute__((noinline)) static void leak(int i)
{
	kept[i] = malloc(64);
}
int main(void)
{
	free(malloc(100000));
	for (int i = 0; i < 1004; i++)
		leak(i);
	for (int i = 0; i < 1004; i++)
		kept[i] = realloc(kept[i], 104);
	return 0;
}
END
$CC -g -O0 -o grows grows.c
expect_status 0 "$TARE" run --alloc -- ./grows
expect_status 0 "$TARE" alloc --json
expect_json "$out" \
	"d['totals']['live_bytes'] <= d['totals']['peak_bytes']" True \
	"the peak is not below what is live at the end"
expect_json "$out" "sum(r['peak_bytes'] for r in d['rows']) >=
	d['totals']['live_bytes']" True "nor are its places"
expect_status 1 "$TARE" alloc --leaks
expect_has "$out" "leaked: 102 KiB in 1,004" "leaks have a sum"
expect_has_not "$out" "dl " "and what is ignored has words"

expect_status 0 "$TARE" run --alloc=sampled -- ./grows
expect_has "$err" "estimated from samples: all ± " \
	"an estimate has its error in the report"
expect_has "$err" "(95 %)" "which is not cut off"
finish
