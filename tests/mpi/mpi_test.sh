#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs with MPI under a real launcher. MPI is openmpi or mpich; TALKER is
# the folder of its programs.
. "$(dirname "$0")/../cli/expect.sh"

MPIRUN=mpirun.${MPI:?MPI must be openmpi or mpich}
if ! command -v "$MPIRUN" >/dev/null 2>&1; then
	echo "1..0 # SKIP no $MPIRUN ($MPI's launcher is not installed)"
	exit 0
fi
talker=$TALKER/talker_$MPI

# As root, with more ranks than cores, and in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader,tcp
export OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_mpi_yield_when_idle=1

if ! timeout 60 "$MPIRUN" -n 2 "$talker" compute >launch 2>&1; then
	echo "1..0 # SKIP $MPIRUN starts no program here: $(head -1 launch)"
	exit 0
fi

# job RANKS [OPTIONS...] -- ARGUMENTS...: leaves $out, $err, $status, $json.
job() {
	local ranks=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -rf "$TARE_DIR"
	timeout 120 "$MPIRUN" -n "$ranks" "$TARE" run \
		${options[@]+"${options[@]}"} -- "$talker" "$@" \
		>"$work/out" 2>"$work/err" </dev/null
	status=$?
	out=$(cat "$work/out")
	err=$(cat "$work/err")
	json=$("$TARE" mpi --json 2>&1)
}

# ---- every kind of call, its bytes -----------------------------------------

job 2 -- kinds
expect_is "$status" 0 "exit status of the job"
expect_is "$(sort <<<"$out" | tr '\n' ';')" \
	"rank 0 sendrecv_got 80.000000000;rank 1 sendrecv_got 80.000000000;" \
	"stdout is the program's alone"
expect_is "$(grep -c '^RANK' <<<"$err")" 1 "one report for all ranks"
expect_has "$err" "MPI_Allreduce" "it has the functions"
expect_has "$err" "imbalance (most over mean): compute" "and the balance"
expect_json "$json" "d['ranks'], [r['rank'] for r in d['rank']]" "(2, [0, 1])" \
	"all ranks are there"
kinds="' '.join('%s:%d:%d' % (f['name'][4:], f['calls'], f['bytes']) \
	for f in sorted(d['function'], key=lambda f: f['name']) \
	if f['source'] != 'mpi.setup')"
expect_json "$json" "$kinds" "Accumulate:2:16 Allgatherv:2:12 \
Allreduce:2:160 Alltoall:2:48 Barrier:2:0 Bcast:2:80 Gatherv:2:12 \
Iallreduce:2:64 Irecv:2:0 Isend:2:2000 Put:2:32 Recv:1:700 Scatterv:2:12 \
Send:3:700 Sendrecv:2:160 Startall:10:3000 Wait:2:0 Waitall:12:0 \
Win_fence:6:0" "calls and bytes of every function are exact"
expect_json "$json" "sum(f['calls'] for f in d['function'] \
	if f['source'] != 'mpi.setup') == sum(r['calls'] for r in d['rank'])" \
	True "calls of the functions are those of the ranks"
expect_json "$json" "sum(f['bytes'] for f in d['function'] \
	if f['name'] != 'MPI_Recv') == sum(r['bytes'] for r in d['rank'])" \
	True "so are bytes; what is received is counted once"
expect_json "$json" "sorted(f['name'] for f in d['function'] \
	if f['source'] == 'mpi.setup')" "['MPI_Finalize', 'MPI_Init', \
'MPI_Request_free', 'MPI_Send_init', 'MPI_Win_allocate', 'MPI_Win_free']" \
	"what is no communication is told apart"
expect_is "$("$TARE" ls --json | "$PYTHON" -c 'import json, sys
print(len({r["group"] for r in json.load(sys.stdin)}))')" 1 \
	"the ranks are one group"
runs=$("$TARE" ls --ids | tr '\n' ' ')
expect_json "$("$TARE" mpi $runs --json)" "len(d['rank'])" 2 \
	"ranks can be named one by one"
expect_status 0 "$TARE" report "${runs%% *}"
expect_has "$out" "MPI_Sendrecv" "a rank has a report of its own"

# ---- times -----------------------------------------------------------------

# Within 2 % of the program's own clock; on a busy machine, at one of 5 tries.
within="max(abs(r['comm_s'] / float(line.split()[3]) - 1) \
	for r in d['rank'] for line in open('$work/out') \
	if line.startswith('rank %d ' % r['rank']))"
