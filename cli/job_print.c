/* SPDX-License-Identifier: Apache-2.0 */
/* The job as text. */
#include "base/text.h"
#include "job.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "read/view.h"
#include "runs.h"
#include "table.h"

#define CALLS_MOST 40 /* rows of the table of functions */
#define SCOPES_MOST 20

/* ---- how it ended ------------------------------------------------------ */

static void print_how(const struct job_death *death, FILE *stream)
{
	int status = death->ending.status;

	if (death->rank->comm.is_aborted)
		(void)fprintf(stream, "called MPI_Abort with code %d",
			      death->rank->comm.abort_code);
	else if (!death->is_exact)
		(void)fputs("was killed", stream);
	else if (WIFSIGNALED(status))
		(void)fprintf(stream, "died of signal %d (%s)",
			      WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		(void)fprintf(stream, "ended with status %d",
			      WEXITSTATUS(status));
}

static void print_death(const struct job *job, FILE *stream)
{
	struct job_death first = { .rank = NULL };
	size_t n;

	if (!job_first_death(job, &first, &n))
		return;
	(void)fprintf(stream, "rank %u ", first.rank->comm.rank);
	print_how(&first, stream);
	(void)fprintf(stream, " %s after the start%s",
		      tr_as_duration((double)(first.ending.at_ns -
					       job_start(job)))
			      .text,
		      first.is_exact ? "" : " (last seen then)");
	if (n > 1)
		(void)fprintf(stream, ", then %zu other%s", n - 1,
			      n > 2 ? "s" : "");
	(void)fputs("; what was measured until then is here\n", stream);
}

/* ---- ranks ------------------------------------------------------------- */

static struct tr_text seconds(double s)
{
	return tr_as_duration(s * 1e9);
}

static void add_rank(struct table *table, const struct job *job,
		     const tare_job_rank *rank)
{
	const tare_run *run = job_run(job, rank);
	double peak = job_peak(job, rank);

	table_addf(table, "%u", rank->comm.rank);
	table_add(table, seconds(rank->elapsed_seconds).text);
	table_add(table, seconds(rank->compute_seconds).text);
	table_add(table, seconds(rank->comm.comm_seconds).text);
	table_add(table, tr_as_share(rank->elapsed_seconds > 0 ?
					      rank->comm.comm_seconds /
						      rank->elapsed_seconds :
					      NAN)
				 .text);
	table_add(table, seconds(rank->comm.wait_seconds).text);
	table_add(table, tr_as_count(rank->comm.calls).text);
	table_add(table, tr_as_bytes((double)rank->comm.bytes).text);
	table_add(table, peak > 0 ? tr_as_bytes(peak).text : "-");
	table_add_tinted(table, tr_run_state_name(rank->state),
			 run_state_tint(rank->state));
	table_add(table, run->host);
	table_add(table, run->id);
}

static void print_ranks(const struct job *job, FILE *stream)
{
	static const struct column columns[] = {
		COLUMN_NUMBER("RANK", 0),    COLUMN_NUMBER("ELAPSED", 5),
		COLUMN_NUMBER("COMPUTE", 0), COLUMN_NUMBER("COMM", 0),
		COLUMN_NUMBER("COMM %", 4),  COLUMN_NUMBER("WAITING", 0),
		COLUMN_NUMBER("CALLS", 3),   COLUMN_NUMBER("BYTES", 0),
		COLUMN_NUMBER("PEAK", 0),    COLUMN_TEXT("STATE", 6),
		COLUMN_TEXT("HOST", 2),	     COLUMN_TEXT("RUN", 1),
	};
	struct table table;

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < job->job->n_ranks; i++)
		add_rank(&table, job, &job->job->rank[i]);
	table_end(&table, stream);
	(void)fprintf(stream, "imbalance (most over mean): compute %s, "
			      "communication %s, waiting %s\n",
		      tr_as_share(job->job->compute_imbalance).text,
		      tr_as_share(job->job->comm_imbalance).text,
		      tr_as_share(job->job->wait_imbalance).text);
}

/* ---- functions --------------------------------------------------------- */

static void add_call(struct table *table, const tare_job *job,
		     const tare_job_call *call)
{
	table_add(table, call->name);
	table_add(table, strncmp(call->source, "mpi.", 4) == 0 ?
				 call->source + 4 :
				 call->source);
	table_addf(table, "%u", call->n_ranks);
	table_add(table, tr_as_count(call->calls).text);
	table_add(table, seconds(call->seconds).text);
	table_add(table, seconds(call->seconds / (double)call->calls).text);
	table_add(table, seconds(call->wait_seconds).text);
	table_add(table, call->bytes ?
				 tr_as_bytes((double)call->bytes).text :
				 "-");
	table_add(table, tr_as_share(job_call_imbalance(call, job)).text);
}

