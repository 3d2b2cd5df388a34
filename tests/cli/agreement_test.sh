#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What tare/system.h says, against free, ps, GNU time and /proc itself.
#
# Values move while one looks: ours must lie between two readings of the other
# tool that bracket it. Where something came and went in between, the next try
# decides; a value that means something else never lies there.
. "$(dirname "$0")/expect.sh"
"$CC" -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -I"$root/include" \
	"$here/reading.c" "$LIB/libtare.a" -lpthread -o reading ||
	{ echo "Bail out! cannot build reading.c"; exit 1; }

# ours NAME: of the reading before.
ours() {
	awk -v name="$1" '$1 == name { print $2 }' ours
}

# bracket NAME SENTENCE COMMAND...: COMMAND prints the other tool's value.
bracket() {
	local name=$1 sentence=$2 low high value seen=""
	shift 2
	for _ in $(seq 100); do
		low=$("$@")
		./reading system >ours
		high=$("$@")
		value=$(ours "$name")
		[ "$low" -le "$high" ] 2>/dev/null ||
			{ local t=$low; low=$high; high=$t; }
		if [ "$low" -le "$value" ] && [ "$value" -le "$high" ]; then
			verdict 0 "$sentence"
			return
		fi 2>/dev/null
		seen="$low <= $value <= $high does not hold"
	done
	verdict 1 "$sentence" "$seen"
}

# ---- free -------------------------------------------------------------------

# free_of LINE COLUMN
free_of() {
	free -b | awk -v line="$1" -v column="$2" '$1 == line { print $column }'
}

if ! command -v free >/dev/null; then
	expect_skip "free is not installed"
elif ./reading system >ours && [ "$(ours limit)" != unknown ] &&
	[ "$(ours total)" != "$(free_of Mem: 2)" ]; then
	expect_skip "free knows nothing of this container's limit"
else
	bracket total "total memory is that of free" free_of Mem: 2
	bracket available "available memory is that of free" free_of Mem: 7
	# Before 4.0.1 it counted what could be dropped as used.
	case $(free --version) in
	*" 4."*) bracket used "used memory is that of free" free_of Mem: 3 ;;
	*) expect_skip "this free has another idea of used" ;;
	esac
	bracket swap_total "swap is that of free" free_of Swap: 2
	bracket swap_used "used swap is that of free" free_of Swap: 3
fi

# ---- /proc and /sys ---------------------------------------------------------

load_of_proc() {
	awk '{ printf "%d\n", $1 * 100 + 0.5 }' /proc/loadavg
}
bracket load "load is that of /proc/loadavg" load_of_proc
if command -v nproc >/dev/null; then
	bracket cpus "the CPUs are those of nproc" env -u OMP_NUM_THREADS nproc
fi

# Of hardware, or all but the loopback. One file at a time: they move.
interfaces() {
	ls -d /sys/class/net/*/device 2>/dev/null | sed 's|/device||' |
		grep . || ls -d /sys/class/net/* | grep -v '/lo$'
}
net_bytes() {
	local sum=0 n
	for folder in $(interfaces); do
		n=$(cat "$folder/statistics/$1")
		sum=$((sum + n))
	done
	echo $sum
}
if [ -n "$(interfaces 2>/dev/null)" ]; then
	bracket received "bytes received are those of /sys" net_bytes rx_bytes
	bracket sent "bytes sent are those of /sys" net_bytes tx_bytes
else
	expect_skip "no interface but the loopback"
fi

disk_bytes() {
	local sum=0 n
	for folder in /sys/block/*/device; do
		n=$(awk -v column="$1" '{ print $column }' \
			"${folder%/device}/stat")
		sum=$((sum + n * 512))
	done
	echo $sum
}
if ls -d /sys/block/*/device >/dev/null 2>&1 &&
	! ls -d /sys/block/{sr,fd}[0-9]* >/dev/null 2>&1; then
	bracket read "bytes read are those of /sys" disk_bytes 3
	bracket written "bytes written are those of /sys" disk_bytes 7
else
	expect_skip "no disk of its own"
fi

# ---- ps, and a process that stands still -----------------------------------

mkfifo input
./reading hold 64 <input >ready &
pid=$!
exec 8>input
wait_until grep -q ready ready || { echo "Bail out! no process"; exit 1; }
# All threads wait: nothing changes any more.
wait_until sh -c "! grep -q 'State:.R' /proc/$pid/task/*/status"
expect_status 0 ./reading process "$pid"
cp "$work/out" ours
if command -v ps >/dev/null; then
	expect_is "$(ours rss)" "$(($(ps -o rss= -p "$pid") * 1024))" \
		"RSS is that of ps"
	expect_is "$(ours vm)" "$(($(ps -o vsz= -p "$pid") * 1024))" \
		"address space is that of ps"
	expect_is "$(ours threads)" "$(ps -o nlwp= -p "$pid" | tr -d ' ')" \
		"threads are those of ps"
	expect_is "$(ours minor)" "$(ps -o min_flt= -p "$pid" | tr -d ' ')" \
		"faults are those of ps"
else
	expect_skip "ps is not installed"
fi
expect_is "$(ours files)" "$(ls "/proc/$pid/fd" | wc -l)" "open files"
expect_is "$(ours peak)" \
	"$(($(awk '$1 == "VmHWM:" { print $2 }' "/proc/$pid/status") * 1024))" \
	"the peak is the kernel's"
[ "$(ours rss)" -ge $((64 << 20)) ]
verdict $? "what it touched is in it" "$(ours rss)"
# Not exactly that of smaps_rollup: who reads is the same program, and shares.
[ "$(ours pss)" -ge $((64 << 20)) ] && [ "$(ours pss)" -lt "$(ours rss)" ]
verdict $? "PSS is what it touched, and less than RSS" "$(ours pss)"
exec 8>&-
wait "$pid"
expect_status 1 ./reading process "$pid"

# ---- GNU time ---------------------------------------------------------------

if /usr/bin/time --version 2>&1 | grep -q GNU; then
	for mib in 8 64 200; do
		/usr/bin/time -v ./reading peak $mib >ours 2>theirs
		expect_is "$(ours peak)" "$(($(sed -n \
			's/.*Maximum resident set size (kbytes): //p' theirs) \
			* 1024))" "the peak of $mib MiB is exactly that of time"
	done
else
	expect_skip "GNU time is not installed"
fi
finish
