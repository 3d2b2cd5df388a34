#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Traces of steps on a schedule: by the environment alone, by 'tare ctl', into
# a folder that is full, and of a program that is killed.
. "$(dirname "$0")/expect.sh"
check="$PYTHON $here/trace_check.py"

library=$LIB/libtare.so
[ -e "$library" ] || library=$LIB/libtare.a
cat >steps.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tare/tare.h>

static void batch(void)
{
	TARE_SCOPE("batch");
	for (int i = 0; i < 5; i++) {
		TARE_SCOPE("layer");
	}
}

/* steps N [MS]: N steps (0: for ever) of MS each; the sum to stdout */
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	int ms = argc > 2 ? atoi(argv[2]) : 0;

	for (int i = 1; !n || i <= n; i++) {
		batch();
		if (ms)
			usleep(ms * 1000);
		TARE_STEP();
	}
	printf("%d\n", n);
	return 7;
}
END
"$CC" -std=c11 -D_GNU_SOURCE -O1 -I"$root/include" steps.c "$library" \
	-Wl,-rpath,"$LIB" -lpthread -o steps ||
	{ echo "Bail out! cannot build steps.c"; exit 1; }

# ---- stacks -----------------------------------------------------------------

cat >busy.c <<'END'
#include <stdint.h>
#include <time.h>
#include <tare/tare.h>

static volatile uint64_t sink;

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

__attribute__((noinline)) static void multiply_matrices(void)
{
	for (double end = cpu_ms() + 40; cpu_ms() < end;)
		for (int i = 0; i < 1000; i++)
			sink = sink * 3 + 1;
}

int main(void)
{
	for (int i = 0; i < 12; i++) {
		TARE_SCOPE("batch");
		multiply_matrices();
		TARE_STEP();
	}
	return 0;
}
END
"$CC" -std=c11 -D_GNU_SOURCE -O1 -I"$root/include" busy.c "$library" \
	-Wl,-rpath,"$LIB" -lpthread -o busy
expect_status 0 env TARE_ENABLE_PROFILER=true TARE_PROFILER_WITH_STACK=true \
	TARE_PROFILER_EXPORT_INTERVAL=6 TARE_PROFILER_TRACE_DIR=stacks ./busy
expect_is "$(cd stacks && ls -A | tr '\n' ' ')" \
	"busy_step_12.json busy_step_6.json " "traces with stacks"
expect_has "$(cat stacks/busy_step_6.json)" '"multiply_matrices"' \
	"with the names of functions, also of those that are static"
expect_has "$(cat stacks/busy_step_6.json)" '(samples)' \
	"in a row below the thread"
expect_status 0 env TARE_ENABLE_PROFILER=true \
	TARE_PROFILER_EXPORT_INTERVAL=6 TARE_PROFILER_TRACE_DIR=plain ./busy
expect_has_not "$(cat plain/busy_step_6.json)" multiply_matrices \
	"none without the option"

# ---- allocations ------------------------------------------------------------

cat >takes.c <<'END'
#include <stdlib.h>
#include <tare/tare.h>

int main(void)
{
	for (int i = 0; i < 12; i++) {
		TARE_SCOPE("batch");
		void *volatile small = malloc(100), *volatile large;

		{
			TARE_SCOPE("layer");
			large = malloc(3 << 20);
		}
		free(small);
		free(large);
		TARE_STEP();
	}
	return 0;
}
END
"$CC" -std=c11 -D_GNU_SOURCE -O1 -I"$root/include" takes.c "$library" \
	-Wl,-rpath,"$LIB" -lpthread -o takes
expect_status 0 env TARE_ENABLE_PROFILER=true \
	TARE_PROFILER_PROFILE_MEMORY=true TARE_PROFILER_EXPORT_INTERVAL=6 \
	TARE_PROFILER_TRACE_DIR=memory "$TARE" run --alloc --no-report -- \
	./takes
expect_status 0 $check memory/takes_step_6.json
expect_has "$out" "malloc up to 128 B=3" "an allocation a step is in the trace"
expect_has "$out" "malloc up to 4 MiB=3" "and a large one"
expect_status 0 env TARE_ENABLE_PROFILER=true \
	TARE_PROFILER_EXPORT_INTERVAL=6 TARE_PROFILER_TRACE_DIR=none \
	"$TARE" run --alloc --no-report -- ./takes
expect_has_not "$(cat none/takes_step_6.json)" "malloc up to" \
	"none without the option"

# ---- the environment -------------------------------------------------------