for try in 1 2 3 4 5; do
	job 2 -- allreduce
	off=$(printf '%s' "$json" | "$PYTHON" -c "
import json, sys
d = json.load(sys.stdin)
print($within)")
	"$PYTHON" -c "import sys; sys.exit($off > 0.02)" && break
done
"$PYTHON" -c "import sys; sys.exit($off > 0.02)"
verdict $? "communication is within 2 % of the truth" "off by $off"

job 2 -- compute
expect_json "$json" \
	"[(r['comm_s'], r['calls'], r['bytes']) for r in d['rank']]" \
	"[(0, 0, 0), (0, 0, 0)]" "a program that computes has no communication"
expect_json "$json" "all(r['setup_s'] > 0 for r in d['rank'])" True \
	"MPI_Init and MPI_Finalize are setup"

# ---- waiting ---------------------------------------------------------------

# Rank 0 sleeps 10 times for 50 ms, so that rank 1 waits: for half a second,
# less what a busy machine keeps it from arriving.
waits="d['waiting'], d['rank'][1]['wait_s'] > 0.1"
job 2 --trace -- late
expect_json "$json" "$waits" "('timeline', True)" "waiting from the arrivals"
job 2 --set mpi_barrier=true -- late
expect_json "$json" "$waits" "('barrier', True)" "waiting timed by barriers"
expect_json "$json" "[(f['name'], f['calls']) for f in d['function'] \
	if f['source'] == 'mpi.collective']" "[('MPI_Allreduce', 20)]" \
	"barriers of ours are no calls of the program"
job 2 -- late
expect_json "$json" "$waits" "('estimate', True)" "waiting is estimated"
expect_has "$err" "estimated" "and the report says so"
job 2 -- halves
expect_json "$json" "d['waiting'], [f['wait_s'] for f in d['function'] \
	if f['name'] == 'MPI_Allreduce']" "('unknown', [None])" \
	"with communicators of a part of the ranks it is not known"

# ---- threads, other programs -----------------------------------------------

job 2 -- threads
expect_json "$json" "[(f['name'], f['calls'], f['bytes']) \
	for f in d['function'] if f['source'] != 'mpi.setup']" \
	"[('MPI_Sendrecv', 1600, 6400)]" "calls of four threads at once"

rm -rf "$TARE_DIR"
expect_status 0 timeout 120 "$MPIRUN" -n 2 "$TARE" run -- \
	"$TALKER/mpi_loader" "$TALKER/talker_module_$MPI.so" kinds
expect_json "$("$TARE" mpi --json)" "$kinds.count(':') > 30" True \
	"MPI that a program loads for itself is measured"

rm -rf "$TARE_DIR"
expect_status 0 timeout 120 "$TARE" run -- "$MPIRUN" -n 2 "$talker" kinds
expect_has "$err" "2 ranks" "the launcher inside of tare run"
expect_json "$("$TARE" mpi --json)" "[r['rank'] for r in d['rank']]" \
	"[0, 1]" "has the same ranks"

# ---- compared ----------------------------------------------------------------

rows="[(c['name'].split('_')[0], c['workers'], c['runs']) \
	for c in d['configs']]"
expect_status 0 "$TARE" compare $("$TARE" ls --ids) --json
expect_json "$out" "$rows" "[('talker', 2, 1)]" \
	"all runs of a job are one, and its launcher none"
# One that did little has no ledger, and there is nothing to say.
launchers=$(($("$TARE" ls --ids | wc -l) - 2))
expect_json "$out" "any('left out' in n and 'talker' not in n \
	for n in d['notes']) == ($launchers > 0)" True "which is said"

# Workers of a training, without and with the calls of MPI.
gcn=$TALKER/../examples/gcn_mpi
if [ "$MPI" = openmpi ] && [ -x "$gcn" ]; then
	for how in none openmpi; do
		rm -rf "$TARE_DIR"
		expect_status 0 timeout 120 "$TARE" run --mpi $how --no-report \
			-- "$MPIRUN" -n 2 "$gcn" --epochs 3 --quiet
		expect_status 0 "$TARE" compare $("$TARE" ls --ids) --json
		expect_json "$out" "$rows" "[('mpi', 2, 1)]" \
			"MPI $how: one training of two workers"
		expect_status 0 "$TARE" mpi --json
		expect_json "$out" "d['ranks'], \
			[r['rank'] for r in d['rank'] if r['comm_s'] > 0]" \
			"(2, [0, 1])" "MPI $how: its workers are ranks"
		expect_json "$out" "[f['name'] for f in d['function']] == \
			['communication']" \
			"$([ $how = none ] && echo True || echo False)" \
			"MPI $how: by phases where there are no calls"
	done
	expect_status 0 "$TARE" mpi
else
	expect_skip "no gcn_mpi for $MPI"
fi

# <tare/train_mpi.h>, by a program that looks for itself.
expect_status 0 timeout 120 "$MPIRUN" -n 2 "$TALKER/waiter_$MPI"
expect_is "$(sort <<<"$out" | tr '\n' ' ')" "rank 0 ok rank 1 ok " \
	"only the waiting for what was started before counts"

# ---- other programs ---------------------------------------------------------

expect_status 0 "$TARE" run --mpi "$MPI" -- ls /
expect_has_not "$err" "ranks" "a program without MPI can carry the library"
expect_status 0 "$TARE" run --mpi none --no-sample -- true
expect_status 2 "$TARE" run --mpi nonsense -- true
for module in mpi mpi_f08; do
	if "mpif90.$MPI" "-DMODULE=$module" "$here/../mpi/talker.F90" \
		-o fortran >/dev/null 2>&1; then
		rm -rf "$TARE_DIR"
		expect_status 0 timeout 120 "$MPIRUN" -n 2 "$TARE" run -- \
			./fortran
		expect_json "$("$TARE" mpi --json)" "[(f['calls'], f['bytes']) \
for f in d['function'] if f['name'] == 'MPI_Allreduce']" "[(14, 336)]" \
			"Fortran: use $module"
	else
		expect_skip "no mpif90.$MPI with the module $module"
	fi
done

# ---- some of the ranks -----------------------------------------------------

# Nobody may wait for an answer of those that are not measured.
cat >some <<'EOF'
#!/bin/sh
case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in
$WHO) exec "$PROGRAM" run --set mpi_barrier=true --each-rank -- "$@" ;;
esac
exec "$@"
EOF
chmod +x some
for who in 0 [12]; do
	rm -rf "$TARE_DIR"
	WHO=$who PROGRAM=$TARE timeout 60 "$MPIRUN" -n 3 ./some "$talker" \
		kinds >"$work/out" 2>"$work/err"
	expect_is "$?" 0 "a job of which rank $who is measured ends"
	expect_json "$("$TARE" mpi --json)" \
		"d['ranks'], [r['rank'] for r in d['rank']]" \
		"(3, $([ "$who" = 0 ] && echo "[0]" || echo "[1, 2]"))" \
		"and has the ranks that were"
