#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare summary: ranks, success rates, what happened lately.
. "$(dirname "$0")/expect.sh"
build_worker

check_run() {
	local state=$1 run=$2

	expect_status 0 "$TARE" summary "$run"
	expect_has "$out" "$state" "$state: tells the state"
	expect_has "$out" \
		"4 operations, 121 calls, 4 failed, 96.7 % succeeded" \
		"$state: totals"
	expect_is "$(awk '$1 == "load" && NF > 5 { print $2, $3, $4 }' out |
		head -1)" "40 4 90.0" "$state: calls, failures and rate"
	expect_has "$out" "last failures" "$state: failures are listed"
	expect_is "$(grep -c 'not found' out)" 5 \
		"$state: the last four, and one of the last operations"
	expect_status 0 "$TARE" summary "$run" --json
	expect_json "$out" \
		"d['totals']['operations'], d['totals']['count'],
			d['totals']['failure_count'], len(d['recent']),
			[r['ok'] for r in d['recent_failures']]" \
		"(4, 121, 4, 5, [False, False, False, False])" \
		"$state: as JSON"
	expect_json "$out" \
		"[(o['count'], o['success_count'], o['failure_count'],
			o['success_rate'], o['items']) for o in d['operations']
			if o['name'] == 'load']" \
		"[(40, 36, 4, 0.9, 120)]" "$state: an operation"
}

start_worker 40 hold
check_run live "$worker_pid"
finish_worker
check_run finished last
start_worker 40 hold
kill_worker
check_run killed last

# Ranks.
ranked() {
	expect_status 0 "$TARE" summary --json "$@"
	got=$("$PYTHON" -c "
import json, sys
print(*[o['name'] for o in json.load(sys.stdin)['operations']])" <<<"$out")
}
ranked --sort failures
expect_is "$(cut -d' ' -f1 <<<"$got")" load "most failures first"
ranked --sort total
expect_is "$(cut -d' ' -f1 <<<"$got")" work "most time first"
ranked --sort slowest
expect_is "$(cut -d' ' -f1 <<<"$got")" work "the slowest first"
expect_status 0 "$TARE" summary --sort slowest
expect_has "$out" "operations by mean time; times net of measuring" \
	"says what ranks, and that times are net"
ranked --sort calls
expect_is "$got" "db.store load step work" "most calls first, then by name"
ranked --sort calls --top 2
expect_is "$got" "db.store load" "only the first two"
ranked --failed
expect_is "$got" load "only what failed"
ranked --name 's*' --last 1h
expect_is "$got" step "a filter and a window"
expect_status 0 "$TARE" summary --top 1
expect_has "$out" "... and 3 more (--top 0 shows all)" "says what is left out"
expect_status 0 "$TARE" summary --name nothing
expect_has "$err" "no operation" "no match is said"
expect_status 0 "$TARE" summary --name nothing --json
expect_json "$out" "d['totals']['success_rate'], d['operations']" \
	"(None, [])" "no match as JSON"
expect_status 2 "$TARE" summary --sort size
expect_status 2 "$TARE" summary one two

# What the program of a collector records: 20 operations, 60 values, 60 gauges.
cat >recorder.c <<'END'
#include <tare/tare.h>

int main(void)
{
	tare_site *cpu = tare_site_get(TARE_KIND_GAUGE, TARE_TYPE_PERCENTAGE,
				       "cpu_usage", "%", "system_monitor");
	tare_site *query = tare_site_get(TARE_KIND_VALUE, TARE_TYPE_TIME,
					 "query_time", "s", "database");

	for (int i = 0; i < 20; i++) {
		TARE_OPERATION_IN("loader", "load");
		for (int k = 0; k < 3; k++) {
			tare_gauge_set(cpu, 85);
			tare_value_observe(query, 0.025);
			TARE_COUNT("half", 0.5);
		}
	}
	tare_processing_record("resize", 12.5, "no such photo",
			       (const tare_attr[]){
				       TARE_ATTR_OF("photo_id", 123) }, 1);
	return 0;
}
END
library=$LIB/libtare.so
[ -e "$library" ] || library=$LIB/libtare.a
"$CC" -std=c11 -Wall -Wextra -Werror -I"$root/include" recorder.c "$library" \
	-Wl,-rpath,"$LIB" -lpthread -o recorder ||
	{ echo "Bail out! cannot build recorder.c"; exit 1; }
expect_status 0 "$TARE" run --no-sample --no-report ./recorder
expect_status 0 "$TARE" records --json
expect_json "$out" "len(d), sorted({r['kind'] for r in d})" \
	"(141, ['gauge', 'operation', 'value'])" "every measurement is a record"
expect_json "$out" "[(r['source'], r['unit'], r['type'], r['value'])
	for r in d if r['name'] == 'cpu_usage'][-1]" \
	"('system_monitor', '%', 'percentage', 85)" "a gauge's record"
