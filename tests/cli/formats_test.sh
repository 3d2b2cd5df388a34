#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Traces and profiles, opened by the programs they are for, which must find
# the totals that tare itself has: go tool pprof, callgrind_annotate, the
# speedscope application in a browser, the Firefox profiler.
writer=${TARE_TEST_BUILD:?}/profile_writer
npm_folder=$TARE_TEST_BUILD/npm
npm_lock=$TARE_TEST_BUILD/npm.lock
real_home=$HOME
. "$(dirname "$0")/expect.sh"
needs_names
check="$PYTHON $here/trace_check.py"

# ---- a profile with known sums ---------------------------------------------

cat >calc.c <<'END'
__attribute__((noinline)) int twice(int x) { return x * 2; }
static inline __attribute__((always_inline)) int inner(int x)
{
	return twice(x) + 1;
}
__attribute__((noinline)) int outer(int x) { return inner(x) * 3; }
int main(int argc, char **argv)
{
	(void)argv;
	return outer(argc) + twice(argc);
}
END
$CC -O1 -g -no-pie -fno-pie -o calc calc.c || exit 1
id=$(readelf -n calc | sed -n 's/.*Build ID: //p')

# The address of a function, or of the call in it.
place() {
	nm calc | awk -v f="$1" '$3 == f { print "0x" $1; exit }'
}

# 100,000,001 ns in 40 samples: 70 ms in twice below outer, which is reached
# through code that is inlined there, 20 in twice below main, 1 of main
# itself, 9 whose callers are not known, and one ns more.
call_in_outer=$(objdump -d calc | awk '/<outer>:/ { on = 1 }
	on && /call.*<twice>/ { sub(":", "", $1); print "0x" $1; exit }')
main=$(place main)
twice=$(place twice)
{
	echo "module $PWD/calc 0x400000 0x500000 0 $id"
	echo "stack 1 $main 0 1 1 1000001"
	echo "stack 4 $call_in_outer 0 1 0 0"
	echo "stack 5 $twice 0 1 28 70000000"
	echo "stack 4 $twice 0 1 8 20000000"
	echo "stack 2 $twice 0 1 3 9000000"
} | "$writer" || echo "Bail out! no profile"
total=100000001

# ---- collapsed -------------------------------------------------------------

expect_status 0 "$TARE" export -F collapsed
expect_is "$(sort <<<"$out")" "[stacks cut short];twice 9000
main 1000
main;outer;inner;twice 70000
main;twice 20000" "collapsed stacks in us, with what was inlined"
expect_status 0 "$TARE" export -F collapsed --unit ns
expect_is "$(awk '{ s += $NF } END { print s }' <<<"$out")" $total \
	"in ns all of them are the total"
expect_status 0 "$TARE" export -F collapsed -u count
expect_is "$(awk '{ s += $NF } END { print s }' <<<"$out")" 40 \
	"and samples"

# ---- pprof -----------------------------------------------------------------

expect_status 0 "$TARE" export -o p.pb.gz
gzip -t p.pb.gz
verdict $? "gzip takes the file"
if command -v go >/dev/null; then
	expect_status 0 go tool pprof -top -unit ns p.pb.gz
	expect_has "$out" "of ${total}ns total" "pprof has the total"
	expect_has "$out" "99000000ns 99.00% 99.00% 99000000ns 99.00%  twice" \
		"and the sum of a function"
	expect_has "$out" "inner (inline)" "and knows what was inlined"
	expect_has "$out" "Build ID: $id" "and the build id"
	expect_status 0 go tool pprof -raw p.pb.gz
	expect_has "$out" "samples/count cpu/nanoseconds" "two kinds of values"
	expect_is "$(awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
		on && $1 ~ /^[0-9]+$/ { sub(":", "", $2); n += $1; s += $2 }
		END { print n, s }' <<<"$out")" "40 $total" \
		"whose sums are ours"
	expect_has "$out" "calc.c:1" "with file and line"
else
	expect_skip "no go"
fi

# ---- callgrind -------------------------------------------------------------

expect_status 0 "$TARE" export -o p.callgrind
if command -v callgrind_annotate >/dev/null; then
	expect_status 0 callgrind_annotate p.callgrind
	expect_has "$out" \
		"100,000,001 (100.0%) 40 (100.0%)  PROGRAM TOTALS" \
		"callgrind_annotate has the totals"
	expect_has "$(tr -s ' ' <<<"$out")" \
		"99,000,000 (99.00%) 39 (97.50%) calc.c:twice" \
		"and the sum of a function"
	expect_status 0 callgrind_annotate --inclusive=yes p.callgrind
	expect_has "$(tr -s ' ' <<<"$out")" \
		"91,000,001 (91.00%) 37 (92.50%) calc.c:main" \
		"and what it called"
else
	expect_skip "no callgrind_annotate"
fi

# ---- a program that was traced ---------------------------------------------

library=$LIB/libtare.so
[ -e "$library" ] || library=$LIB/libtare.a
"$CC" -std=c11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -I"$root/include" \
	"$here/tracer.c" "$library" -Wl,-rpath,"$LIB" -lpthread -o tracer ||
	{ echo "Bail out! cannot build tracer.c"; exit 1; }
TARE=on TARE_TRACE=true ./tracer 40
"$TARE" export -o speed.speedscope.json >/dev/null
expect_status 0 "$TARE" export -o run.trace.json
expect_status 0 $check run.trace.json
expect_is "$out" \
	"bars fiber.second=1 inner=40 make=40 outer=1 part=160 step=39 take=40
apart 1 flows 40" "the trace has all bars, none of which overlap"
expect_status 0 $check --per run.trace.json
expect_json "$out" "d['taker \"2\"'], d['maker'], d['steps']" \
	"({'part': 80, 'take': 40}, {'make': 40, 'part': 40}, {'step': 39})" \
	"rows have the names of threads"
cat >args.py <<'END'
import json
e = json.load(open('run.trace.json'))['traceEvents']
print([x['args'] for x in e if x['name'] == 'take'][9] == {
    'ok': False, 'error': 'line one\nline two', 'flow_in': 9,
    'text': 'quote " back \\ bell \x07 no \ufffd text, \u00fc',
    'half': 0.5, 'attribute.error': 'an attribute of that name'})
END
expect_is "$("$PYTHON" args.py)" True \
	"attributes and errors, whatever bytes they have"
expect_json "$(cat run.trace.json)" "[e['args'] for e in d['traceEvents']
	if e['ph'] == 'C' and e['name'] in ('bytes', 'queue')][-2:]" \
	"[{'1': 39}, {'value': 400}]" "gauges and counters"
