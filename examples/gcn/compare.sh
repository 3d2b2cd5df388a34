#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# compare.sh [RANKS...] [-- OPTIONS...]
#
# Trains sequentially, then on 1, 2 and 4 processes (or RANKS), each with the
# OPTIONS, and compares: time, speedup, efficiency, communication, scores.
# CSV files go to a new folder below $RESULTS (results).
#
# GCN is the folder of the programs (build/release/examples), MPIRUN the
# launcher. What OpenMPI needs on small machines and in containers is given:
# running as root, more ranks than cores, and no copies through the kernel,
# which containers forbid.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
programs=${GCN:-$here/../../build/release/examples}
mpirun=${MPIRUN:-mpirun}
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

for program in gcn_sequential gcn_mpi; do
	if [ ! -x "$programs/$program" ]; then
		echo "compare.sh: no '$programs/$program': make builds it," \
			"gcn_mpi where there is MPI (libopenmpi-dev)" >&2
		exit 1
	fi
done

echo "== sequential"
"$programs/gcn_sequential" "$@" --results "$folder"
for n in "${ranks[@]}"; do
	echo "== $n processes"
	# Where there are too few cores, who waits makes room for the others.
	export OMPI_MCA_mpi_yield_when_idle=$((n > $(nproc)))
	"$mpirun" -n "$n" "$programs/gcn_mpi" "$@" --results "$folder"
done

# One line a file: all epochs of all seeds of a configuration together.
table() {
	awk -F, '
	FNR == 1 { name = FILENAME; sub(/.*\//, "", name)
		   sub(/_metrics.*/, "", name)
		   if (!(name in total)) order[++n] = name }
	/^#/ { next }
	$1 == "epoch" { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ total[name] += $at["total_time"]; comm[name] += $at["comm_time"]
	  epochs[name]++; loss[name] = $at["loss"]; f1[name] = $at["test_f1"]
	  if ($at["peak_memory_mb"] > memory[name])
		memory[name] = $at["peak_memory_mb"] }
	END {
		printf "%-12s %9s %10s %8s %10s %7s %8s %8s %8s\n", "run",
		       "seconds", "ms/epoch", "speedup", "efficiency",
		       "comm %", "loss", "test F1", "peak MB"
		base = total["sequential"] / epochs["sequential"]
		for (i = 1; i <= n; i++) {
			name = order[i]; time = total[name] / epochs[name]
			p = name; sub(/^mpi_/, "", p); p += 0
			printf "%-12s %9.3f %10.3f %8.2f %10s %7.1f " \
			       "%8.4f %8.4f %8.1f\n", name, total[name],
			       1e3 * time, base / time,
			       p ? sprintf("%.2f", base / time / p) : "-",
			       100 * comm[name] / total[name], loss[name],
			       f1[name], memory[name]
		}
	}' "$@"
}

echo "== $folder"
files=("$folder"/sequential_metrics*.csv)
for n in "${ranks[@]}"; do
	files+=("$folder/mpi_$n"_metrics*.csv)
done
LC_ALL=C table "${files[@]}"
