# SPDX-License-Identifier: Apache-2.0
# For the tests of the command line, which source it first:
#
#	. "$(dirname "$0")/expect.sh"
#	expect_status 2 "$TARE" nonsense
#	expect_has "$err" "unknown command 'nonsense'" "names the command"
#	finish
#
# Where things are:
#	TARE_BIN, TARE_PROGRAM	the program `tare`
#	TARE_LIB		folder of libtare; else beside the program
#	CC			compiler of the measured program
#
# Every script has a folder of its own for ledgers, settings and files, and
# an environment without any TARE_ variable but TARE_DIR.

# A shell cannot undo that a signal is ignored, as in the background.
if [ -z "${EXPECT_SIGNALS:-}" ] &&
	env --default-signal=INT,QUIT,HUP true 2>/dev/null; then
	EXPECT_SIGNALS=1 exec env --default-signal=INT,QUIT,HUP "$BASH" "$0"
fi

set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
TARE=${TARE_BIN:-${TARE_PROGRAM:?TARE_BIN must be the program tare}}
LIB=${TARE_LIB:-$(dirname "$TARE")/../src}
CC=${CC:-cc}
# Once: behind the name may be a script that looks for the program.
PYTHON=$(python3 -c 'import sys; print(sys.executable)')

HAS_NAMES=${TARE_TEST_NAMES:-yes} # of functions: built with libdw
HAS_RUST_NAMES=${TARE_TEST_RUST:-yes} # built with libiberty
for variable in ${!TARE_@}; do
	unset "$variable"
done
unset NO_COLOR COLUMNS TERM_PROGRAM
export LC_ALL=C TZ=UTC

work=$(mktemp -d "${TMPDIR:-/tmp}/tare-cli.XXXXXX")
export TARE_DIR=$work/ledgers HOME=$work/home
export XDG_CONFIG_HOME=$work/home/config XDG_STATE_HOME=$work/home/state
mkdir -p "$HOME"
cd "$work" || exit 1

# Whatever happens, no process of ours is left: the shell knows which of its
# jobs still run, so that no number is taken for another process.
leave() {
	local pid
	for pid in $(jobs -pr); do
		kill -9 "$pid" 2>/dev/null
	done
	[ ! -S "$work/tmux" ] || tmux -S "$work/tmux" kill-server 2>/dev/null
	cd / && rm -rf "$work"
}
trap leave EXIT

n_checks=0
n_failed=0
failures=

# The verdict of one check: 0 or else, its sentence, and what was seen.
verdict() {
	n_checks=$((n_checks + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n_checks - $2"
		return
	fi
	n_failed=$((n_failed + 1))
	echo "not ok $n_checks - $2"
	printf '%s\n' "${3:-}" | sed 's/^/#   /'
	failures+="#   $n_checks - $2, ${3%%$'\n'*}"$'\n'
}

# expect_is GOT WANTED SENTENCE
expect_is() {
	[ "$1" = "$2" ]
	verdict $? "$3" "got    '$1'
wanted '$2'"
}

# expect_has TEXT PART SENTENCE
expect_has() {
	case $1 in
	*"$2"*) verdict 0 "$3" ;;
	*) verdict 1 "$3" "no '$2' in:
$1" ;;
	esac
}

expect_has_not() {
	case $1 in
	*"$2"*) verdict 1 "$3" "'$2' is in:
$1" ;;
	*) verdict 0 "$3" ;;
	esac
}

# expect_status STATUS COMMAND...: leaves $out, $err and $status behind.
expect_status() {
	local wanted=$1
	shift
	"$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	out=$(cat "$work/out")
	err=$(cat "$work/err")
	[ "$status" = "$wanted" ]
	verdict $? "exit status $wanted: $(short "$@")" "got $status; stderr:
$err"
}

# A command line without the folders, which differ from run to run.
short() {
	printf '%s' "$*" | sed "s|$TARE|tare|g; s|$work/||g" | tr '\n' ' ' |
		cut -c 1-90
}

# expect_json TEXT EXPRESSION WANTED SENTENCE: of the document `d`.
expect_json() {
	local got
	got=$(printf '%s' "$1" | "$PYTHON" -c "
import json, sys
d = json.load(sys.stdin)
x = ($2)
print(x)" 2>&1)
	expect_is "$got" "$3" "$4"
}

expect_skip() {
	n_checks=$((n_checks + 1))
	echo "ok $n_checks - skipped: $1"
}

# Of a test that is about names of functions: the first line.
needs_names() {
	[ "$HAS_NAMES" = yes ] && return
	echo "1..0 # SKIP this tare was built without libdw"
	exit 77
}

# Waits until the command succeeds, a minute at most: others may be at work.
wait_until() {
	local end=$((SECONDS + 60))
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# stands COMMAND...: says the same twice, 0.3 s apart.
stands() {
	local before
	before=$("$@")
	sleep 0.3
	[ "$("$@")" = "$before" ]
}

# Compiles the measured program to $work/worker.
build_worker() {
	local library=$LIB/libtare.so

	[ -e "$library" ] || library=$LIB/libtare.a
	"$CC" -std=c11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror \
		${WORKER_FLAGS:-} -I"$root/include" "$here/worker.c" \
		"$library" -Wl,-rpath,"$LIB" -lpthread -o "$work/worker" ||
		{ echo "Bail out! cannot build worker.c"; exit 1; }
}

# Starts a worker that measures and waits for "ready". Its id is in
# $worker_pid. Descriptor 7 holds its standard input open: what else runs in
# the background must close it.
start_worker() {
	rm -f "$work/input" "$work/ready"
	mkfifo "$work/input"
	TARE=${mode:-on} "$work/worker" "$@" <"$work/input" >"$work/ready" &
	worker_pid=$!
	exec 7>"$work/input"
	wait_until grep -q ready "$work/ready" ||
		{ echo "Bail out! the worker does not start"; exit 1; }
}

# Ends it in order: its input ends.
finish_worker() {
	exec 7>&-
	wait "$worker_pid"
}

kill_worker() {
	kill -9 "$worker_pid"
	wait "$worker_pid" 2>/dev/null
	exec 7>&-
}

finish() {
	echo "1..$n_checks"
	[ $n_failed = 0 ] && exit 0
	printf '# %s of %s failed:\n%s' $n_failed $n_checks "$failures"
	exit 1
}
