#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Flame graphs: the command, the file, and the file in a real browser.
writer=${TARE_TEST_BUILD:?}/profile_writer
. "$(dirname "$0")/expect.sh"
needs_names

# ---- two profiles ----------------------------------------------------------

# Names come from a C++ program's symbols: they have all that XML minds.
cat >shop.cc <<'END'
#include <cstdio>
template <class T> struct Box {
	__attribute__((noinline)) bool operator<(const Box &b) const
	{
		return value < b.value;
	}
	T value;
};
template <class F> __attribute__((noinline)) int apply(F &&f, const char *s)
{
	return f(s);
}
__attribute__((noinline)) int twice(int x) { return x * 2; }
__attribute__((noinline)) int thrice(int x) { return x * 3; }
int main(int argc, char **argv)
{
	Box<long> a{argc}, b{3};

	return (a < b) + apply([](const char *s) { return (int)*s; },
			       argv[0]) + twice(argc) + thrice(argc);
}
END
compiler=${CXX:-c++}
command -v $compiler >/dev/null || { expect_skip "no C++ compiler"; finish; }
$compiler -O1 -g -no-pie -fno-pie -o shop shop.cc || exit 1
id=$(readelf -n shop | sed -n 's/.*Build ID: //p')

place() {
	nm shop | awk -v f="$1" '$3 ~ f { print "0x" $1; exit }'
}

# profile TWICE THRICE: ms of the two; 10 ms of each other one.
profile() {
	printf '%s\n' "module $PWD/shop 0x400000 0x500000 0 $id" \
		"stack 1 $(place '^main$') 0 1 1 10000000" \
		"stack 4 $(place twice) 0 1 $1 ${1}000000" \
		"stack 4 $(place thrice) 0 1 $2 ${2}000000" \
		"stack 4 $(place apply) 0 1 1 10000000" \
		"stack 4 $(place '^_ZNK3BoxIlEltERKS0_$') 0 1 1 10000000" \
		"stack 2 $(place thrice) 0 1 1 10000000" |
		"$writer" || echo "Bail out! no profile"
}