expect_json "$out" "[(r['ok'], r['error'], r['attributes']) for r in d
	if r['name'] == 'resize']" \
	"[(False, 'no such photo', {'photo_id': 123})]" "a duration's record"
expect_status 0 "$TARE" records --name 'cpu*' --source 'system*' --json
expect_json "$out" "len(d)" 60 "chosen by name and source"
expect_status 0 "$TARE" records --type time --source database --json
expect_json "$out" "len(d)" 60 "chosen by type"
expect_status 0 "$TARE" records --limit 2 --name cpu_usage
expect_has "$out" "85 %" "a value with its unit"
expect_status 0 "$TARE" report --values 1000 --json
expect_json "$out" "sorted((s['name'], s['count']) for s in d['series'])" \
	"[('cpu_usage', 60), ('load', 20), ('query_time', 60), ('resize', 1)]" \
	"the last values are there without an option"
expect_status 0 "$TARE" report all
expect_has "$out" "[database]" "a row has its source"
expect_has "$out" "recent activity" "recent activity"
expect_is "$(grep -cE 'from 20[0-9T:-]+Z to 20[0-9T:-]+Z' out)" 1 \
	"the time range"
expect_has "$(grep '^half' out)" 30 "a counter of doubles"
expect_status 0 "$TARE" summary
expect_has "$out" "highest averages" "values are ranked"
expect_has "$out" "last values" "the last values"
expect_status 0 "$TARE" summary --json
expect_json "$out" "[t['name'] for t in d['top_by_average']],
	len(d['recent_values']), d['recent'][0]['source'],
	d['window']['from_ns'] < d['window']['to_ns']" \
	"(['cpu_usage', 'query_time'], 5, 'loader', True)" "as JSON"
expect_status 0 "$TARE" export -T metrics -F csv
expect_is "$(wc -l <out)" 142 "a row each"
expect_has "$out" ",cpu_usage,85,%,percentage,system_monitor," \
	"with unit, type and source"
expect_status 0 "$TARE" export -F json
expect_json "$out" "d['runs'][0]['summary']['records'],
	d['runs'][0]['summary']['values']" "(141, 120)" "in the JSON export"

# One form of every figure and name, in the report and in the summary.
cat >forms.c <<'END'
#include <tare/tare.h>
int main(void)
{
	tare_site *site = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					"abc\xe2\x80\xae" "def", NULL, NULL);

	for (int i = 0; i < 3000; i++)
		tare_duration_record(site, 90000000000u, i ? NULL : "no");
	return 0;
}
END
library=$LIB/libtare.so
[ -e "$library" ] || library=$LIB/libtare.a
"$CC" -std=c11 -D_GNU_SOURCE -I"$root/include" forms.c "$library" \
	-Wl,-rpath,"$LIB" -lpthread -o forms || exit 1
TARE=on ./forms
for command in "report --sort total" "summary"; do
	# shellcheck disable=SC2086
	expect_status 0 "$TARE" $command
	expect_has "$out" 'abc?def' "$command: a name cannot turn the line"
	expect_is "$(grep -c $'\xe2\x80\xae' out)" 0 "$command: nowhere"
	row=$(grep '^abc?def  .*3,000' out)
	expect_has "$row" "3d03h" "$command: the total"
	expect_has "$row" "1m30s" "$command: the mean"
	expect_has "$row" "99.9 %" \
		"$command: no 100 % of what failed"
done
"$TARE" report all >out
expect_is "$(sed -n '/^scopes/{n;p}' out | wc -m)" \
	"$(sed -n '/^scopes/{n;n;s/  99.9 % ok$//p}' out | wc -m)" \
	"columns stay straight"
# What the governor let measure in part is marked, as in the report.
cat >dense.c <<'EOF'
#include <tare/probe.h>
#include <time.h>

int main(void)
{
	volatile unsigned n = 0;

	{ TARE_SCOPE("once"); }
	do {
		for (int i = 0; i < 10000; i++) {
			TARE_SCOPE("dense");
			n++;
		}
	} while (clock() < 2 * CLOCKS_PER_SEC);
	return 0;
}
EOF
"$CC" -std=gnu11 -O1 -I"$root/include" dense.c "$LIB"/libtare.so \
	-Wl,-rpath,"$LIB" -lpthread -o dense || exit 1
TARE=on TARE_PERFORMANCE_THRESHOLD=0.0001 ./dense
expect_status 0 "$TARE" report scopes last
expect_is "$(awk '$1 == "dense" { print / \*/; exit }' out)" 1 \
	"the report has a mark"
calls=$(awk '$1 == "dense" { print $2; exit }' out)
expect_status 0 "$TARE" summary last
expect_is "$(awk '$1 == "dense" && NF > 5 { print $2, $NF; exit }' out)" \
	"$calls *" "the summary has it, too, and the same calls"
expect_is "$(awk '$1 == "once" && NF > 5 { print $2, $NF == "*"; exit }' out)" \
	"1 0" "an exact row has none"
expect_has "$out" "
* an estimate, to keep measuring cheap" "and says what it is"

finish
