#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Words for runs, the same in every command: an id, its beginning, a process,
# a program, last, last~N, PROGRAM~N, a path with a slash. What is ambiguous or
# unknown is an error that says what there is.
. "$(dirname "$0")/expect.sh"
build_worker
cp worker alpha
cp worker beta

# Runs of one worker each, and the id of the newest.
run_one() {
	TARE=on "./$1" </dev/null >/dev/null
	"$TARE" ls --ids | head -1
}

# The id that a word means.
meant() {
	expect_status 0 "$TARE" report "$1" --json
	expect_json "$out" "d['run']['id']" "$2" "'$1' means $3"
}

expect_status 3 "$TARE" report
expect_has "$err" "no run found; make one with" "no run: what to do"
expect_status 3 "$TARE" report last~1
expect_has "$err" "no run found; make one with" "nor is there one before"

a1=$(run_one alpha)
b1=$(run_one beta)
a2=$(run_one alpha)
a3=$(run_one alpha)
b2=$(run_one beta)

# ---- what each word means ---------------------------------------------------

meant last "$b2" "the newest"
meant last~0 "$b2" "the same"
meant last~1 "$a3" "the one before"
meant last~4 "$a1" "the oldest"
meant alpha "$a3" "its newest run"
meant alpha~1 "$a2" "the one before"
meant alpha~2 "$a1" "the oldest of that program"
meant beta~1 "$b1" "the same of another program"
meant "$a2" "$a2" "the run of that id"
meant "${a2%?}" "$a2" "the only run whose id begins so"
meant "${a2##*-}" "$a2" "the run of that process"
cp "$TARE_DIR"/*runs*/"$b1.tare" alpha.tare 2>/dev/null ||
	cp "$(find "$TARE_DIR" -name "$b1.tare")" alpha.tare
expect_status 0 "$TARE" report ./alpha.tare --json
expect_json "$out" "d['run']['program']" beta "a path has a slash"

# ---- what is unknown ---------------------------------------------------------

expect_status 3 "$TARE" report alpha.tare
expect_has "$err" "a path needs a slash: './alpha.tare'" \
	"a file without a slash: how to write it"
cp "$(find "$TARE_DIR" -name "$b1.tare")" beta
meant beta "$b2" "the run, though there is a file of that name"
expect_status 3 "$TARE" report alpah
expect_has "$err" "cannot open 'alpah': not found; did you mean 'alpha'" \
	"a typing error: the program that is meant"
expect_status 3 "$TARE" report alpha~3
expect_has "$err" "there are 3, and the oldest is 'alpha~2'" \
	"too far back: how far one can go"
expect_status 3 "$TARE" report last~5
expect_has "$err" "there are 5, and the oldest is 'last~4'" \
	"the same of all runs"
expect_status 3 "$TARE" report nothing~1
expect_has "$err" "cannot open 'nothing~1': not found" "no such program"
expect_status 3 "$TARE" report ""
expect_status 3 "$TARE" report "~1"
expect_status 3 "$TARE" report "last~x"

# ---- what is ambiguous -------------------------------------------------------

expect_status 2 "$TARE" report "${a1%%-*}"
expect_has "$err" "'${a1%%-*}' is ambiguous: it may mean 5 runs" \
	"a beginning of several ids"
for id in "$a1" "$a2" "$a3" "$b1" "$b2"; do
	expect_has "$err" "$id" "lists $id"
done
cp worker "${a1%?}"
c1=$(run_one "${a1%?}")
expect_status 2 "$TARE" report "${a1%?}"
expect_has "$err" "may mean 2 runs" "a program called like the id of another"
expect_has "$err" "$a1" "lists the one"
expect_has "$err" "$c1" "and the other"
meant "$a1" "$a1" "a whole id, whatever programs are called"

# ---- every command ----------------------------------------------------------

for command in report tree records summary stages trend export verify amdahl; do
	"$TARE" "$command" alpha~1 >one 2>&1
	by_name=$?
	"$TARE" "$command" "$a2" >two 2>&1
	expect_is "$by_name" $? "'tare $command alpha~1' ends as with its id"
	expect_is "$(sed "s/alpha~1/$a2/g" one)" "$(cat two)" \
		"and says the same"
	expect_status 2 "$TARE" "$command" "${a1%%-*}"
	expect_has "$err" "is ambiguous" "'tare $command' says so too"
done

# ---- a live one, and processes of one tare run ------------------------------

start_worker 10 hold
cp worker gamma
meant "$worker_pid" "$("$TARE" ls --live --ids)" "the live process"
expect_status 0 "$TARE" ctl worker off
expect_status 0 "$TARE" top worker --once
kill_worker

cat >both <<'END'
#!/bin/sh
./gamma </dev/null >/dev/null
./alpha </dev/null >/dev/null
./alpha </dev/null >/dev/null
END
chmod +x both
"$TARE" run --no-sample -- ./both 2>/dev/null >&2
meant last "$(cat "$TARE_DIR/last")" "the run that tare run reported"
expect_status 0 "$TARE" report last~1 --json
expect_json "$out" "d['run']['program']" worker \
	"last~1 is before the whole tare run, not another of its processes"
meant alpha~1 "$a3" "so is the run before of a program it ran twice"
finish