expect_json "$(cat run.trace.json)" "[(e['name'], e['cat']) for e in
	d['traceEvents'] if e['ph'] == 'b']" \
	"[('fiber.first', 'scope')]" \
	"what overlaps is apart"
# Sums of bars against the statistics: durations are cut to ns. Where the wall
# clock was looked at again in the middle of an outer bar, what is after it is
# shifted, and the last one inside is cut to the outer one's end: then again.
cat >sums.py <<'END'
import json
t = json.load(open('sums.trace.json'))['traceEvents']
s = {r['name']: r for r in json.load(open('sums.json'))['runs'][0]['series']}
for name in ('inner', 'make', 'take', 'part', 'outer'):
    bars = [e['dur'] * 1000 for e in t
            if e['ph'] == 'X' and e['name'] == name]
    if not bars or abs(sum(bars) - s[name]['total']) > 2 * len(bars):
        print(name, sum(bars), s[name]['total'])
END
for attempt in 1 2 3 4 5; do
	"$TARE" export -o sums.trace.json >/dev/null
	"$TARE" export -F json >sums.json
	sums=$("$PYTHON" sums.py 2>&1)
	[ -n "$sums" ] || break
	TARE=on TARE_TRACE=true ./tracer 40
done
expect_is "$sums" "" "bars are as long as the statistics say"

# The parts of it.
expect_status 0 "$TARE" export -F chrome -N 'ta*' -o part.json
expect_status 0 $check part.json
expect_is "$out" "bars take=40
apart 0 flows 0" "a part by name"
expect_has_not "$(cat part.json)" '{"name":"steps"}' \
	"no row for steps where there are none"
expect_status 0 "$TARE" export -F chrome --failed -o part.json
expect_status 0 $check part.json
expect_has "$out" "bars take=4" "a part that failed"

