#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that end before their first sample: what the library opens and maps
# in them, counted by a library of this test that stands between libc and the
# others.
. "$(dirname "$0")/expect.sh"

cat >opened.c <<'END'
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* One line for each file that is opened, to descriptor 9. */
static int note(const char *name, const char *path, int flags, mode_t mode)
{
	int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, name);

	if (write(9, path, strlen(path)) < 0 || write(9, "\n", 1) < 0)
		return next(path, flags, mode);
	return next(path, flags, mode);
}

#define NOTED(name) \
	int name(const char *path, int flags, ...) \
	{ \
		va_list list; \
		mode_t mode; \
\
		va_start(list, flags); \
		mode = flags & O_CREAT ? va_arg(list, mode_t) : 0; \
		va_end(list); \
		return note(#name, path, flags, mode); \
	}
#undef open
#undef open64
NOTED(open)
NOTED(open64)

#define MAPPED(name) \
	void *name(void *at, size_t n, int rights, int flags, int fd, \
		   off_t offset) \
	{ \
		void *(*next)(void *, size_t, int, int, int, off_t) = \
			dlsym(RTLD_NEXT, #name); \
\
		if (write(9, "(mapped)\n", 9) < 0) \
			return MAP_FAILED; \
		return next(at, n, rights, flags, fd, offset); \
	}
#undef mmap
#undef mmap64
MAPPED(mmap)
MAPPED(mmap64)
END
expect_status 0 $CC -shared -fPIC -o opened.so opened.c -ldl

# Only in `true`, behind the library of tare.
"$TARE" run --no-report -- sh -c 'LD_PRELOAD="$LD_PRELOAD:$0" exec /bin/true' \
	"$work/opened.so" 9>opened 2>/dev/null
expect_has "$(cat opened)" tare.conf "the test's library sees what is opened"
expect_has "$(cat opened)" /proc/self/statm "and the memory at the start"
seen=$(grep -v -e 'tare\.conf$' -e '^/proc/self/statm$' -e mapped \
	-e '^/proc/[0-9]*/fd/' opened)
expect_is "$seen" "" "a short program opens no ledger and no other file"

# A child of that program: even less.
"$TARE" run --no-report -- \
	sh -c 'LD_PRELOAD="$LD_PRELOAD:$0" /bin/true; exit 0' \
	"$work/opened.so" 9>opened 2>/dev/null
expect_has "$(cat opened)" tare.conf "the test's library is in the child"
expect_is "$(grep -v -e 'tare\.conf$' -e mapped -e '^/proc/[0-9]*/fd/' \
	opened)" "" "a short child reads no file of /proc"
expect_is "$(grep -c '^/proc/[0-9]*/fd/' opened)" 1 \
	"and writes one line for tare run"
n=$(grep -c mapped opened)
[ "$n" -gt 0 ] && [ "$n" -le 2 ]
verdict $? "a short child maps memory for the process and for the sampler" \
	"$n mappings"

# The library's path: by way of $ORIGIN, for programs of another C library; in
# children of glibc also the plain one, which the library removes.
cat >paths.c <<'END'
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* How many variables the kernel was given, and how many are left. */
int main(void)
{
	static char text[1 << 20];
	FILE *file = fopen("/proc/self/environ", "r");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	int given = 0, left = 0;
	for (char *at = text; at < text + n; at += strlen(at) + 1)
		given += strncmp(at, "LD_PRELOAD=", 11) == 0;
	for (char **at = environ; *at; at++)
		left += strncmp(*at, "LD_PRELOAD=$ORIGIN/", 19) == 0 ? 1 :
			strncmp(*at, "LD_PRELOAD=", 11) == 0 ? 100 : 0;
	printf("%d %d\n", given, left);
}
END
linker=$(readelf -lW "$(type -P true)" |
	sed -n 's/.*interpreter: \(.*\)\]/\1/p')
case $linker in
*/ld-linux*)
	expect_status 0 $CC -D_GNU_SOURCE -o paths paths.c
	ln -s "$linker" ld-other.so.1
	expect_status 0 $CC -D_GNU_SOURCE -o paths-other paths.c \
		-Wl,--dynamic-linker="$PWD/ld-other.so.1"
	expect_status 0 "$TARE" run --no-report -- ./paths
	expect_is "$out" "1 1" "the program has the library's path once"
	expect_status 0 "$TARE" run --no-report -- sh -c './paths; exit 0'
	expect_is "$out" "2 1" "its child got the plain one, and removed it"
	expect_status 0 "$TARE" run --no-report -- \
		sh -c 'sh -c "./paths; exit 0"; exit 0'
	expect_is "$out" "2 1" "that one's child, too"
	expect_status 0 "$TARE" run --no-report -- \
		sh -c 'LD_PRELOAD="$LD_PRELOAD:$0" ./paths; exit 0' \
		"$work/opened.so" 9>/dev/null
	expect_is "$out" "2 1" "also with another library behind it"
	expect_status 0 "$TARE" run --no-report -- sh -c './paths-other; exit 0'
	expect_is "$out" "1 1" "not for another loader, which it may stop"
	;;
*)
	expect_skip "not glibc"
	;;
esac

expect_status 0 "$TARE" run --no-report -- \
	sh -c 'i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done'
n=$(ls "$TARE_DIR"/live "$TARE_DIR"/runs 2>/dev/null | grep -c '\.tare$')
[ "$n" -le 1 ]
verdict $? "of 40 short children no ledger is left" "$n ledgers"

# ---- one calibration for programs that start soon after each other ----
cat >short.c <<'END'
#include <tare/probe.h>

int main(void)
{
	TARE_SCOPE("work");
	return 0;
}
END
"$CC" -std=c11 -I"$root/include" short.c "$LIB/libtare.a" -lpthread -o short ||
	{ echo "Bail out! cannot build short.c"; exit 1; }
TARE=on ./short
shared=$TARE_DIR/live/.calibration
[ -f "$shared" ]
verdict $? "the first program leaves its calibration" "$(ls "$TARE_DIR/live")"
TARE=on ./short
cat >cost.py <<'END'
import json, sys
d = json.load(sys.stdin)["run"]
print(d["inside_ns"], d["outside_ns"])
END
costs() {
	local id
	for id in $("$TARE" ls | awk '/short/ { print $1 }'); do
		"$TARE" report --json "$id" | "$PYTHON" cost.py
	done | sort | uniq -c | awk '{ print $1 }' | sort -rn | tr '\n' ' '
}
expect_is "$(costs)" "2 " "the second one uses it: the same costs"

for bad in "" x "$(head -c 4000 /dev/zero | tr '\0' y)"; do
	printf '%s' "$bad" >"$shared"
	before=$(cksum <"$shared")
	expect_status 0 env TARE=on ./short
	[ "$(cksum <"$shared")" != "$before" ]
	verdict $? "a damaged calibration of ${#bad} bytes is made again"
done
# Other options of a probe: another calibration.
before=$(cksum <"$shared")
TARE=on TARE_TRACE=1 ./short
[ "$(cksum <"$shared")" != "$before" ]
verdict $? "with a trace, the calibration is another one"

finish
