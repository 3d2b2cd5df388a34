#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stderr of a measured program is the program's: nothing of tare's is on it but
# the report, and nothing of the loader's about tare.
hello=${TARE_EXAMPLES:?}/hello
trainer=$TARE_EXAMPLES/gcn_sequential
. "$(dirname "$0")/expect.sh"

# ---- warnings --------------------------------------------------------------

# Wrong options and a folder that cannot be: two warnings.
export TARE_MAX_NODES=many TARE_DIR=/proc/no/folder
TARE=on expect_status 0 "$hello"
expect_is "$err" "tare: no folder for a ledger: measuring in memory, visible \
to this process only" "TARE=on: only that all of it is lost"
TARE=on TARE_WARNINGS=none expect_status 0 "$hello"
expect_is "$err" "" "an option silences that, too"
TARE=on TARE_REPORT=$work/report expect_status 0 "$hello"
expect_is "$err" "" "and a report has it"
expect_has "$(cat "$work/report")" "
warning    no folder for a ledger" "in a file"
rm "$work/report"
TARE=on TARE_DIR=$work/ledgers expect_status 0 "$hello"
expect_is "$err" "" "with a folder nothing is said"
TARE=1 expect_status 0 "$hello"
expect_is "$(printf '%s' "$err" | head -c 6)" "tare  " \
	"TARE=1: the report comes first"
expect_has "$err" "
warning    TARE_MAX_NODES: " "warnings are at its end"
expect_has "$err" "
warning    no folder for a ledger" "each in its line"
expect_has_not "$err" "tare: " "and nowhere else"
TARE=1 TARE_WARNINGS=none expect_status 0 "$hello"
expect_has "$err" "call tree" "none: the report is there"
expect_has_not "$err" "warning" "without a warning"
TARE=on TARE_WARNINGS=stderr expect_status 0 "$hello"
expect_has "$err" "tare: TARE_MAX_NODES: " "stderr: they are said"
expect_has "$err" "tare: no folder for a ledger" "all of them"
TARE=1 TARE_WARNINGS=stderr expect_status 0 "$hello"
expect_has_not "$err" "warning  " "and not repeated in the report"
TARE=1 TARE_REPORT=$work/report expect_status 0 "$hello"
expect_is "$err" "" "a report in a file: nothing is said"
expect_has "$(cat "$work/report")" "
warning    " "they are in the file"
unset TARE_MAX_NODES
export TARE_DIR=$work/ledgers

# The governor acts, and says so to those who want to know.
TARE=on TARE_PERFORMANCE_THRESHOLD=0.0001 expect_status 0 "$hello"
expect_is "$err" "" "measuring less is nothing to say on stderr"

# Under `tare run` they are in its report.
expect_status 0 "$TARE" run --monitor=gpu -- "$BASH" -c 'exec 2>told; "$@"' - \
	"$hello"
expect_is "$(cat told)" "" "tare run: nothing on the program's stderr"
TARE_MAX_NODES=many expect_status 0 "$TARE" run -o report -- "$hello"
expect_is "$err" "" "nor on its own, with a report in a file"
expect_has "$(cat report)" "
warning    TARE_MAX_NODES: " "which has them"
TARE_MAX_NODES=many expect_status 0 "$TARE" run --no-report -- "$hello"
expect_is "$err" "" "no report, no warnings"

# Files of a training that cannot be written.
touch file
TARE=on expect_status 0 "$trainer" --nodes 200 --epochs 2 --quiet \
	--results file/results
expect_is "$err" "" "a measured training is quiet about its files"
expect_status 0 "$trainer" --nodes 200 --epochs 2 --quiet \
	--results file/results
expect_has "$err" "tare: " "one that is not measured has no report to put it in"
TARE_WARNINGS=none expect_status 0 "$trainer" --nodes 200 --epochs 2 \
	--quiet --results file/results
expect_is "$err" "" "an option silences it"

# ---- programs that cannot load the library ---------------------------------

# quiet COMMAND...: what it prints on stderr under `tare run`, but the report.
quiet() {
	expect_status 0 "$TARE" run -- "$BASH" -c '"$@" 2>told' - "$@"
	err=$(cat told)
}

true=$(type -P true) # not the shell's own
other=$(ldd "$true" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
if [ "$(id -u)" = 0 ] && [ -n "$other" ]; then
	for program in true env; do
		program=$(type -P $program)
		mkdir -p "jail$(dirname "$program")"
		cp "$program" "jail$program"
		ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
			mkdir -p "jail$(dirname "$library")"
			cp -L "$library" "jail$library"
		done
	done
	quiet chroot jail "$true"
	expect_is "$err" "" "below another root the loader has nothing to say"
	export LD_PRELOAD=$other
	quiet chroot jail "$(type -P env)"
	unset LD_PRELOAD
	expect_has "$out" "LD_PRELOAD=$other
" "libraries of others are still loaded there"
	quiet "$PYTHON" -c "
import os
os.chroot('jail')
os.chdir('/')
os.posix_spawn('$true', ['true'], os.environ)
os.wait()
os.execv('$true', ['true'])"
	expect_is "$err" "" "nor of programs that others start there"

	# In a folder of root's.
	mkdir -m 700 private
	cp "$(dirname "$TARE")"/../preload/libtare-*.so private/
	export TARE_PRELOAD_DIR=$PWD/private
	quiet "$PYTHON" -c "
import os
os.setuid(65534)
os.execv('$true', ['true'])"
	unset TARE_PRELOAD_DIR
	expect_is "$err" "" "nor of users that may not read the library"
else
	expect_skip "chroot needs root"
fi

# Another word size: the loader of that one would say so.
cat >small.S <<'END'
	.globl _start
_start:	movl (%esp), %ecx
	leal 8(%esp,%ecx,4), %esi
next:	movl (%esi), %ecx
	testl %ecx, %ecx
	jz done
	movl $11, %edx
	movl $1, %ebx
	movl $4, %eax
	int $0x80
	addl $4, %esi
	jmp next
done:	movl $1, %eax
	xorl %ebx, %ebx
	int $0x80
	.section .note.GNU-stack,"",@progbits
END
if "$CC" -m32 -nostdlib -static -o small small.S 2>/dev/null && ./small \
	>/dev/null 2>&1; then
	quiet ./small
	expect_has_not "$out" "LD_PRELOAD=" \
		"a program of another word size does not get it"
	quiet env
	expect_has "$out" "libtare-preload.so" "others do"
else
	expect_skip "no program of another word size can be built and run"
fi

finish
