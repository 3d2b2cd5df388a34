#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tare tree --min --depth --focus; tare config NAME; formats with two names.
. "$(dirname "$0")/expect.sh"
build_worker
TARE=on ./worker 20 >/dev/null </dev/null

# ---- focus -------------------------------------------------------------------

names="sorted((n['depth'], n['name']) for n in d['tree'])"
expect_status 0 "$TARE" tree --json
expect_json "$out" "$names" \
	"[(0, 'work'), (1, 'step'), (2, 'db.store'), (2, 'load')]" "all"
expect_json "$out" "'focus_share' in d['tree'][0]" False "no focus"
expect_status 0 "$TARE" tree --focus step --json
expect_json "$out" "$names" \
	"[(1, 'step'), (2, 'db.store'), (2, 'load')]" \
	"a scope and what is below it"
expect_json "$out" "d['tree'][0]['focus_share']" 1 "all of what is in focus"
expect_json "$out" "d['tree'][1]['focus_share'] == \
	d['tree'][1]['net_total_ns'] / d['tree'][0]['net_total_ns']" True \
	"what is below has its share of it"
expect_status 0 "$TARE" tree --focus '[ld]*' --json
expect_json "$out" "$names" "[(2, 'db.store'), (2, 'load')]" \
	"a glob: every occurrence"
expect_json "$out" "round(sum(n['focus_share'] for n in d['tree']), 9)" \
	1.0 "which are the whole together"
expect_status 0 "$TARE" tree --focus step
expect_has "$out" "call tree below step" "as text: of what"
expect_has "$out" "focus" "with a column"
expect_has "$out" "100.0 %" "of the share in focus"
expect_has_not "$out" "work  " "and not what calls it"
expect_status 3 "$TARE" tree --focus nothing
expect_has "$err" "'last' has no function or scope 'nothing'" "none"

# Names of C++ have parameters.
cat >shapes.c <<'EOF'
#include <tare/probe.h>

int main(void)
{
	{ TARE_SCOPE("thrower(int)"); }
	{ TARE_SCOPE("a::(anonymous namespace)::b(int (*)(char)) const"); }
	{ TARE_SCOPE("(anonymous namespace)::bare"); }
	return 0;
}
EOF
"$CC" -std=gnu11 -I"$root/include" shapes.c "$LIB"/libtare.so \
	-Wl,-rpath,"$LIB" -lpthread -o shapes || exit 1
TARE=on ./shapes
for focus in thrower 'thrower(int)' 'a::(anonymous namespace)::b' \
	'(anonymous namespace)::bare'; do
	expect_status 0 "$TARE" tree --focus "$focus" --json
	expect_json "$out" \
		"[n['name'].startswith('$focus') for n in d['tree']]" \
		"[True]" "--focus '$focus'"
done
for focus in throw 'a::' 'a::(anonymous namespace)'; do
	expect_status 3 "$TARE" tree --focus "$focus"
done
rm -rf "$TARE_DIR"
TARE=on ./worker 20 >/dev/null </dev/null

# Recursion beyond max_depth.
cat >deep.c <<'EOF'
#include <tare/probe.h>

static void deep(int n)
{
	TARE_SCOPE("deep");
	if (n > 1)
		deep(n - 1);
}

int main(void) { deep(100); return 0; }
EOF
"$CC" -std=gnu11 -I"$root/include" deep.c "$LIB"/libtare.so \
	-Wl,-rpath,"$LIB" -lpthread -o deep || exit 1
TARE=on TARE_MAX_DEPTH=16 ./deep
expect_status 0 "$TARE" report
expect_has "$out" "
limits     84 calls beyond max_depth or max_nodes are in (overflow), not \
timed; paths have 16 levels" "the report says what was beyond a limit"
expect_status 0 "$TARE" verify last
expect_has "$out" "calls beyond max_depth or max_nodes" "verify, too"
rm -rf "$TARE_DIR"
TARE=on ./worker 20 >/dev/null </dev/null

# ---- depth and share ---------------------------------------------------------

expect_status 0 "$TARE" tree --depth 1 --json
expect_json "$out" "[n['name'] for n in d['tree']]" "['work']" "one level"
expect_status 0 "$TARE" tree --depth 2
expect_has "$out" "... and 2 more paths: too deep, or too small" \
	"what is left out is counted"
expect_status 0 "$TARE" tree --focus step --depth 1 --json
expect_json "$out" "[n['name'] for n in d['tree']]" "['step']" \
	"levels count from the focus"
expect_status 0 "$TARE" tree --min 100% --json
expect_json "$out" "[n['name'] for n in d['tree']]" "['work']" "the whole"
expect_status 0 "$TARE" tree --min 0 --json
expect_json "$out" "len(d['tree'])" 4 "no limit"
for wrong in x -1 101% 1x "" "%"; do
	expect_status 2 "$TARE" tree --min "$wrong"
	expect_has "$err" "not a share such as 1%" "--min '$wrong'"
done

# ---- config ------------------------------------------------------------------

expect_status 0 "$TARE" config max_depth
expect_has "$out" "max_depth = " "its value"
expect_has "$out" "source: default" "where it is from"
expect_is "$(printf '%s\n' "$out" | wc -l)" 4 "nothing else"
printf '\nmax_depth = 33\n' >tare.conf
chmod 600 tare.conf
expect_status 0 "$TARE" config max_depth
expect_has "$out" "max_depth = 33  (default " "the value of a file"
expect_has "$out" "source: file, tare.conf:2" "which file and line"
expect_status 0 env TARE_MAX_DEPTH=44 "$TARE" config max_depth
expect_has "$out" "max_depth = 44" "of the environment"
expect_has "$out" "source: environment, TARE_MAX_DEPTH" "and its name"
expect_status 0 env TARE_MAX_DEPTH=none "$TARE" config max_depth
expect_has "$out" "source: file" "a wrong value is not used"
expect_status 0 "$TARE" config max_depth --json
expect_json "$out" "d['value'], d['source']" "('33', 'file')" "as JSON"
rm tare.conf
expect_status 2 "$TARE" config max_dept
expect_has "$err" "no option is called 'max_dept'; did you mean 'max_depth'" \
	"a typing error"
expect_status 2 "$TARE" config max_depth --conf

# ---- names of formats, rows of the report ------------------------------------

expect_status 0 "$TARE" export -F folded
folded=$out
expect_status 0 "$TARE" export -F collapsed
expect_is "$folded" "$out" "folded is collapsed"
expect_status 0 "$TARE" export -o stacks.folded
expect_is "$(cat stacks.folded)" "$folded" "also by the ending of a file"
expect_status 0 "$TARE" run --no-sample --top 1 -- ./worker 20
expect_has "$err" "... and 3 more" "tare run --top: rows of the scopes' table"
expect_status 0 "$TARE" run --no-sample -- ./worker 20
expect_has_not "$err" "more (--top" "without it all"
finish
