#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tare merge: what many processes measured, from ledgers and from summaries;
# damaged files; more processes than are opened at once.
. "$(dirname "$0")/expect.sh"
build_worker

# Sums of doubles differ in their last digits with the order of the files.
rounded() {
	printf '%s' "$1" | "$PYTHON" -c "
import json, sys
print(json.loads(sys.stdin.read(), parse_float=lambda x: f'{float(x):.9g}'))"
}

# same SENTENCE: is $out the document of the ledgers?
same() {
	expect_is "$(rounded "$out")" "$(rounded "$whole")" "$1"
}

loads='[s["count"] for s in d["all_series"] if s["name"] == "load"]'

expect_status 3 "$TARE" merge
expect_has "$err" "no run" "no run at all"

expect_status 0 "$TARE" run -- sh -c '
	for i in 1 2 3 4 5; do ./worker 10; done; ./worker 100 fork'
expect_status 0 "$TARE" merge --json
expect_json "$out" "$loads" "[250]" "all processes of the newest run"
expect_json "$out" 'd["unreadable_runs"]' 0 "all of them readable"
whole=$out
expect_status 0 "$TARE" merge
expect_has "$out" "scopes of all processes" "a table"
expect_status 0 "$TARE" merge -n 1
expect_has "$out" "more (--top 0 shows all)" "the first row of each table"

# ---- a summary for each of two hosts -----------------------------------------

mkdir a b all
n=0
for ledger in ledgers/runs/*.tare; do
	n=$((n + 1))
	cp "$ledger" "$([ $((n % 2)) = 0 ] && echo a || echo b)/"
done
expect_status 0 "$TARE" merge -o all/a.summary ./a
expect_has "$err" "in 'all/a.summary'" "says what was written"
expect_status 0 "$TARE" merge -o all/b.summary ./b
expect_status 0 "$TARE" merge --json ./all
same "summaries of halves: the same as all ledgers"
expect_status 0 "$TARE" merge -o all.summary ./all
expect_status 0 "$TARE" merge --json ./all.summary
same "and a summary of summaries"
expect_status 0 "$TARE" merge --json ./a ./all/b.summary
same "ledgers and a summary"

# ---- what cannot be read -----------------------------------------------------

head -c 3000 all.summary >cut.summary
sed 's/^counts\t[0-9]*\t[0-9]*/counts\t7\t9999/' all.summary >wrong.summary
echo "tare-summary	2" >newer.summary
expect_status 0 "$TARE" merge --json ./all.summary ./cut.summary \
	./wrong.summary ./newer.summary ./none ./worker
expect_json "$out" "$loads" "[250]" "nothing of what is damaged counts"
expect_json "$out" 'd["unreadable_runs"]' 5 "JSON counts them"
expect_has "$err" "5 files could not be read" "and they are told"
expect_status 3 "$TARE" merge ./cut.summary
expect_has "$err" "nothing to merge" "none is readable"
expect_status 3 "$TARE" merge -o none/x.summary ./a
expect_has "$err" "cannot write 'none/x.summary'" "no folder"
expect_status 3 "$TARE" merge nosuchprogram
expect_status 2 "$TARE" merge --nosuch

finish
