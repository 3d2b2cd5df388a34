#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# compare.sh [RANKS...] [-- OPTIONS...]
#
# Trains sequentially, then on 1, 2 and 4 processes (or RANKS), each with the
# OPTIONS, and compares by `tare compare`: time, speedup, efficiency,
# communication, scores. CSV files go to a new folder below $RESULTS (results),
# a page with plots to $RESULTS/report.html. With --seeds 3 among the OPTIONS
# figures have intervals.
#
# GCN is the folder of the programs (build/release/examples), TARE_PROGRAM the
# program tare (of the same build), MPIRUN the launcher. What OpenMPI needs on
# small machines and in containers is given: running as root, more ranks than
# cores, and no copies through the kernel, which containers forbid.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
programs=${GCN:-$here/../../build/release/examples}
tare=${TARE_PROGRAM:-$programs/../cli/tare}
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

if [ ! -x "$tare" ] && ! tare=$(command -v tare); then
	echo "compare.sh: no program 'tare': make builds it" >&2
	exit 1
fi

echo "== sequential"
"$programs/gcn_sequential" "$@" --results "$folder"
for n in "${ranks[@]}"; do
	echo "== $n processes"
	# Where there are too few cores, who waits makes room for the others.
	export OMPI_MCA_mpi_yield_when_idle=$((n > $(nproc)))
	"$mpirun" -n "$n" "$programs/gcn_mpi" "$@" --results "$folder"
done

echo "== $folder"
"$tare" compare "$folder/" --html "$results/report.html"
echo "== plots are in $results/report.html"
