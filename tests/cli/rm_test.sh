#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tare rm and tare ls: what is removed and kept, sizes, filters and orders.
. "$(dirname "$0")/expect.sh"
build_worker
cp worker alpha
cp worker beta

run_one() {
	TARE=on "./$1" "${2:-10}" </dev/null >/dev/null
	"$TARE" ls --ids | head -1
}

ids() {
	"$TARE" ls --ids "$@" | sort | tr '\n' ' '
}

# sorted IDS...: as ids() prints them
sorted() {
	printf '%s\n' "$@" | sort | tr '\n' ' '
}

expect_status 3 "$TARE" ls
expect_has "$err" "no run; make one" "no run at all"
expect_status 3 "$TARE" rm --all
expect_has "$err" "no run to remove" "nothing there to remove"

a1=$(run_one alpha)
b1=$(run_one beta)
a2=$(run_one alpha)
b2=$(run_one beta)

# ---- ls ----------------------------------------------------------------------

expect_is "$(ids alpha)" "$(sorted "$a1" "$a2")" "ls: runs of a program"
expect_is "$(ids 'b*')" "$(sorted "$b1" "$b2")" "by a glob"
expect_is "$(ids "$a1" beta)" "$(sorted "$a1" "$b1" "$b2")" "several words"
expect_status 0 "$TARE" ls none
expect_is "$out" "" "none is selected"
expect_is "$("$TARE" ls --ids -n 1)" "$b2" "the newest alone"
expect_is "$("$TARE" ls --names)" "beta
alpha" "names of programs, each once"
expect_is "$("$TARE" ls --ids --sort program | head -1)" "$a2" \
	"by program, the newest first"
expect_status 2 "$TARE" ls --sort nothing

file=$(find "$TARE_DIR" -name "$a1.tare")
beside=${file%.tare}
truncate -s 0 "$beside.svg" "$beside.end" "$beside.base"
printf '%0100000d' 0 >"$beside.svg"
sync -f "$beside.svg"
wanted=$(($(stat -c '%b * %B +' "$file" "$beside".svg "$beside".end \
	"$beside".base | tr '\n' ' ') 0))
expect_status 0 "$TARE" ls "$a1" --size
expect_has "$out" "BYTES" "sizes in bytes"
expect_has "$out" "1 run, $wanted bytes (" \
	"the sum of the ledger and the files beside it"
expect_status 0 "$TARE" ls --size --json
expect_json "$out" "[r['bytes'] for r in d if r['id'] == '$a1'][0]" \
	"$wanted" "also as JSON"
expect_is "$("$TARE" ls --ids --size --sort size | head -1)" "$a1" \
	"by size, the largest first"

# ---- rm ----------------------------------------------------------------------

expect_status 2 "$TARE" rm
expect_has "$err" "no run to remove: name one" "without a word: usage"
expect_status 2 "$TARE" rm --all last
expect_status 2 "$TARE" rm --all --keep 1
expect_status 2 "$TARE" rm --keep x
expect_status 3 "$TARE" rm gamma
expect_has "$err" "cannot open 'gamma': not found" "an unknown run"
expect_status 2 "$TARE" rm "${a1%%-*}"
expect_has "$err" "is ambiguous" "an ambiguous word removes nothing"
expect_is "$(ids)" "$(sorted "$a1" "$a2" "$b1" "$b2")" "all are still there"

expect_status 0 "$TARE" rm alpha~1
expect_has "$out" "removed $a1  alpha" "says which"
expect_has "$out" "1 run removed, $wanted bytes" "and how many bytes"
expect_is "$(find "$TARE_DIR" -name "$a1*")" "" "files beside it are gone too"
expect_is "$(ids)" "$(sorted "$a2" "$b1" "$b2")" "the others are there"

cp "$(find "$TARE_DIR" -name "$b1.tare")" copy.tare
touch copy.svg
expect_status 0 "$TARE" rm ./copy.tare
expect_is "$(ls copy.* 2>/dev/null)" "" "a path: the file and what is beside"
echo text >text.tare
expect_status 3 "$TARE" rm ./text.tare
expect_is "$(cat text.tare)" text "a file that is no ledger is kept"
expect_status 3 "$TARE" rm ./none.tare

# ---- a live one -------------------------------------------------------------

start_worker 10 hold
live=$("$TARE" ls --live --ids)
expect_status 3 "$TARE" rm last
expect_has "$err" "cannot remove '$live': it is live" "a live run is refused"
expect_status 3 "$TARE" rm "$live" beta~1
expect_is "$(ids)" "$(sorted "$a2" "$b2" "$live")" "the other is removed"
expect_status 0 "$TARE" rm --keep 2
expect_is "$(ids)" "$(sorted "$b2" "$live")" "all but the newest two"
expect_status 0 "$TARE" rm --older 1h
expect_has "$err" "no run to remove" "none is so old"
expect_status 0 "$TARE" rm --all
expect_is "$(ids)" "$(sorted "$live")" "--all keeps what is live"
kill_worker
expect_status 0 "$TARE" rm --older 1ms
expect_is "$(ids)" "" "older than a millisecond"

# ---- processes of one tare run -----------------------------------------------

cat >both <<'END'
#!/bin/sh
./alpha </dev/null >/dev/null
./beta </dev/null >/dev/null
END
chmod +x both
"$TARE" run --no-sample -- ./both >/dev/null 2>&1
"$TARE" run --no-sample -- ./both >/dev/null 2>&1
expect_is "$("$TARE" ls --ids | wc -l)" 4 "two processes in each of two runs"
expect_status 0 "$TARE" rm --keep 1
expect_is "$("$TARE" ls --ids | wc -l)" 2 "processes of one run are one"
expect_status 0 "$TARE" rm last
expect_has "$out" "2 runs removed" "the main run takes the others with it"

# ---- on a terminal -----------------------------------------------------------

if command -v script >/dev/null; then
	b3=$(run_one beta)
	out=$(printf 'n\n' | script -qec "'$TARE' rm last" /dev/null)
	expect_has "$out" "remove 1 run, " "asks"
	expect_is "$(ids)" "$b3 " "no: nothing is removed"
	out=$(printf 'y\n' | script -qec "'$TARE' rm last" /dev/null)
	expect_has "$out" "1 run removed" "yes: removed"
	b4=$(run_one beta)
	out=$(script -qec "'$TARE' rm -y last" /dev/null </dev/null)
	expect_has_not "$out" "[y/N]" "--yes asks nothing"
	expect_is "$(ids)" "" "and removes"
else
	expect_skip "no script(1)"
fi
finish
