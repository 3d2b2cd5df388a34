/* SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/platform.h"
#include "server/hash.h"

/*
 * Order matters: Slurm also sets its variables for programs of other launchers.
 * Variables of a step are not set for the script that starts it.
 */
static const struct {
	const char *rank, *ranks;
	enum mpi_kind kind;
} known[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", MPI_OPENMPI },
	{ "PMI_RANK", "PMI_SIZE", MPI_NONE },
	{ "PMIX_RANK", NULL, MPI_NONE },
	{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", MPI_NONE },
};

/* Variables that all ranks of a job share; the first one set is used. */
static const char *const common[] = {
	"OMPI_MCA_orte_precondition_transports", /* random, OpenMPI 4 */
	"PMIX_NAMESPACE",			 /* OpenMPI 5 and others */
	"SLURM_JOB_ID",				 /* with the step, below */
};

static long number_of(const char *name, long otherwise)
{
	const char *text = name ? getenv(name) : NULL;
	char *end;
	long n;

	if (!text || !*text)
		return otherwise;
	n = strtol(text, &end, 10);
	return *end || n < 0 ? otherwise : n;
}

static uint64_t hash_word(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text));
}

static ssize_t read_of_parent(const char *file, char *text, size_t size)
{
	char path[64];
	int64_t n;

	(void)snprintf(path, sizeof(path), "/proc/%ld/%s", (long)getppid(),
		       file);
	n = tr_file_read(path, text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? n : 0;
}

/*
 * MPICH's launcher sets nothing that ranks of several hosts share. But it has a
 * process on each host whose arguments name the address of the parent.
 */
static uint64_t hash_hydra(uint64_t hash)
{
	static const char option[] = "--control-port";
	char text[4096];
	ssize_t n = read_of_parent("cmdline", text, sizeof(text));

	for (ssize_t i = 0; i < n; i += (ssize_t)strlen(text + i) + 1)
		if (strcmp(text + i, option) == 0 &&
		    i + (ssize_t)sizeof(option) < n)
			return hash_word(hash, text + i + sizeof(option));
	return 0;
}

/* All ranks of this host have the same parent. */
static uint64_t hash_parent(uint64_t hash)
{
	char text[1024], *word;

	/* Fields: pid, (name, may have spaces), ..., 22nd: start time. */
	if (!read_of_parent("stat", text, sizeof(text)))
		return hash;
	word = strrchr(text, ')');
	text[strcspn(text, " ")] = '\0';
	hash = hash_word(hash, text);
	word = word ? strtok(word, " ") : NULL;
	for (int i = 2; word && i < 22; i++)
		word = strtok(NULL, " ");
	return word ? hash_word(hash, word) : hash;
}

static uint64_t hash_job(void)
{
	uint64_t hash = HASH_BEGIN, found;
	const char *text;

	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
		text = getenv(common[i]);
		if (!text || !*text || (i == 2 && getenv("PMI_FD")))
			continue;
		hash = hash_word(hash, text);
		text = getenv("OMPI_MCA_orte_hnp_uri");
		if (text)
			hash = hash_word(hash, text);
		text = getenv("SLURM_STEP_ID");
		if (text)
			hash = hash_word(hash, text);
		return hash;
	}
	found = hash_hydra(hash);
	return found ? found : hash_parent(hash);
}

void launch_look(struct launch *launch)
{
	*launch = (struct launch){ .kind = MPI_NONE };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		long rank = number_of(known[i].rank, -1);

		if (rank < 0 || (known[i].ranks && !getenv(known[i].ranks)))
			continue;
		launch->is_rank = true;
		launch->rank = rank;
		launch->ranks = number_of(known[i].ranks, 1);
		launch->kind = known[i].kind;
		break;
	}
	launch->are_here =
		number_of("OMPI_COMM_WORLD_LOCAL_SIZE", -1) == launch->ranks ||
		number_of("MPI_LOCALNRANKS", -1) == launch->ranks;
	/* Hydra, the launcher of MPICH and of MPIs with its ABI. */
	if (launch->is_rank && launch->kind == MPI_NONE &&
	    getenv("PMI_RANK") && getenv("MPI_LOCALNRANKS"))
		launch->kind = MPI_MPICH;
	if (launch->is_rank)
		(void)snprintf(launch->group, sizeof(launch->group),
			       "mpi-%016llx-0",
			       (unsigned long long)hash_job());
}