done

# ---- outputs ---------------------------------------------------------------

job 2 -o report --json run.json -- kinds
expect_has "$(cat report)" "MPI_Sendrecv" "-o: rank 0 writes for all"
expect_json "$(cat run.json)" "len(d['job']['rank'])" 2 "--json, too"
expect_is "$(ls report* run.json*| tr '\n' ' ')" "report run.json " \
	"no other rank writes"
job 2 --each-rank -o report --flame flame --rate 1000 -- compute
expect_is "$(ls flame.* | tr '\n' ' ')" "flame.0 flame.1 " \
	"--each-rank: a flame graph each"
job 2 --each-rank -o report -- kinds
expect_is "$(ls report.* | tr '\n' ' ')" "report.0 report.1 " \
	"--each-rank: a file each"
expect_has "$(cat report.1)" "MPI_Sendrecv" "which is that rank's report"
job 2 --no-report -- compute
expect_is "$err" "" "--no-report is quiet"

# ---- another host ----------------------------------------------------------

echo 00000000-0000-0000-0000-000000000000 >boot_id
cat >host <<'EOF'
#!/bin/sh
if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then
	export LD_PRELOAD=$OTHER OTHER_HOST_AHEAD_NS=1000000000000
	export OTHER_HOST_BOOT_ID=$WORK/boot_id
fi
exec "$@"
EOF
chmod +x host
rm -rf "$TARE_DIR"
OTHER=$TALKER/mpi_other_host.so WORK=$work timeout 120 "$MPIRUN" -n 2 \
	./host "$TARE" run --trace -- "$talker" late >"$work/out" 2>"$work/err"
json=$("$TARE" mpi --json)
expect_json "$json" "[round(r['clock_offset_s'], 1) for r in d['rank']]" \
	"[0, 1000.0]" "the offset of a clock is found"
