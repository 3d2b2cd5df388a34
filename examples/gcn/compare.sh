#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# compare.sh [RANKS...] [-- OPTIONS...]
#
# Trains sequentially, then on 1, 2 and 4 processes (or RANKS), then on Spark,
# each with the OPTIONS, and compares by `tare compare`: time, speedup,
# efficiency, communication, scores; then says what costs the time on Spark.
# CSV files go to a new folder below $RESULTS (results), a page with plots to
# $RESULTS/report.html. With --seeds 3 among the OPTIONS figures have
# intervals.
#
# GCN is the folder of the programs (build/release/examples), TARE_PROGRAM the
# program tare (of the same build), MPIRUN the launcher. What OpenMPI needs on
# small machines and in containers is given: running as root, more ranks than
# cores, and no copies through the kernel, which containers forbid.
#
# SPARK is a list of numbers of partitions (2; "" for none), SPARK_PYTHON a
# Python that has pyspark, numpy and tare (python3), SPARK_MASTER a cluster
# (default: local-cluster, with a worker for each partition).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
programs=${GCN:-$here/../../build/release/examples}
tare=${TARE_PROGRAM:-$programs/../cli/tare}
mpirun=${MPIRUN:-mpirun}
python=${SPARK_PYTHON:-python3}
read -ra partitions <<<"${SPARK-2}"
ranks=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	ranks+=("$1")
	shift
done
[ $# -eq 0 ] || shift
[ ${#ranks[@]} -gt 0 ] || ranks=(1 2 4)

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_btl=self,vader,tcp
# MPICH needs none of these and does not mind them.

results=${RESULTS:-results}
mkdir -p "$results"
folder=$(mktemp -d "$results/gcn_XXXXXX")
# Spark's workers have other working folders.
logs=$(cd "$folder" && pwd)/spark-events

for program in gcn_sequential gcn_mpi; do
	if [ ! -x "$programs/$program" ]; then
		echo "compare.sh: no '$programs/$program': make builds it," \
			"gcn_mpi where there is MPI (libopenmpi-dev)" >&2
		exit 1
	fi
done

if [ ! -x "$tare" ] && ! tare=$(command -v tare); then
	echo "compare.sh: no program 'tare': make builds it" >&2
	exit 1
fi

# Is there all that Spark needs? If not, the comparison goes on without it.
has_spark() {
	if ! "$python" -c "import pyspark, numpy, tare" 2>/dev/null; then
		echo "== no Spark: '$python' lacks pyspark, numpy or tare" \
			"(pip install pyspark==3.5.6 numpy ./bindings/python;" \
			"or set SPARK_PYTHON)"
		return 1
	fi
	if ! java -version >/dev/null 2>&1; then
		echo "== no Spark: no Java (apt install" \
			"openjdk-17-jre-headless)"
		return 1
	fi
}

# train_spark N OPTIONS...
train_spark() {
	local n=$1
	shift
	echo "== Spark, $n partitions"
	mkdir -p "$logs/$n"
	PYSPARK_SUBMIT_ARGS="--conf spark.eventLog.enabled=true \
		--conf spark.eventLog.dir=file://$logs/$n \
		${PYSPARK_SUBMIT_ARGS:-pyspark-shell}" \
		"$python" "$here/spark/train.py" --partitions "$n" \
		${SPARK_MASTER:+--master "$SPARK_MASTER"} "$@" \
		--results "$folder" 2>"$logs/$n.log" |
		tee "$logs/$n.out" || {
		cat "$logs/$n.log" >&2
		exit 1
	}
}

# What costs the time on Spark: in words, and by its own log of each task.
explain_spark() {
	for n in "${partitions[@]}"; do
		echo "== what costs the time on Spark, $n partitions"
		grep -e "^an epoch" -e "^the slowest" "$logs/$n.out" || true
		TARE_DIR=$logs/runs "$python" -m tare.spark "$logs/$n"
	done
}

echo "== sequential"
"$programs/gcn_sequential" "$@" --results "$folder"
for n in "${ranks[@]}"; do
	echo "== $n processes"
	# Where there are too few cores, who waits makes room for the others.
	export OMPI_MCA_mpi_yield_when_idle=$((n > $(nproc)))
	"$mpirun" -n "$n" "$programs/gcn_mpi" "$@" --results "$folder"
done

if [ ${#partitions[@]} -eq 0 ] || ! has_spark; then
	partitions=()
fi
for n in ${partitions[@]+"${partitions[@]}"}; do
	train_spark "$n" "$@"
done

echo "== $folder"
"$tare" compare "$folder/" --html "$results/report.html"
[ ${#partitions[@]} -eq 0 ] || explain_spark
echo "== plots are in $results/report.html"