# In pieces.
"$TARE" export -F chrome -o big.json >/dev/null
expect_status 0 "$TARE" export -F chrome --split-size 64K -o in.json
expect_status 2 "$TARE" export -F chrome --split-size 1K -o in.json
expect_has "$err" "from 64K on" "too small"
expect_status 2 "$TARE" export -F chrome --split-size 64K
expect_has "$err" "needs '-o FILE.json'" "no file"
TARE=on TARE_TRACE=true ./tracer 3000
expect_status 0 "$TARE" export -F chrome --split-size 64K -o cut.json
pieces=$(ls cut.*.json | wc -l)
[ "$pieces" -gt 10 ]
verdict $? "a trace in pieces" "$pieces"
expect_status 0 $check cut.*.json
whole=$out
"$TARE" export -o whole.trace.json >/dev/null
expect_status 0 $check whole.trace.json
expect_is "$whole" "$out" "which have together what one file has"
largest=$(stat -c %s cut.*.json | sort -n | tail -1)
[ "$largest" -le 66000 ]
verdict $? "and are not larger" "$largest"
expect_status 0 "$TARE" export -F chrome --split-size 64K --keep 3 -o cut.json
expect_is "$(ls cut.*.json | wc -l)" 3 "only the newest are kept"
expect_has "$(ls cut.*.json)" "cut.$(printf %04d "$pieces").json" \
	"those with the highest numbers"
echo '{"mine": 1}' >cut.0001.json
expect_status 0 "$TARE" export -F chrome --split-seconds 3600 -o cut.json
expect_is "$(ls cut.*.json)" "cut.0001.json" "of an hour one is enough"
echo '{"mine": 1}' >cut.0002.json
"$TARE" export -F chrome --split-seconds 3600 -o cut.json >/dev/null
expect_is "$(cat cut.0002.json)" '{"mine": 1}' "what is not ours stays"

# The call tree as profiles.
"$TARE" export -F collapsed -u ns -T calls >calls.txt
sum=$(awk '{ s += $NF } END { print s }' calls.txt)
"$TARE" tree --json >tree.json
expect_is "$("$PYTHON" -c "
import json
def own(n):
    return n['net_own_ns'] + sum(own(c) for c in n.get('children', []))
d = json.load(open('tree.json'))
nodes = d['tree'] if 'tree' in d else d
flat = sum(n['net_own_ns'] for n in nodes if n['name'] != 'step')
print(abs(flat - $sum) <= 1)")" True "collapsed calls are the tree's own times"
if command -v go >/dev/null; then
	"$TARE" export -F pprof -o calls.pb.gz >/dev/null
	expect_status 0 go tool pprof -top -unit ns calls.pb.gz
	expect_has "$out" "of ${sum}ns total" "pprof: of calls, too"
	expect_status 0 go tool pprof -top -sample_index calls calls.pb.gz
	expect_has "$out" "12000" "and their number"
fi
expect_status 0 "$TARE" export -F callgrind -o calls.callgrind
expect_has "$(cat calls.callgrind)" "calls=6000" "callgrind: calls are exact"
expect_status 2 "$TARE" export -F callgrind last last
expect_has "$err" "room for one run" "one run a file"
expect_status 2 "$TARE" export -F pprof --table stats
expect_status 2 "$TARE" export -F csv --unit us

# ---- readers from npm ------------------------------------------------------

# In the build folder, once; versions are part of the test.
fetch() {
	[ -e "$npm_folder/done-2" ] && return 0
	command -v npm >/dev/null || return 1
	(
		mkdir -p "$npm_folder" && cd "$npm_folder" || exit 1
		flock 9
		[ -e done-2 ] && exit 0
		echo '{"private": true}' >package.json
		HOME=$real_home timeout 300 npm install --no-audit --no-fund \
			--silent speedscope@1.25.0 ajv@8.20.0 \
			@firefox-devtools/profiler-cli@0.10.0 &&
			touch done-2
	) 9>"$npm_lock" >npm.log 2>&1
}

if ! fetch; then
	expect_skip "no speedscope: the npm registry cannot be reached"
	finish
fi
modules=$npm_folder/node_modules
release=$modules/speedscope/dist/release

