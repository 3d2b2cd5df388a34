#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The profile of a region: tare_profile_start() to tare_profile_stop(), by
# samples and by the hooks of calls, in a program as a whole and in parts.
. "$(dirname "$0")/expect.sh"
needs_names

library=$LIB/libtare.so
[ -e "$library" ] || library=$LIB/libtare.a
cat >region.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <pthread.h>
#include <time.h>
#include <tare/tare.h>

#define NOINLINE __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

static volatile uint64_t sink;

UNSEEN static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Each is a copy, so that its time is its own. */
#define SPIN(ms) \
	for (double end_ = cpu_ms() + (ms); cpu_ms() < end_;) \
		for (int i_ = 0; i_ < 1000; i_++) \
			sink = sink * 3 + 1

NOINLINE static void leaf_in(void) { SPIN(1); }
NOINLINE static void inside(int ms) { leaf_in(); SPIN(ms); }
NOINLINE static void outside(int ms) { SPIN(ms); }
NOINLINE static void deeper(int ms)
{
	tare_profile_start();
	inside(ms);
	tare_profile_stop();
	outside(ms);
}

NOINLINE static void *work(void *arg)
{
	(void)arg;
	inside(150);
	return NULL;
}

/* 200 regions, each far shorter than the time between two samples. */
NOINLINE static void shorts(void)
{
	for (int i = 0; i < 200; i++) {
		outside(1);
		tare_profile_start();
		inside(1);
		tare_profile_stop();
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (strcmp(what, "nested") == 0) {
		outside(200);
		tare_profile_start();
		tare_profile_start();
		inside(100);
		tare_profile_stop();
		inside(100);
		tare_profile_stop();
		tare_profile_stop(); /* one too many: of no effect */
		outside(200);
		deeper(100);
	} else if (strcmp(what, "thread") == 0) {
		tare_profile_start();
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
		tare_profile_stop();
		outside(200);
	} else if (strcmp(what, "short") == 0) {
		shorts();
	} else if (strcmp(what, "without") == 0) {
		inside(200);
		tare_profile_stop();
		outside(200);
		tare_profile_start();
		inside(100);
	}
	return 0;
}
END
$CC -g -O1 -finstrument-functions -I"$root/include" -o region region.c \
	"$library" -Wl,-rpath,"$LIB" -lpthread -lm -ldl
expect_is "$(ls region)" region "the program is built"

# ms FUNCTION: of samples, its time in milliseconds
ms() {
	"$TARE" report --json | "$PYTHON" -c '
import json, sys
d = json.load(sys.stdin)
print(round(sum(f["total_ns"] for f in d.get("samples", {}).get("functions", [])
                if f["function"] == sys.argv[1]) / 1e6))' "$1"
}
# about TEXT LOW HIGH SENTENCE
about() {
	expect_is "$([ "$1" -ge "$2" ] && [ "$1" -le "$3" ] && echo yes ||
		echo "$1")" yes "$4"
}

expect_status 0 "$TARE" run --region --no-report -- ./region nested
about "$(ms inside)" 200 400 "what is inside has samples"
expect_is "$(ms outside)" 0 "what is outside has none"
expect_status 0 "$TARE" run --region --no-report -- ./region thread
about "$(ms inside)" 80 250 "a region has all threads of the process"
expect_is "$(ms outside)" 0 "and nothing behind it"
expect_status 0 "$TARE" run --region --no-report -- ./region short
expect_is "$(ms outside)" 0 "short regions: nothing of what is between"
about "$(ms inside)" 250 480 \
	"short regions: all of their time together"
expect_status 0 "$TARE" run --no-report -- ./region without
about "$(ms inside)" 200 400 "a whole program but for a part of it"
expect_is "$(ms outside)" 0 "that part has no samples"
expect_status 0 "$TARE" run --no-report -- ./region thread
about "$(ms outside)" 120 400 "regions change nothing in a whole program"

# calls: NAME=CALLS of the hooks, in the order of names
calls() {
	"$TARE" report --json | "$PYTHON" -c '
import json, sys
d = json.load(sys.stdin)
n = {}
for c in d["calls"]:
    n[c["function"]] = n.get(c["function"], 0) + c["calls"]
print(" ".join("%s=%d" % x for x in sorted(n.items())))
print(d["health"]["stray_ends"], d["health"]["repairs"])'
}
for how in counts timed; do
	expect_status 0 "$TARE" run --region --no-sample --calls=$how \
		--no-report -- ./region nested
	expect_is "$(calls | tr '\n' ' ')" "inside=3 leaf_in=3 0 0 " \
		"$how: calls of the region alone, and no end without a begin"
done

# The library alone, by the environment.
expect_status 0 env TARE=on TARE_SAMPLE=1 TARE_PROFILE_REGION=1 \
	./region nested
about "$(ms inside)" 200 400 "TARE_SAMPLE: what is inside"
expect_is "$(ms outside)" 0 "TARE_SAMPLE: nothing outside"
finish
