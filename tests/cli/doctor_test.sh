#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare doctor: every row, why something is missing, and never an error.
. "$(dirname "$0")/expect.sh"

# row NAME: the line of it, from the output before.
row() {
	grep -E "^(yes|no )  $1 " <<<"$out"
}

expect_status 0 "$TARE" doctor
for name in clock ledger configuration memory pressure cgroup cpu disk \
	network process_io process_pss heap energy hardware_counters gpu \
	sampling_signal wipe_on_fork populate_write sampling alloc_tracking; do
	expect_has "$(row $name)" " $name " "a row for $name"
done
expect_has "$(row ledger)" "$TARE_DIR/live" "the folder of ledgers"
expect_has "$(row configuration)" "file: none" "no tare.conf"
expect_has "$(row sampling_signal)" "SIGRTMIN+" "the signal of samples"
expect_has "$(row sampling)" "perf_event_paranoid" "what perf events need"
expect_has "$(row sampling)" "signal $(row sampling_signal |
	sed 's/.*sampling_signal *\([0-9]*\).*/\1/')" "and the same signal"
expect_has "$(row alloc_tracking)" "libtare-alloc.so" "what is loaded"
n_no=$(grep -c '^no ' <<<"$out")
expect_is "$(grep -c '^  *needed: ' <<<"$out")" "$n_no" \
	"what would help, for everything that is missing"
n_all=$(grep -cE '^(yes|no ) ' <<<"$out")
expect_has "$out" "$((n_all - n_no)) of $n_all are available" "the sum"
expect_is "$err" "" "and no message"

# What the files of this machine say.
[ -r /proc/pressure/memory ] && wanted=yes || wanted="no "
expect_is "$(row pressure | cut -c 1-3)" "$wanted" "pressure as in /proc"
if cat /sys/class/powercap/intel-rapl:0/energy_uj >/dev/null 2>&1; then
	expect_is "$(row energy | cut -c 1-3)" "yes" "energy as in /sys"
else
	expect_is "$(row energy | cut -c 1-3)" "no " "energy as in /sys"
fi
clock=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)
if [ "$(uname -m)" = x86_64 ]; then
	[ "$clock" = tsc ] && wanted=yes || wanted="no "
	expect_is "$(row clock | cut -c 1-3)" "$wanted" "the kernel's clock"
fi
[ ! -r /proc/sys/kernel/perf_event_paranoid ] ||
	expect_has "$(row hardware_counters)" "perf_event_paranoid is \
$(cat /proc/sys/kernel/perf_event_paranoid)" "the setting of the counters"

expect_status 0 "$TARE" doctor --json
expect_json "$out" "sorted({tuple(sorted(r)) for r in d})" \
	"[('available', 'detail', 'help', 'name')]" "the fields"
expect_json "$out" "sum(not r['available'] for r in d)" "$n_no" "the same"
expect_json "$out" \
	"[r['name'] for r in d if r['available'] == bool(r['help'])]" "[]" \
	"help where it is needed and only there"

# A folder that cannot be made.
expect_status 0 env TARE_DIR=/proc/none "$TARE" doctor
expect_has "$(row ledger)" "no folder for ledgers" "no place for ledgers"
expect_has "$out" "needed: TARE_DIR" "and what would help"

# Files and variables.
echo 'max_depth = 9' >tare.conf
expect_status 0 env TARE=standby "$TARE" doctor
expect_has "$(row configuration)" "TARE is standby" "the switch"
expect_has "$(row configuration)" "file: tare.conf" "the file"
expect_status 0 env TARE_MAX_DEPT=3 "$TARE" doctor
expect_has "$(row configuration)" "did you mean TARE_MAX_DEPTH" \
	"a variable that is none"
expect_is "$(row configuration | cut -c 1-3)" "no " "is a finding"
rm tare.conf

# Another allocator: what glibc's counts would be nobody's.
printf '#include <stddef.h>\nextern void *__libc_malloc(size_t);
void *malloc(size_t n) { return __libc_malloc(n); }\n' >other.c
if "$CC" -shared -fPIC -o other.so other.c 2>/dev/null &&
	env LD_PRELOAD="$PWD/other.so" true 2>/dev/null; then
	expect_status 0 env LD_PRELOAD="$PWD/other.so" "$TARE" doctor
	expect_has "$(row heap)" "malloc is not the one of libc" \
		"another malloc is seen"
else
	expect_skip "no other malloc can be loaded here"
fi

# An environment that has next to nothing.
expect_status 0 env -i "$TARE" doctor
expect_status 2 "$TARE" doctor now later
expect_status 3 sh -c "'$TARE' doctor >/dev/full"
# ---- one program -------------------------------------------------------------

expect_status 0 "$TARE" doctor cat
expect_has "$(row alloc_tracking)" "into 'cat'" "a program that is given"
echo 'int main(void) { return 0; }' >none.c
if "$CC" -static none.c -o static 2>/dev/null; then
	expect_status 0 "$TARE" doctor ./static
	for name in sampling alloc_tracking; do
		expect_has "$(row $name)" "no   $name" "static: no $name"
		expect_has "$(row $name)" "'./static' is a static program" \
			"why"
	done
	expect_has "$out" "needed: link it dynamically, or link libtare" \
		"and what to do"
else
	expect_skip "no static libc"
fi
expect_status 3 "$TARE" doctor ./missing
expect_has "$(row sampling)" "'./missing' is not found" "a missing program"
mkdir empty
expect_status 0 env TARE_PRELOAD_DIR="$PWD/empty" "$TARE" doctor
expect_has "$(row sampling)" "libtare-preload.so is not found" "no library"
expect_has "$(row alloc_tracking)" "no   alloc_tracking" "nor the other"
expect_has "$out" "needed: TARE_PRELOAD_DIR" "and what to do"
echo text >empty/libtare-alloc.so
expect_status 0 env TARE_PRELOAD_DIR="$PWD/empty" "$TARE" doctor
expect_has "$(row alloc_tracking)" "is not loaded into a program" \
	"it is tried: a file that is no library"
finish
