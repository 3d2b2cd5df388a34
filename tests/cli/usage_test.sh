#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Wrong usage, exit statuses, help: what needs no run.
. "$(dirname "$0")/expect.sh"

commands="run report tree top ls records summary export verify
	ctl config doctor serve url flags"

expect_status 2 "$TARE"
expect_has "$err" "usage: tare COMMAND" "without a word the overview"
expect_is "$out" "" "and nothing on stdout"

expect_status 0 "$TARE" --version
expect_is "$out" "tare $(sed -n 's/.*define TARE_VERSION "\(.*\)"/\1/p' \
	"$root/include/tare/version.h")" "the version of the header"

expect_status 0 "$TARE" help
for command in $commands; do
	expect_has "$out" "  $command " "help names $command"
done

expect_status 2 "$TARE" reprot
expect_is "$err" "tare: unknown command 'reprot'; did you mean 'report'; \
see 'tare help'" "an unknown command, and what was meant"
expect_status 2 "$TARE" zzz
expect_has_not "$err" "did you mean" "no guess where nothing is near"
expect_status 2 "$TARE" help zzz
expect_status 2 "$TARE" --zzz

expect_status 2 "$TARE" report --srot own
expect_has "$err" "did you mean '--sort'" "an unknown option"
expect_status 2 "$TARE" report --sort size
expect_has "$err" "wrong value 'size' for '--sort'" "a wrong choice"
expect_status 2 "$TARE" report --sort
expect_has "$err" "option '--sort' needs KEY" "a missing value"
expect_status 2 "$TARE" report --json=yes
expect_has "$err" "takes no value" "a value too many"
expect_status 2 "$TARE" report --top many
expect_has "$err" "not a whole number" "a number that is none"
expect_status 2 "$TARE" report --top -1
expect_status 2 "$TARE" report --last soon
expect_has "$err" "not a time such as 5m" "a time that is none"
expect_status 2 "$TARE" report one two
expect_has "$err" "unexpected argument 'two'" "an operand too many"
expect_status 2 "$TARE" report -Z
expect_status 2 "$TARE" run
expect_has "$err" "no program to run" "run without a program"
expect_status 2 "$TARE" run --set max_dept=9 -- true
expect_has "$err" "did you mean 'max_depth'" "an unknown setting"
expect_status 2 "$TARE" run --set max_depth -- true
expect_status 2 "$TARE" run --set max_depth=0 -- true
expect_has "$err" "accepted is" "a setting out of range"
expect_status 2 "$TARE" run --no-report -o x -- true
expect_status 2 "$TARE" ctl
expect_status 2 "$TARE" ctl 1 jump
expect_status 2 "$TARE" ctl 1 set
expect_status 2 "$TARE" ctl 1 set nonsense=1
expect_status 2 "$TARE" ctl 1 on off
expect_status 2 "$TARE" top --delay 1ms
expect_status 2 "$TARE" config --json --conf
expect_status 2 "$TARE" ls --color sometimes

# Nothing has been measured yet.
for command in report tree records summary export verify; do
	expect_status 3 "$TARE" $command
	expect_has "$err" "no run found" "$command without any run"
	expect_status 3 "$TARE" $command nonsense
	expect_has "$err" "'nonsense'" "$command names what it misses"
	expect_is "$out" "" "$command leaves stdout empty"
done
expect_status 3 "$TARE" top
expect_has "$err" "no live run" "top without any run"
expect_status 3 "$TARE" ls
expect_is "$out" "" "no runs are no lines"
expect_status 3 "$TARE" ls --json
expect_json "$out" "d" "[]" "no runs are an empty array"
expect_status 3 env TARE=1 "$TARE" ls --ids
expect_is "$out" "" "tare does not measure itself, whatever TARE is"
expect_has_not "$err" "nothing was measured" "and reports nothing of itself"
expect_status 3 "$TARE" verify ./missing
expect_has "$err" "cannot open './missing': no such file" "a missing file"

# Help starts with examples, and knows what the sources accept.
for command in $commands; do
	expect_status 0 "$TARE" $command --help
	text=$out
	expect_is "$(sed -n 3p <<<"$text")" "examples:" \
		"$command: examples first"
	expect_status 0 "$TARE" help $command
	expect_is "$out" "$text" "help $command is $command --help"
	expect_status 0 "$TARE" $command -h
	expect_is "$(awk 'length > 80' <<<"$text")" "" "$command: 80 columns"

	sources="$root/cli/cmd_$command.c $root/cli/args.c"
	# The rows of selection.h that it has, by the names of their macros.
	parts=$(grep -o 'SELECTION_[A-Z]*(' "$root/cli/cmd_$command.c" |
		sed 's/OPTIONS(/\\(SERIES\\|OUTCOME\\|TIME\\|VALUES\\)(/')
	for part in $parts; do
		sed -n "/^#define $part/,/[^\\\\]\$/p" \
			"$root/cli/selection.h"
	done >rows
	sources="$sources rows"
	names=$(sed -n \
		"s/^.*{ \(0\|'.'\), \"\([a-z-]*\)\", OPTION_.*/\2/p" $sources)
	grep -q 'OPTION_JSON(' "$root/cli/cmd_$command.c" && names="$names json"
	for name in $names; do
		expect_has "$text" "--$name" "$command: help has --$name"
		expect_has "$(cat "$root/docs/man/tare-$command.1")" \
			"Fl -$name" "$command: so has its page"
	done
	# And what help names is accepted. A server would go on for ever.
	for name in $(grep -o -- ' --[a-z-]*' <<<"${text#*options:}"); do
		expect_has_not "$(timeout 3 "$TARE" $command "$name" x 2>&1 \
			</dev/null)" "unknown option" "$command: takes $name"
	done
done

expect_status 0 "$TARE" config
expect_has "$out" "TARE_MAX_DEPTH" "config names variables"
expect_status 0 "$TARE" config --json
expect_json "$out" "[o['default'] for o in d if o['name'] == 'max_depth'][0]" \
	512 "config as JSON"
expect_status 0 "$TARE" config --conf
expect_has "$out" "# max_depth = 512" "config as a file"
"$TARE" config --conf | sed -n 's/^# \([a-z_]* = .*\)/\1/p' >defaults.conf
expect_status 0 env TARE_CONF=defaults.conf "$TARE" config --json
expect_json "$out" \
	"[o['name'] for o in d if o['value'] != o['default']]" \
	"['dir']" "the file of defaults sets the defaults"
expect_status 0 "$TARE" config --markdown
expect_has "$out" '| `max_depth` | `TARE_MAX_DEPTH` | `512` |' \
	"config as markdown"

expect_status 3 sh -c "'$TARE' config >/dev/full"
expect_has "$err" "cannot write to 'standard output': no space" "a full disk"
expect_status 0 bash -c "set -o pipefail; '$TARE' help | head -1"
expect_is "$err" "" "a reader that goes away is no error"

expect_status 0 "$TARE" config --color always
expect_has "$out" $'\033[1m' "--color always"
expect_status 0 "$TARE" config
expect_has_not "$out" $'\033' "no colours without a terminal"
finish
