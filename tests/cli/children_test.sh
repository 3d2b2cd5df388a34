#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that end before their first sample: what the library opens in them,
# counted by a library of this test that stands between libc and the others.
. "$(dirname "$0")/expect.sh"

cat >opened.c <<'END'
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
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
END
expect_status 0 $CC -shared -fPIC -o opened.so opened.c -ldl

# Only in `true`, behind the library of tare.
"$TARE" run --no-report -- sh -c 'LD_PRELOAD="$LD_PRELOAD:$0" exec /bin/true' \
	"$work/opened.so" 9>opened 2>/dev/null
expect_has "$(cat opened)" tare.conf "the test's library sees what is opened"
seen=$(grep -v -e 'tare\.conf$' -e '^/proc/self/statm$' opened)
expect_is "$seen" "" "a short program opens no ledger and no other file"

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
