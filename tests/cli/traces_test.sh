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