cat >validate.js <<'END'
const fs = require('fs');
const [, , modules, schema, ...files] = process.argv;
const Ajv = require(modules + '/ajv');
const ajv = new Ajv({ strict: false });
const valid = ajv.compile(JSON.parse(fs.readFileSync(schema)));
for (const file of files) {
	const ok = valid(JSON.parse(fs.readFileSync(file)));
	console.log(ok ? 'valid' : JSON.stringify(valid.errors));
}
END
schema=$release/file-format-schema.json
expect_status 0 node validate.js "$modules" "$schema" speed.speedscope.json
expect_is "$out" valid "speedscope's schema takes a file of calls"
sed 's/"unit":"nanoseconds"/"unit":"parsecs"/' speed.speedscope.json >bad.json
expect_status 0 node validate.js "$modules" "$schema" bad.json
expect_has_not "$out" valid "and no other unit"
run=$("$TARE" ls --json | "$PYTHON" -c "
import json, sys
print([r['id'] for r in json.load(sys.stdin)][-1])")
"$TARE" export "$run" -o samples.speedscope.json >/dev/null
expect_status 0 node validate.js "$modules" "$schema" samples.speedscope.json
expect_is "$out" valid "and one of samples"
expect_json "$(cat samples.speedscope.json)" \
	"[(p['name'], sum(p['weights'])) for p in d['profiles']]" \
	"[('samples', $total)]" "whose weights are the total"

# ---- speedscope itself -----------------------------------------------------

browser=$(command -v chromium || command -v google-chrome)
# open FILE: the text of its page, once it has loaded the file.
open() {
	"$PYTHON" -c "
import base64, json, sys
data = base64.b64encode(open('$1', 'rb').read()).decode()
print('speedscope.loadFileFromBase64(%s, %s)' %
      (json.dumps('$1'), json.dumps(data)))" >load.js
	timeout 120 "$browser" --headless --no-sandbox --use-gl=angle \
		--use-angle=swiftshader --enable-unsafe-swiftshader \
		--user-data-dir="$work/browser" --virtual-time-budget=20000 \
		--dump-dom \
"file://$release/index.html#localProfilePath=$PWD/load.js&view=sandwich" \
		2>/dev/null | sed 's/<[^>]*>/|/g; s/||*/|/g' | tr '\n' ' '
}

# expect_page FILE PART SENTENCE: a machine that is busy draws late.
expect_page() {
	local tries=4 page
	while [ $tries -gt 0 ]; do
		page=$(open "$1")
		case $page in
		*"$2"*) break ;;
		esac
		tries=$((tries - 1))
	done
	expect_has "$page" "$2" "$3"
}

if [ -z "$browser" ] || [ -z "$(open samples.speedscope.json)" ]; then
	expect_skip "no chromium that starts here"
else
	"$TARE" export "$run" -o s.callgrind >/dev/null
	"$TARE" export "$run" -F collapsed >s.txt
	"$TARE" export "$run" -o s.pb.gz >/dev/null
	expect_page samples.speedscope.json \
		"|99.00ms (99%)|99.00ms (99%)|twice|" \
		"speedscope opens its own format"
	expect_page s.callgrind "|1|s.callgrind -- ns|100,000,001|" \
		"and callgrind's, with the total"
	expect_page s.txt "|99,000 (99%)|99,000 (99%)|twice|" \
		"and collapsed stacks"
	expect_page s.pb.gz "|99.00ms (99%)|99.00ms (99%)|twice|" \
		"and pprof's"
	expect_page run.trace.json "maker (tid" "and traces: a thread"
	expect_page run.trace.json "(1/4)" "and all rows of it"
fi

# ---- the Firefox profiler --------------------------------------------------

cli="node $modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"
# Its server takes longer to start than it waits for.
(cd "$work" && timeout 60 $cli load run.trace.json >load.log 2>&1)
has_loaded() {
	timeout 30 $cli profile info --json >info.json 2>info.log
}
if wait_until has_loaded; then
	expect_json "$(cat info.json)" "[sorted(t['name'] for t in
		p['threads']) for p in d['processes']]" \
		"[['maker', 'steps', 'taker \"2\"', 'tracer']]" \
		"the Firefox profiler opens a trace"
	handle=$("$PYTHON" -c "
import json
print([t['threadHandle'] for p in json.load(open('info.json'))['processes']
       for t in p['threads'] if t['name'] == 'maker'][0])")
	timeout 30 $cli thread markers --thread "$handle" --json >markers.json
	expect_json "$(cat markers.json)" \
		"{t['markerName']: t['count'] for t in d['byType']
			if t['isInterval']}" \
		"{'make': 40, 'part': 40}" "and has all bars of a thread"
else
	expect_skip "the Firefox profiler does not start: $(tail -1 load.log)"
fi
timeout 30 $cli stop --all >/dev/null 2>&1
finish
