#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every example of `tare COMMAND --help` and of docs/man is run as it is
# written, in a scene with the programs, runs and files that it names. A process
# id is the one of the live program. Two spaces end the command in a help text.
. "$(dirname "$0")/expect.sh"

# ---- the scene ---------------------------------------------------------------

mkdir -p bin results backup out
ln -s "$TARE" bin/tare
PATH=$work/bin:$PATH
cat >prog.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tare/alloc.h>
#include <tare/probe.h>
#include <tare/stage.h>
static void load(int id)
{
	TARE_OPERATION("load");
	TARE_ATTR("photo_id", id);
	if (id % 5 == 0)
		TARE_FAIL("not found");
	TARE_SCOPE_IN("db", "db.store");
	for (volatile int i = 0; i < 300000; i++)
		;
}
static void check(int id)
{
	TARE_STAGE("check");
	load(id);
}
static void parse(int id)
{
	TARE_STAGE("parse");
	check(id);
	free(malloc(1000));
}
int main(int argc, char **argv)
{
	bool is_live = argc > 1 && strcmp(argv[1], "live") == 0;

	(void)tare_alloc_snapshot("start");
	do {
		for (int i = 1; i <= 40; i++)
			parse(i);
		if (is_live)
			(void)usleep(20000);
	} while (is_live);
	return 0;
}
END
"$CC" -std=c11 -D_GNU_SOURCE -g -I"$root/include" prog.c "$LIB/libtare.a" \
	-lpthread -ldl -lm -o prog || exit 1
printf '#include <tare/probe.h>\nint main() { TARE_SCOPE("x"); }\n' >prog.cpp
echo 'sum(i * i for i in range(200000))' >x.py
cp prog old
cp prog new
printf 'load.p99 < 1s\nrss.peak < 1GB\n' >tare.budget
printf 'slow_db: db.* p95 > 50ms for 30s\n' >alerts.conf
echo '{"results":[{"command":"./prog","median":0.1,"mean":0.1}]}' >results.json
mkdir -p nightly
{
	echo "value,p95"
	for ((i = 0; i < 60; i++)); do
		echo "$((100 + i % 7)),$((i < 30 ? 150 + i % 5 : 190 + i % 5))"
	done
} | tee times.csv >nightly/parse.csv
for config in mpi_1 mpi_2; do
	{
		echo "# config: $config"
		echo "# processes: ${config#mpi_}"
		echo "epoch,total_time,forward_time,loss,train_acc,val_f1"
		for epoch in 1 2 3; do
			echo "$epoch,1.$epoch,0.5,0.$epoch,0.9,0.9"
		done
	} >results/${config}_metrics.csv
done

# Runs of two revisions, and of two folders.
git init -q -b main .
printf 'bin/\nbackup/\n' >.gitignore
for change in one two; do
	echo $change >change
	git add change
	git -c user.name=a -c user.email=a@b commit -qm $change
done
# Other examples remove runs.
record_revisions() {
	local revision
	for revision in main~1 main; do
		git checkout -q $revision
		tare run --no-report -- ./prog >/dev/null 2>&1
	done
}
record_revisions
mkdir -p before after ledgers
for folder in before after ledgers; do
	cp "$TARE_DIR"/runs/*.tare $folder/
done

live=
keep_scene() {
	while [ "$(tare ls --ids | wc -l)" -lt 4 ]; do
		tare run --no-report --alloc --calls -- ./prog >/dev/null 2>&1
	done
	ls backup/*.tare >/dev/null 2>&1 ||
		cp "$TARE_DIR"/runs/*.tare backup/
	[ -e a.tare ] || cp "$(ls backup/*.tare | head -1)" a.tare
	# Examples without a run mean the newest: of a live run nothing is lost.
	if [ -z "$live" ] || ! kill -0 "$live" 2>/dev/null; then
		TARE=on TARE_SAMPLE=true TARE_ALLOC=exact ./prog live &
		live=$!
		wait_until has_live
	fi
}
has_live() {
	tare ls --live --ids | grep -q -- "-$live\$"
}
tare serve --port 0 >serve.out 2>&1 &
server=$!
wait_until tare url >/dev/null 2>&1

# ---- what cannot be run here -------------------------------------------------

# Words of other programs; without them, the line is left out.
missing_tool() {
	local tool
	for tool in mpirun jq column curl git; do
		case " $1 " in
		*[\ \(]$tool\ *)
			command -v $tool >/dev/null && continue
			echo $tool
			return ;;
		esac
	done
	case $1 in
	"tare mpi"* | mpirun*) echo "an MPI program: mpi_test runs these" ;;
	esac
}

# Commands that run until they are ended.
is_endless() {
	case $1 in
	*" --once"* | *" -n "*) return 1 ;;
	"tare top"* | *"tare serve"*) return 0 ;;
	esac
	return 1
}

# may_find LINE STATUS: checks that may find something, or not know.
may_find() {
	case $1 in
	"tare alloc --leaks"* | "tare alerts"*) [ $2 = 1 ] ;;
	*"tare check"*) [ $2 = 1 ] || [ $2 = 4 ] ;;
	*) false ;;
	esac
}

run_example() {
	local line=$1 where=$2 lacks limit=60 status
	lacks=$(missing_tool "$line")
	if [ -n "$lacks" ]; then
		expect_skip "$where: '$line' needs $lacks"
		return
	fi
	keep_scene
	line=${line//12345/$live}
	line=${line//\/shared/$work/ledgers}
	# The port of an example may be in use.
	line=${line//--port 9000/--port 0}
	line=${line//127.0.0.1:8270/$(tare url | cut -d / -f 3)}
	case $line in
	# The folder says which server is meant, and one is running.
	"tare serve"*) line="TARE_DIR=$work/other $line" ;;
	*HEAD* | *"against main"*) record_revisions ;;
	"tare alloc"*) tare run --no-report --alloc -- ./prog >/dev/null 2>&1 ;;
	esac
	is_endless "$line" && limit=3
	timeout -s INT $limit bash -c "$line" >example.out 2>&1 </dev/null
	status=$?
	if [ $limit = 3 ] && [ -s example.out ] &&
		{ [ $status = 124 ] || [ $status = 130 ]; }; then
		status=0
	fi
	may_find "$line" $status && status=0
	[ $status = 0 ]
	verdict $? "$where: $1" "status $status: $(head -5 example.out)"
}

# ---- helps -------------------------------------------------------------------

# examples_of [COMMAND]: a line each; a backslash continues one.
examples_of() {
	tare help $1 | sed -n '/^examples:/,/^$/{/^examples:/d; /^$/d; p}' |
		sed -e ':a' -e '/\\$/{N; s/\\\n *//; ba}' |
		sed 's/^  //; s/   *.*//'
}
commands=$(tare help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
n_before=$n_checks
for command in "" $commands; do
	while IFS= read -r line <&9; do
		run_example "$line" "tare help $command"
	done 9< <(examples_of $command)
done
[ $((n_checks - n_before)) -gt 80 ]
verdict $? "helps have examples" "$((n_checks - n_before))"

# ---- manual pages ------------------------------------------------------------

for page in "$root"/docs/man/*.1; do
	while IFS= read -r line <&9; do
		run_example "$line" "$(basename "$page")"
	done 9< <(sed -e ':a' -e '/\\e$/{N; s/\\e\n *//; ba}' "$page" |
		sed -n 's/^\$ //p' | sed 's/ &$//')
done
kill "$live" $server
wait 2>/dev/null
finish