export TARE_ENABLE_PROFILER=true TARE_PROFILER_EXPORT_INTERVAL=10
expect_status 7 ./steps 30 2
expect_is "$out$err" 30 "the program's own output, nothing else"
expect_is "$(cd traces && ls -A)" "steps_step_10.json
steps_step_20.json
steps_step_30.json" "a file every ten steps"
expect_status 0 $check traces/steps_step_20.json
expect_is "$out" "bars batch=3 layer=15 step=3
apart 0 flows 0" "with three steps in it"
TARE_PROFILER_KEEP=2 TARE_PROFILER_RECORD=1 ./steps 40 2 >/dev/null
expect_is "$(cd traces && ls -A)" "steps_step_30.json
steps_step_40.json" "of which the newest are kept"
expect_status 0 $check traces/steps_step_40.json
expect_is "$out" "bars batch=1 layer=5 step=1
apart 0 flows 0" "and have as many steps as they are to have"
rm -r traces

# ---- nowhere to write ------------------------------------------------------

expect_status 7 env TARE_WARNINGS=stderr \
	TARE_PROFILER_TRACE_DIR=/proc/nowhere ./steps 30 2
expect_is "$out" 30 "no folder: the program goes on"
expect_is "$(wc -l <err)" 1 "and there is one message"
expect_has "$err" "cannot write traces to '/proc/nowhere'" "that says so"

mkdir full
if mount -t tmpfs -o size=4k none full 2>/dev/null; then
	# One page, and it is taken.
	head -c 4096 /dev/zero >full/taken 2>/dev/null
	expect_status 7 env TARE_WARNINGS=stderr \
		TARE_PROFILER_TRACE_DIR=full ./steps 30 2
	expect_is "$out" 30 "a full folder: the program goes on"
	expect_is "$(wc -l <err)" 1 "one message"
	expect_has "$err" "cannot write traces to 'full'" "that says so"
	expect_is "$(ls -A full)" taken "and no part of a file"
	umount full
else
	expect_skip "no tmpfs can be mounted"
fi

expect_status 7 bash -c 'ulimit -f 1; exec ./steps 30 2'
expect_is "$out" 30 "a limit of files: the program goes on"
expect_is "$(ls -A traces 2>/dev/null)" "" "and no part of a file"

# ---- killed ----------------------------------------------------------------

# A folder each: it is killed while it writes, and not before it does.
mkdir killed
for round in 1 2 3 4 5; do
	TARE_PROFILER_EXPORT_INTERVAL=4 TARE_PROFILER_TRACE_DIR=killed/$round \
		./steps 0 0 >/dev/null 2>&1 &
	pid=$!
	has_some() {
		[ -n "$(ls killed/$round 2>/dev/null)" ]
	}
	wait_until has_some
	kill -9 $pid
	wait $pid 2>/dev/null
done
expect_is "$(find killed -type f | grep -v '/steps_step_[0-9]*\.json$')" "" \
	"a kill leaves whole files and no others"
$check killed/*/*.json >seen 2>&1
verdict $? "which can be read" "$(cat seen)"

# ---- stages ------------------------------------------------------------------

# What is behind an iterator is no step, and may overlap: bars of their own.
cat >pull.c <<'END'
#include <tare/tare.h>

static bool next(void *self, void *data)
{
	(void)self;
	(void)data;
	return true;
}

int main(void)
{
	static tare_stage stage;
	int record;

	tare_stage_wrap_next(&stage, "pipeline", "pull", next, NULL);
	for (int i = 0; i < 5; i++)
		(void)tare_stage_next(&stage, &record);
	return 0;
}
END
"$CC" -std=c11 -D_GNU_SOURCE -I"$root/include" pull.c "$library" \
	-Wl,-rpath,"$LIB" -lpthread -o pull ||
	{ echo "Bail out! cannot build pull.c"; exit 1; }
unset TARE_ENABLE_PROFILER
TARE=on TARE_TRACE=true ./pull
"$TARE" export last -F chrome >pull.json
expect_status 0 $check pull.json
expect_is "$out" "bars pull=5
apart 4 flows 0" "stages are in no row of steps"

# ---- from outside ----------------------------------------------------------

TARE=on ./steps 0 1 >/dev/null &
pid=$!
is_seen() {
	"$TARE" ctl $pid get trace >/dev/null 2>&1
}
wait_until is_seen
sleep 0.2
expect_is "$(ls -A traces 2>/dev/null)" "" "off: no files"
expect_status 0 "$TARE" ctl $pid set profiler_trace_dir="$work/outside"
expect_status 0 "$TARE" ctl $pid set enable_profiler=true
has_files() {
	[ "$(ls outside 2>/dev/null | wc -l)" -ge 2 ]
}
wait_until has_files
verdict $? "on, from outside: files"
expect_status 0 "$TARE" ctl $pid set enable_profiler=false
# One may have been under way.
wait_until stands ls outside
verdict $? "and off again" "$(ls outside)"
kill $pid
wait $pid 2>/dev/null
expect_status 0 $check outside/*.json
finish
