#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Nothing there is exit status 3, in every command: no run, no such run, a run
# that has nothing of what the command shows, no server. Then stderr says so,
# and JSON is still JSON. What a selection leaves nothing of is status 0.
. "$(dirname "$0")/expect.sh"

# Of one run; about all runs; without runs; what runs or serves something.
of_run="report tree flame alloc stages amdahl mpi records summary trend compare
	export verify"
of_live="top ctl"
of_runs="ls rm merge history"
of_server="url alerts"
of_none="bench changes check config doctor flags run serve"
expect_is "$("$TARE" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' |
	sort | xargs)" \
	"$(printf '%s\n' $of_run $of_live $of_runs $of_server $of_none | sort |
		xargs)" "every command is walked here"

# nothing COMMAND...: status 3 and a message.
nothing() {
	expect_status 3 "$TARE" "$@"
	expect_has "$err" "tare: " "and says what is missing"
}

# words COMMAND RUN: its words for a run.
words() {
	case $1 in
	ctl) echo "ctl $2 get" ;;
	*) echo "$1 $2" ;;
	esac
}

# ---- no run ------------------------------------------------------------------

for command in $of_run $of_live; do
	nothing $(words $command last)
	nothing $(words $command last~1)
	nothing $(words $command prog)
	nothing $(words $command 20200101-000000.000-1)
	nothing $(words $command ./none.tare)
done
nothing top
nothing ls
nothing rm last
nothing rm --all
nothing rm ./none.tare
nothing url
nothing alerts
nothing doctor ./none
for command in config doctor flags; do
	expect_status 0 "$TARE" $command
done
nothing ls --json
expect_json "$out" "d" "[]" "and an empty list"

# ---- a run that has nothing --------------------------------------------------

cat >none.c <<'END'
#include <tare/probe.h>
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		TARE_SCOPE("never");
	}
	return 0;
}
END
"$CC" -std=c11 -D_GNU_SOURCE -I"$root/include" none.c "$LIB/libtare.a" \
	-lpthread -ldl -lm -o none || exit 1
TARE=on ./none
for command in tree flame alloc stages amdahl mpi records summary trend; do
	nothing $command
done
for command in tree alloc stages amdahl records summary trend; do
	expect_status 3 "$TARE" $command --json
	[ -z "$out" ] || expect_json "$out" "d is not None" True \
		"$command: JSON is complete"
done
for command in report compare export verify; do
	expect_status 0 "$TARE" $command last
done
nothing ctl last get
nothing top
nothing tree --focus never

# ---- a selection that leaves nothing -----------------------------------------

build_worker
TARE=on ./worker 5 </dev/null >/dev/null
for command in report records summary trend export; do
	expect_status 0 "$TARE" $command --name 'nothing*'
done
expect_status 0 "$TARE" ls 'nothing*'
expect_status 0 "$TARE" ls --live
expect_status 0 "$TARE" rm --older 1000d
finish
