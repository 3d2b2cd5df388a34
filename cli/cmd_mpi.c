/* SPDX-License-Identifier: Apache-2.0 */
/* tare mpi: the ranks of a parallel program side by side. */
#include "args.h"
#include "job.h"
#include "message.h"
#include "output.h"
#include "runs.h"

static bool as_json;

static const struct option_spec options[] = {
	OPTION_JSON(&as_json),
	OPTION_END
};

/* A single run means all runs of its group; several are used as given. */
static int add_runs(const struct args *args, struct job *job)
{
	const char *which = args_operand(args, 0, "last");
	tare_view *view;
	int code = CODE_OK, err;

	if (args->n_operands < 2) {
		code = run_open(which, &view);
		if (code)
			return code;
		err = job_add_group_of(job, view);
		return err ? message_error("find the runs of", which, err) :
			     CODE_OK;
	}
	for (size_t i = 0; i < args->n_operands && !code; i++)
		code = job_open(job, args->operands[i]);
	return code;
}

static int show(struct job *job, const char *which)
{
	struct tr_json *json = output_json_begin();
	int err = job_join(job);

	if (err == TARE_ENOENT) {
		message("'%s' has no calls of MPI; measure them with 'mpirun "
			"-n 4 tare run -- PROGRAM'", which);
		return CODE_IO;
	}
	if (err)
		return message_error("join", which, err);
	if (as_json) {
		job_json(job, json, NULL);
		output_json(json, stdout);
	} else {
		job_print(job, stdout);
	}
	return CODE_OK;
}

static int mpi(struct args *args)
{
	struct job job = { .n = 0 };
	int code = add_runs(args, &job);

	if (!code)
		code = show(&job, args_operand(args, 0, "last"));
	job_release(&job);
	return code;
}

const struct command cmd_mpi = {
	.name = "mpi",
	.usage = "[RUN...] [--json]",
	.summary = "show the ranks of an MPI program: communication, balance",
	.examples =
		"  mpirun -n 4 tare run -- ./prog   measure; rank 0 prints "
		"the report\n"
		"  tare mpi                         show the newest job\n"
		"  tare mpi ./a.tare ./b.tare       ranks of several hosts\n"
		"  tare mpi --json                  as JSON, for a script\n",
	.notes = "one RUN selects all ranks of its job; several RUNs are used "
		 "as given\n" NOTE_RUN,
	.options = options,
	.max_operands = OPERANDS_ANY,
	.run = mpi,
};
