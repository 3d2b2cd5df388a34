#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tare trend: what changed, on a finished run whose end is slower.
. "$(dirname "$0")/expect.sh"

cat >slower.c <<'END'
#include <tare/tare.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(void)
{
	double start = now();

	while (now() - start < 5) {
		TARE_SCOPE("work");
		usleep(now() - start < 2 ? 500 : 20000);
	}
	return 0;
}
END
library=$LIB/libtare.so
[ -e "$library" ] || library=$LIB/libtare.a
"$CC" -std=c11 -D_GNU_SOURCE -O1 -I"$root/include" slower.c "$library" \
	-Wl,-rpath,"$LIB" -lpthread -o slower || exit 1
TARE=on ./slower

expect_status 0 "$TARE" trend -w 2s
expect_has "$out" "the last 2 s against the 2 s before" "says what"
expect_has "$out" "work" "names the series"
expect_status 0 "$TARE" trend --window 2s --json
expect_is "$("$PYTHON" -c "
import json, sys
work = json.loads(sys.argv[1])['series'][0]
print(work['name'], work['change'] > 1,
      work['before']['count'] > work['now']['count'] > 0,
      abs(work['now']['mean'] / work['before']['mean'] - 1 - work['change'])
      < 1e-9)" "$out")" "work True True True" "slower is slower, in numbers"
expect_status 0 "$TARE" trend -w 2s -N nothing
expect_has_not "$out" "work" "filters apply"
expect_status 2 "$TARE" trend -w 0
expect_has "$err" "a window of no length" "a window of no length"
expect_status 2 "$TARE" trend -w soon
expect_status 3 "$TARE" trend nonexistent
finish