expect_json "$json" "d['rank'][1]['clock_error_s'] > 0, \
	abs(d['rank'][1]['clock_offset_s'] - 1000) <= \
	d['rank'][1]['clock_error_s'] + 0.001" "(True, True)" \
	"to what it says that it is wrong by at most"
# Ten times 50 ms, each wrong by what the clocks are wrong by.
expect_json "$json" "d['waiting'], d['rank'][1]['wait_s'] > \
	0.1 - 10 * d['rank'][1]['clock_error_s']" "('timeline', True)" \
	"and arrivals use it"
expect_json "$("$TARE" export -g -F chrome)" "(lambda ts: (ts == sorted(ts), \
	ts[-1] - ts[0] < 500e6))([e['ts'] for e in d['traceEvents'] \
	if e['ph'] != 'M'])" \
	"(True, True)" "the timeline of the job is in order"
expect_json "$("$TARE" export -g -F chrome)" "sorted(e['args']['name'][-6:] \
	for e in d['traceEvents'] if e['name'] == 'process_name')" \
	"['rank 0', 'rank 1']" "and names the ranks"
brought=$(ls "$TARE_DIR"/runs/*.tare | head -1)
cp "$brought" ./brought.tare
expect_json "$("$TARE" mpi --json ./brought.tare)" "len(d['rank'])" 2 \
	"a copy of a rank stands for its job"
rm "$brought"
expect_json "$("$TARE" mpi --json ./brought.tare)" "len(d['rank'])" 2 \
	"also one that lies elsewhere alone"
expect_json "$(TARE_DIR=$work/none "$TARE" mpi --json ./brought.tare)" \
	"d['ranks'], len(d['rank'])" "(2, 1)" "or without the others"
expect_json "$(TARE_DIR=$work/none "$TARE" compare --json ./brought.tare)" \
	"len(d['configs'])" 1 "and is compared"

# ---- a rank that dies ------------------------------------------------------

for how in kill exit abort; do
	timeout 120 "$MPIRUN" -n 2 "$talker" $how >/dev/null 2>&1
	wanted=$?
	job 2 -- $how
	# MPICH's launcher may give that of a rank it has killed.
	[ "$MPI $how $status" != "mpich exit 9" ] || wanted=9
	expect_is "$status" $wanted "$how: exit status as without tare"
	expect_json "$json" "d['first_death']['rank'], \
		d['first_death']['after_s'] > 0" "(1, True)" \
		"$how: the job says which rank died, and when"
	expect_json "$json" "[r['calls'] for r in d['rank']][1], \
		len(d['rank'])" "(21, 2)" "$how: what it did is kept"
	expect_json "$json" "d['rank'][0]['calls'] >= 20" True \
		"$how: and what the others did"
done
cat >own_status <<'EOF'
#!/bin/sh
"$@"
echo $? >"status.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
EOF
chmod +x own_status
timeout 120 "$MPIRUN" -n 2 ./own_status "$TARE" run --no-report -- \
	"$talker" exit >/dev/null 2>&1
expect_is "$(cat status.1)" 5 "the exit status of a rank is its own"
job 2 -- kill
expect_has "$err" "rank 1 died of signal 9" "it is told at once"
expect_is "$(grep -c '^RANK' <<<"$err")" 1 "and once"
expect_is "$("$TARE" ls --json | "$PYTHON" -c 'import json, sys
print(sum(r["state"] == "live" for r in json.load(sys.stdin)))')" 0 \
	"nothing is left behind"

# A launcher that is ended ends tare run, too, a moment after the program.
rm -rf "$TARE_DIR"
"$MPIRUN" -n 2 "$TARE" run -o ended -- "$talker" stay >/dev/null 2>&1 &
launcher=$!
for _ in $(seq 300); do
	"$TARE" mpi >seen 2>/dev/null && grep -q MPI_Barrier seen && break
	sleep 0.1
done
kill -INT $launcher
wait $launcher
for _ in $(seq 100); do
	grep -q imbalance ended && break
	sleep 0.1
done
expect_has "$(cat ended)" "2 ranks" "a job that was interrupted is told"

# ---- wrong use -------------------------------------------------------------

rm -rf "$TARE_DIR"
expect_status 3 "$TARE" mpi
expect_has "$err" "no run found" "no run at all"
here=$root/tests/cli build_worker
expect_status 0 "$TARE" run --no-report -- ./worker 20
expect_status 3 "$TARE" mpi
expect_has "$err" "has no calls of MPI" "a run without MPI"
finish