profile 50 10
expect_status 0 "$TARE" ls --json
before=$(printf '%s' "$out" | "$PYTHON" -c "
import json, sys
print(json.load(sys.stdin)[0]['id'])")
profile 10 90

# ---- the command -----------------------------------------------------------

expect_status 0 "$TARE" flame -o f.svg
expect_is "$out$err" "" "nothing is said"
expect_status 0 "$TARE" flame
expect_is "$out" "$(cat f.svg)" "without -o: to standard output"
expect_status 0 "$TARE" flame --diff "$before" -o d.svg
expect_status 0 "$TARE" flame --icicle --reverse --title 'a <b> & "c"' \
	--width 800 --colors warm -o i.svg
expect_has "$(cat i.svg)" 'a &lt;b&gt; &amp; &quot;c&quot;' "a title"
expect_has "$(cat i.svg)" 'width="800"' "a width"
expect_status 0 "$TARE" flame --min 40 -o m.svg
expect_has "$(cat m.svg)" "<title>thrice" "what is wide is drawn"
expect_has_not "$(cat m.svg)" "<title>twice" "what is not is left out"
expect_has "$(cat f.svg)" "<title>twice" "and else it is there"
expect_has "$(cat f.svg)" "<title>Box&lt;long&gt;::operator&lt;(" \
	"names are escaped"
expect_status 2 "$TARE" flame --min much
expect_has "$err" "--min wants a percentage" "nonsense is told"
expect_status 2 "$TARE" flame --from nothing
expect_status 3 "$TARE" flame -o no/such/folder/f.svg
expect_has "$err" "cannot write 'no/such/folder/f.svg'" "and a bad place"
expect_status 3 "$TARE" flame --from calls
expect_has "$err" "no scope was measured" "and that there is nothing"
expect_status 3 "$TARE" flame nosuchrun

# What is no plain file is never replaced, and a link is followed.
mkfifo pipe
"$TARE" flame -o pipe &
expect_is "$(timeout 60 cat pipe)" "$(cat f.svg)" "a pipe is written to"
wait $!
[ -p pipe ]
verdict $? "and stays a pipe"
echo old >target.svg
ln -s target.svg link.svg
expect_status 0 "$TARE" flame -o link.svg
[ -L link.svg ] && cmp -s target.svg f.svg
verdict $? "what a link points to is replaced, not the link"
ln -s made.svg dangling.svg
expect_status 0 "$TARE" flame -o dangling.svg
[ -L dangling.svg ] && cmp -s made.svg f.svg
verdict $? "a link to nothing: the file is made"
echo old >full.svg
(
	ulimit -f 2
	"$TARE" flame -o full.svg 2>refused
	echo "$?" >>refused
)
expect_has "$(cat refused)" "cannot write 'full.svg'" "a limit is an error"
expect_is "$(tail -n 1 refused):$(cat full.svg)" "3:old" \
	"the old file is as it was"
[ -z "$(ls ./*.part 2>/dev/null)" ]
verdict $? "no half files are left"

# ---- the file --------------------------------------------------------------

if command -v xmllint >/dev/null; then
	for file in f d i m; do
		expect_status 0 xmllint --noout $file.svg
	done
else
	expect_skip "no xmllint"
fi
expect_is "$(grep -c -E 'https?://' f.svg)" \
	"$(grep -c -E 'http://www.w3.org/' f.svg)" \
	"nothing is loaded from elsewhere"
[ "$(wc -c <f.svg)" -lt 40000 ]
verdict $? "a small profile is a small file"

# ---- in a browser ----------------------------------------------------------

browser=$(command -v chromium || command -v google-chrome)
if [ -z "$browser" ]; then
	expect_skip "no chromium"
	finish
fi

# dom URL: the document after its script has run.
dom() {
	timeout 120 "$browser" --headless --no-sandbox --disable-gpu \
		--user-data-dir="$work/browser" --window-size=1000,700 \
		--dump-dom "file://$PWD/$1" 2>/dev/null
}

page=$(dom 'f.svg')
if [ -z "$page" ]; then
	expect_skip "chromium does not start here"
	finish
fi
expect_has "$page" '<svg id="frames" x="12" y="76" width="976"' \
	"it takes the window's width"
expect_is "$(grep -o 'id="found"[^>]*>[^<]*' <<<"$page" | sed 's/.*>//')" "" \
	"nothing is searched for"

# 140 ms in all: thrice has 90 and, cut short, 10; twice has 10.
found() {
	dom "$1" | grep -o 'id="found"[^>]*>[^<]*' | sed 's/.*>//'
}
expect_is "$(found 'f.svg#search=thrice')" "matched 71.4 %, 2 boxes" \
	"a search tells the share"
expect_is "$(found 'f.svg#search=%5Et(wi%7Chri)ce')" \
	"matched 78.6 %, 3 boxes" "by regular expressions"
expect_is "$(found 'f.svg#search=operator%3C(')" "matched 7.1 %, 1 box" \
	"what is none is searched for as it is"
expect_is "$(found 'f.svg#search=%5Emain%7Cthrice')" \
	"matched 100.0 %, 3 boxes" "boxes on boxes count once"

# Zoomed: the box has the whole width, what is beside it is gone.
index=$(grep -n '^<g>' f.svg | grep -n '<title>thrice' | head -1 | cut -d: -f1)
page=$(dom "f.svg#zoom=$((index - 1))")
expect_is "$(grep -c 'width="100%" height="17"' <<<"$page")" 3 \
	"zoomed in: the box and its callers have the whole width"
expect_is "$(tr '\n' ' ' <<<"$page" | grep -o '<g[^>]*><title>twice' |
	grep -c 'display: none')" 1 "what is beside it is not shown"
expect_has "$page" 'id="reset" style="visibility: visible;"' \
	"and there is a way back"
finish
