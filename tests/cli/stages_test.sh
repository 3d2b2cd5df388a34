#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tare stages: records, order and bottleneck of a pipeline, live, finished and
# killed; as part of the report, and as JSON.
. "$(dirname "$0")/expect.sh"

cat >line.c <<'END'
#define TARE_PIPELINE "orders"
#include <stdio.h>
#include <stdlib.h>
#include <tare/tare.h>

static void busy(int n)
{
	for (volatile int i = 0; i < n; i++)
		;
}

static void store(int order)
{
	TARE_STAGE("store");
	/* Longer than what a busy machine takes away from the other stages. */
	busy(2000000 + order);
}

static void check(int order)
{
	TARE_STAGE("check");
	busy(200);
	if (order % 4 == 3)
		return;
	if (order % 8 == 1)
		TARE_FAIL("no such article");
	store(order);
}

int main(int argc, char **argv)
{
	int n = atoi(argv[1]);

	for (int i = 0; i < n; i++) {
		TARE_STAGE("read");
		check(i);
	}
	puts("ready");
	fflush(stdout);
	return argc > 2 && getchar() != EOF;
}
END
library=$LIB/libtare.so
[ -e "$library" ] || library=$LIB/libtare.a
"$CC" -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -I"$root/include" \
	line.c "$library" -Wl,-rpath,"$LIB" -lpthread -o worker || exit 1

check_run() {
	local state=$1 run=$2

	expect_status 0 "$TARE" stages "$run"
	expect_has "$out" "pipeline orders" "$state: names the pipeline"
	expect_is "$(awk 'f && $2 == "" { exit } f { print $1, $2, $3 }
		$1 == "stage" { f = 1 }' out)" \
		"read 40 40
check 40 30
store 30 30" "$state: records in and out, in order"
	expect_has "$out" "bottleneck store" "$state: names the bottleneck"
	expect_has "$out" "5 failed" "$state: tells failures"
	expect_status 0 "$TARE" stages "$run" --json
	expect_json "$out" \
		"[(p['name'], p['records_in'], p['records_out'], p['threads'],
			p['bottleneck']) for p in d['pipelines']]" \
		"[('orders', 40, 30, 1, 'store')]" "$state: as JSON"
	expect_json "$out" \
		"[(s['name'], s['records_in'], s['records_out'], s['dropped'],
			s['failures']) for s in d['pipelines'][0]['stages']]" \
		"[('read', 40, 40, 0, 0), ('check', 40, 30, 10, 5),\
 ('store', 30, 30, 0, 0)]" \
		"$state: stages as JSON"
	# 2 times as fast: Amdahl's law, by the document's own shares.
	expect_json "$out" \
		"all(abs(s['gain'] - (1 / (1 - s['share'] / 2) - 1)) < 1e-6
			and abs(sum(x['share'] for x in
				d['pipelines'][0]['stages']) - 1) < 1e-6
			for s in d['pipelines'][0]['stages'])" \
		True "$state: shares and gains fit together"
}

start_worker 40 hold
check_run live "$worker_pid"
finish_worker
check_run finished last
expect_status 0 "$TARE" report last
expect_has "$out" "pipeline orders" "the report has it, too"
expect_has "$out" "bottleneck store" "with the bottleneck"
expect_status 0 "$TARE" report last --name store
expect_has_not "$out" "pipeline orders" "a selection has no pipeline"
expect_status 0 "$TARE" stages --factor 4 --json
expect_json "$out" "all(abs(s['gain'] - (1 / (1 - s['share'] * 0.75) - 1)) <
	1e-6 for s in d['pipelines'][0]['stages'])" True "another factor"
expect_status 0 "$TARE" stages -f 4
expect_has "$out" "4 times as fast" "says which"
start_worker 40 hold
kill_worker
check_run killed last

for factor in 1 0 -2 x '' nan inf 1e9; do
	expect_status 2 "$TARE" stages -f "$factor"
done
expect_has "$err" "is no factor" "says what is wrong"
expect_status 3 "$TARE" stages nonexistent

# A run without stages.
cat >none.c <<'END'
#include <tare/tare.h>
int main(void)
{
	TARE_SCOPE("no stage");
	return 0;
}
END
"$CC" -std=c11 -D_GNU_SOURCE -I"$root/include" none.c "$library" \
	-Wl,-rpath,"$LIB" -lpthread -o none || exit 1
TARE=on ./none
expect_status 3 "$TARE" stages
expect_has "$err" "no stage was measured" "says that there is none"
expect_status 3 "$TARE" stages --json
expect_json "$out" "d['pipelines']" "[]" "an empty list"

# What one part that is all of the run would gain it.
cat >all.c <<'END'
#include <tare/tare.h>
int main(void)
{
	TARE_SCOPE("all of it");
	for (volatile int i = 0; i < 1000000; i++)
		;
	return 0;
}
END
"$CC" -std=c11 -D_GNU_SOURCE -I"$root/include" all.c "$library" \
	-Wl,-rpath,"$LIB" -lpthread -o all || exit 1
TARE=on ./all
row() {
	sed 's/ %/%/g' out |
		awk '/all of it/ { print $1, $4, $5, $6, $7, $8 }'
}
expect_status 0 "$TARE" amdahl
expect_is "$(row)" "100.0% 100.0% 50.0% no limit optimise" "twice as fast"
expect_status 0 "$TARE" amdahl -f 10.9
expect_is "$(row)" "100.0% 990.0% 90.8% no limit optimise" "ten times"
expect_status 0 "$TARE" amdahl -f 50
expect_is "$(row)" "100.0% 50.0 x 98.0% no limit" "a factor, not 4900 %"
expect_status 0 "$TARE" amdahl -f 50 --json
expect_json "$out" "[(d['of'], p['name'], p['share'], round(p['faster'], 9),
	p['most'], p['worth']) for p in d['parts']]" \
	"[('scopes', 'all of it', 1, 49.0, None, 'much')]" "as JSON"
expect_status 0 "$TARE" amdahl --worth 150,300
expect_has "$out" "not worth it" "limits of what is worth it"
for wrong in '-f 0' '-f x' '-w 5' '-w 20,5' '--of nothing'; do
	expect_status 2 "$TARE" amdahl $wrong
done
finish