static void print_calls(const tare_job *job, FILE *stream)
{
	static const struct column columns[] = {
		COLUMN_WIDE("FUNCTION"),   COLUMN_TEXT("KIND", 2),
		COLUMN_NUMBER("RANKS", 1), COLUMN_NUMBER("CALLS", 0),
		COLUMN_NUMBER("TIME", 0),  COLUMN_NUMBER("A CALL", 4),
		COLUMN_NUMBER("WAITING", 0), COLUMN_NUMBER("BYTES", 0),
		COLUMN_NUMBER("IMBALANCE", 3),
	};
	struct table table;

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < job->n_calls && i < CALLS_MOST; i++)
		add_call(&table, job, &job->call[i]);
	table_end(&table, stream);
	if (job->n_calls > CALLS_MOST)
		(void)fprintf(stream, "... and %zu more (--json has them)\n",
			      job->n_calls - CALLS_MOST);
}

/* ---- the program's own scopes ------------------------------------------ */

static void add_scope(struct table *table, const tare_stats *row)
{
	table_add(table, row->name);
	table_add(table, tr_as_count(row->count).text);
	table_add(table, tr_as_duration(row->net_total).text);
	table_add(table, tr_as_duration(row->net_mean).text);
	table_add(table, tr_as_duration(row->p99).text);
	table_add(table, tr_as_duration(row->max).text);
}

static void print_merged(const tare_merge *merge, FILE *stream)
{
	static const struct column columns[] = {
		COLUMN_WIDE("SCOPE"),	   COLUMN_NUMBER("CALLS", 0),
		COLUMN_NUMBER("TOTAL", 0), COLUMN_NUMBER("MEAN", 0),
		COLUMN_NUMBER("P99", 1),   COLUMN_NUMBER("MAX", 2),
	};
	struct table table;
	size_t n, shown = 0;
	const tare_stats *rows = tare_merge_stats(merge, &n);

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n && shown < SCOPES_MOST; i++)
		if (rows[i].kind == TARE_KIND_SCOPE &&
		    strncmp(rows[i].source, "mpi.", 4) != 0) {
			add_scope(&table, &rows[i]);
			shown++;
		}
	if (shown) {
		(void)fputs("\nscopes of all ranks together\n", stream);
		table_end(&table, stream);
	}
}

static void print_scopes(const struct job *job, FILE *stream)
{
	tare_view **views = calloc(job->job->n_ranks, sizeof(*views));
	tare_merge *merge;

	for (size_t i = 0; views && i < job->job->n_ranks; i++)
		views[i] = job->views[job->job->rank[i].view];
	if (views &&
	    tare_merge_open(views, job->job->n_ranks, NULL, &merge) == 0) {
		print_merged(merge, stream);
		tare_merge_close(merge);
	}
	free(views);
}

/* ---- text -------------------------------------------------------------- */

static void print_way(const tare_job *job, FILE *stream)
{
	static const char *const text[] = {
		[TARE_WAITING_UNKNOWN] =
			"not known: some were of a part of the ranks "
			"(--set mpi_barrier=true times it)",
		[TARE_WAITING_ESTIMATE] =
			"estimated: time beyond the fastest rank's, rather "
			"too low (--trace or --set mpi_barrier=true tell)",
		[TARE_WAITING_TIMELINE] = "from the arrivals in the trace",
		[TARE_WAITING_BARRIER] = "timed by a barrier before each",
	};

	if (!job->rank[0].comm.is_mpi) {
		(void)fputs("calls of MPI were not measured: communication is "
			    "what the program calls so, all of it waiting\n",
			    stream);
		return;
	}
	(void)fprintf(stream, "waiting in collectives: %s\n",
		      text[job->waiting]);
	if (job->has_trace)
		(void)fputs("the trace has not every call: it is not used "
			    "(--set trace_events=N keeps more)\n", stream);
}

static void print_clocks(const tare_job *job, FILE *stream)
{
	double most = 0, error = 0;

	for (size_t i = 0; i < job->n_ranks; i++) {
		most = fmax(most, fabs(job->rank[i].comm.offset_s));
		error = fmax(error, job->rank[i].comm.offset_error_s);
	}
	if (most > 0 || error > 0)
		(void)fprintf(stream,
			      "clocks differ by up to %s, known to %s\n",
			      seconds(most).text, seconds(error).text);
}

void job_print(const struct job *job, FILE *stream)
{
	const tare_run *run = job_run(job, &job->job->rank[0]);

	(void)fputs("tare  ", stream);
	terminal_safe(stream, run->program);
	(void)fprintf(stream, "  %u ranks", job->job->ranks);
	if (job->job->n_ranks < job->job->ranks)
		(void)fprintf(stream, ", %zu of them here (measured on other "
				      "hosts: name their files)",
			      job->job->n_ranks);
	(void)fprintf(stream, ", job %s\n      ", job->job->name);
	terminal_safe(stream, run->command);
	(void)fputc('\n', stream);
	print_death(job, stream);
	(void)fputc('\n', stream);
	print_ranks(job, stream);
	(void)fputc('\n', stream);
	print_calls(job->job, stream);
	print_way(job->job, stream);
	print_clocks(job->job, stream);
	print_scopes(job, stream);
}
