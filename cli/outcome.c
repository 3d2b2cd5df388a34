/* SPDX-License-Identifier: Apache-2.0 */
#include "outcome.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <tare/read/export.h>
#include <tare/read/profile.h>

#include "base/text.h"
#include "ending.h"
#include "group_report.h"
#include "group_view.h"
#include "history.h"
#include "job.h"
#include "ledger/runs.h"
#include "message.h"
#include "notes.h"
#include "output.h"
#include "probes.h"
#include "read/profile.h"
#include "read/view.h"
#include "render/report.h"
#include "runs.h"
#include "watcher.h"

/* Limit on waiting for the other ranks, which end or are ended. */
#define WAIT_NS 5000000000
#define WAIT_DYING_NS 100000000 /* the launcher soon ends this one too */

/* A program with less CPU time may well have had no sample. */
#define TINY_NS 5e7

#define ENDING_BYTES 96

static double timeval_ns(struct timeval time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

/* "exit status 1", "ended by signal 11 (Segmentation fault)" */
static void ending_text(const struct child *child, char text[ENDING_BYTES])
{
	if (WIFSIGNALED(child->status))
		(void)snprintf(text, ENDING_BYTES, "ended by signal %d (%s)",
			       WTERMSIG(child->status),
			       strsignal(WTERMSIG(child->status)));
	else
		(void)snprintf(text, ENDING_BYTES, "exit status %d",
			       child_code(child));
}

static void print_resources(const struct outcome *outcome)
{
	const struct child *child = &outcome->child;
	FILE *text = outcome->text;
	char ending[ENDING_BYTES];

	(void)fprintf(text, "wall %s, user %s, system %s, peak memory %s",
		      tr_as_duration((double)child->wall_ns).text,
		      tr_as_duration(timeval_ns(child->usage.ru_utime)).text,
		      tr_as_duration(timeval_ns(child->usage.ru_stime)).text,
		      tr_as_bytes((double)child->usage.ru_maxrss * 1024).text);
	if (child->status) {
		ending_text(child, ending);
		(void)fprintf(text, ", %s", ending);
	}
	(void)fputc('\n', text);
}

static void print_deleted(const struct outcome *outcome)
{
	uint64_t n = outcome->group.deleted;

	if (n)
		(void)fprintf(outcome->text,
			      "%llu older run%s deleted: keep_runs is %llu\n",
			      (unsigned long long)n, n == 1 ? "" : "s",
			      (unsigned long long)tr_runs_config()->keep_runs);
}

static struct tr_ending ending_of(const struct outcome *outcome,
				  char text[ENDING_BYTES])
{
	const struct child *child = &outcome->child;

	ending_text(child, text);
	return (struct tr_ending){
		.wall_ns = (double)child->wall_ns,
		.user_ns = timeval_ns(child->usage.ru_utime),
		.system_ns = timeval_ns(child->usage.ru_stime),
		.peak_bytes = (double)child->usage.ru_maxrss * 1024,
		.queued_ns = (double)child->queued_ns,
		.text = text,
	};
}

static void print_view(const struct outcome *outcome, tare_view *view,
		       const tare_run_entry *run)
{
	tare_report_options how = report_options(outcome->text, 0);
	char text[ENDING_BYTES];
	const struct tr_ending ending = ending_of(outcome, text);
	int err;

	how.top = outcome->top;
	err = tr_report_ended(view, &how,
			      run->pid == outcome->child.pid ? &ending : NULL,
			      stream_write, outcome->text);

	if (err)
		(void)message_error("report", run->id, err);
}

/* Why the report is not of the program itself. */
static const char *own_reason(const struct outcome *outcome)
{
	static char text[128];

	(void)snprintf(text, sizeof(text), "%s%s",
		       probes_text(probes_of(outcome->args->operands[0])),
		       outcome->is_sampled ? " and used almost no CPU time" :
					     "");
	return text;
}

/* Why the program's own run is empty. */
static void print_silence(const struct outcome *outcome, tare_view *view)
{
	const char *name = outcome->args->operands[0];
	const char *config = tare_view_run(view)->config;

	if (outcome->group.main->pid != outcome->child.pid ||
	    tare_view_health(view)->events ||
	    tare_view_sampling(view)->samples)
		return;
	if (strstr(config, "include") || strstr(config, "exclude"))
		message("'%s' reached no probe that the options include and "
			"exclude leave on", name);
	else
		message("'%s' %s", name, probes_text(probes_of(name)));
}

static void print_report(const struct outcome *outcome, tare_view *view)
{
	const tare_run_entry *run = outcome->group.main;
	const tare_call *calls;
	size_t n = 0;

	if (run->pid != outcome->child.pid)
		message("'%s' itself %s; the report is that of '%s', pid %lld",
			outcome->args->operands[0],
			own_reason(outcome),
			run->program, (long long)run->pid);
	print_view(outcome, view, run);
	print_silence(outcome, view);
	if (outcome->wants_calls &&
	    (tare_view_calls(view, &calls, &n) || !n))
		message("no function of '%s' has hooks: they come with "
			"-finstrument-functions, when it is compiled",
			run->program);
}

/* The CPU time of the program and of the processes that it waited for. */
static double used_ns(const struct outcome *outcome)
{
	const struct rusage *usage = &outcome->child.usage;

	return timeval_ns(usage->ru_utime) + timeval_ns(usage->ru_stime);
}

/*
 * Its time that no run has: of short processes, and of static programs. As in
 * `tare report`, but also where no file can be left beside the runs.
 */
static double unmeasured_ns(const struct outcome *outcome,
			    const struct tr_programs *programs)
{
	double ns = used_ns(outcome) - programs->time_ns;

	return ns > 0 && !programs->is_wall ? ns : 0;
}

/* Those of one process stand in a report of several. */
static void print_alloc_hint(const struct outcome *outcome, tare_view *view)
{
	if (view && tare_view_heap(view)->was_on)
		(void)fprintf(outcome->text, "allocations are those of '%s', "
			      "pid %lld, alone: tare alloc adds up all "
			      "processes\n", outcome->group.main->program,
			      (long long)outcome->group.main->pid);
}

static void print_programs(const struct outcome *outcome,
			   const struct tr_programs *programs)
{
	tare_report_options how = report_options(outcome->text, 0);
	char text[ENDING_BYTES];
	const struct tr_ending ending = ending_of(outcome, text);
	const char *name = outcome->args->operands[0];
	const char *slash = strrchr(name, '/');
	int err;

	how.top = outcome->top;
	err = tr_report_programs(programs, &how, slash ? slash + 1 : name,
				 &ending, stream_write, outcome->text);
	if (err)
		(void)message_error("report", "programs", err);
	else
		(void)fputs(GROUP_MORE, outcome->text);
}

/* 0, an error, or the errno of a file that cannot be written. */
static int write_flame(tare_view *view, const char *path)
{
	tare_flame_options how = { .struct_size = sizeof(how),
				   .from = TARE_FRAMES_SAMPLES };
	struct output output;
	int err = output_open(&output, path);

	if (err)
		return err;
	return output_close(&output, tare_export_flame(view, &how,
						       stream_write,
						       output.stream));
}

const char *outcome_path(const struct outcome *outcome, const char *path,
			 char own[PATH_MAX])
{
	if (!outcome->is_rank || !outcome->each_rank)
		return path;
	(void)snprintf(own, PATH_MAX, "%s.%ld", path, outcome->launch.rank);
	return own;
}

/* The main run is the busiest one, where that of the program is empty. */
static bool is_sampled(const struct outcome *outcome, tare_view *view)
{
	return tare_view_sampling(view)->samples || outcome->group.busiest;
}

/* All processes are in one picture. */
static void join_all(const struct outcome *outcome, tare_view *view)
{
	const struct group *group = &outcome->group;
	int err = group_view_join(view, group);

	tr_views_name(view, group->command);
	if (err)
		(void)message_error("draw", "processes", err);
}

/* A file beside the run is removed together with the run. */
static void make_flame(const struct outcome *outcome, tare_view *view)
{
	const tare_run_entry *run = outcome->group.main;
	char beside[sizeof(run->path) + 8], own[PATH_MAX];
	const char *path = beside;
	int err;

	if ((!outcome->text && !outcome->flame) ||
	    !is_sampled(outcome, view))
		return;
	(void)snprintf(beside, sizeof(beside), "%.*s.svg",
		       (int)strlen(run->path) - 5, run->path);
	if (outcome->flame)
		path = outcome_path(outcome, outcome->flame, own);
	if (!outcome->is_rank && outcome->group.n > 1)
		join_all(outcome, view);
	err = write_flame(view, path);
	if (err)
		(void)message_error("write", path, err);
	else if (outcome->text)
		(void)fprintf(outcome->text, "flame graph: %s\n", path);
}

static void write_processes(const struct outcome *outcome,
			    struct tr_json *json)
{
	tr_json_array(json, "processes");
	for (size_t i = outcome->group.n; i-- > 0;) {
		const tare_run_entry *run = &outcome->group.runs[i];

		tr_json_object(json, NULL);
		tr_json_str(json, "id", run->id);
		tr_json_str(json, "program", run->program);
		tr_json_i64(json, "pid", run->pid);
		tr_json_str(json, "state", tr_run_state_name(run->state));
		tr_json_bool(json, "reported", run == outcome->group.main);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}

/* A tare_write_fn; lack of memory is detected at the end. */
static int buf_write(void *arg, const char *text, size_t len)
{
	tr_buf_add(arg, text, len);
	return 0;
}

/* The parts that there are; NULL or false: none. */
struct told {
	tare_view *view;
	const struct job *job;
	const struct tr_programs *programs; /* of more than one process */
};

static void write_json(const struct outcome *outcome, const struct told *told)
{
	tare_report_options how = { .struct_size = sizeof(how) };
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_json json = { .buf = &buf };
	const struct child *child = &outcome->child;
	const struct rusage *usage = &child->usage;

	tr_json_object(&json, NULL);
	tr_json_array(&json, "command");
	for (size_t i = 0; i < outcome->args->n_operands; i++)
		tr_json_str(&json, NULL, outcome->args->operands[i]);
	tr_json_end_array(&json);
	tr_json_i64(&json, "exit_status", child_code(child));
	tr_json_i64(&json, "signal",
		    WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0);
	tr_json_u64(&json, "wall_ns", child->wall_ns);
	tr_json_double(&json, "user_ns", timeval_ns(usage->ru_utime));
	tr_json_double(&json, "system_ns", timeval_ns(usage->ru_stime));
	tr_json_i64(&json, "peak_memory_bytes",
		    (int64_t)usage->ru_maxrss * 1024);
	write_processes(outcome, &json);
	if (told->programs)
		tr_json_programs(&json, told->programs);
	if (told->job)
		job_json(told->job, &json, "job");
	tr_buf_adds(&buf, ",\"report\":");
	if (!told->view || tare_view_json(told->view, &how, buf_write, &buf))
		tr_buf_adds(&buf, "null");
	tr_json_end_object(&json);
	output_json(&json, outcome->json);
}

static const char *why_nothing(const struct outcome *outcome,
			       enum probes probes)
{
	const struct rusage *used = &outcome->child.usage;

	if (!outcome->is_sampled)
		return probes == PROBES_NONE ? "or they were off in its build" :
					       "and nothing was sampled";
	if (timeval_ns(used->ru_utime) + timeval_ns(used->ru_stime) < TINY_NS)
		return "and used too little CPU time for a sample (--rate "
		       "4000 takes more, --wall also while it waits)";
	return "and nothing was sampled (it may have changed its user, or "
	       "have no place for a ledger)";
}

static void print_nothing(const struct outcome *outcome)
{
	enum probes probes = probes_of(outcome->args->operands[0]);

	message("'%s' %s, %s; its exit status is passed through",
		outcome->args->operands[0], probes_text(probes),
		why_nothing(outcome, probes));
}

/* ---- ranks of a parallel program --------------------------------------- */

/* The run of this rank: of the program, or of one that it started. */
static const tare_run_entry *own_run(const struct outcome *outcome)
{
	const struct group *group = &outcome->group;
	tare_communication comm;
	tare_view *view;

	for (size_t i = 0; i < group->n; i++)
		if (group->runs[i].pid == outcome->child.pid)
			return &group->runs[i];
	for (size_t i = 0; i < group->n; i++) {
		bool is_own;

		if (tare_view_open(group->runs[i].path, &view))
			continue;
		is_own = tare_view_communication(view, &comm) == 0 &&
			 comm.is_mpi && comm.rank == outcome->launch.rank;
		tare_view_close(view);
		if (is_own)
			return &group->runs[i];
	}
	return NULL;
}

static void print_job(const struct outcome *outcome, const struct job *job)
{
	const tare_run_entry *run = outcome->group.main;

	job_print(job, outcome->text);
	(void)fputc('\n', outcome->text);
	if (outcome->is_rank && run)
		(void)fprintf(outcome->text, "rank %ld alone: tare report "
					     "%s\n",
			      outcome->launch.rank, run->id);
}

/* For rank 0, and for later readers. */
static void leave_ending(const struct outcome *outcome)
{
	struct ending ending = {
		.status = outcome->child.status,
		.at_ns = outcome->ended_ns,
		.peak_bytes = outcome->child.usage.ru_maxrss * 1024,
	};
	const tare_run_entry *run = own_run(outcome);

	if (run)
		ending_write(run->path, &ending);
	if (outcome->child.status)
		watcher_alert(outcome->group.name);
}

bool outcome_tell_early(void *arg)
{
	struct outcome *outcome = arg;
	struct job job = { .n = 0 };
	bool is_job;

	(void)tare_runs_sweep();
	is_job = job_add_group(&job, outcome->group.name) == 0 &&
		 job_join(&job) == 0;
	if (is_job && outcome->text) {
		print_job(outcome, &job);
		(void)fflush(outcome->text);
	}
	job_release(&job);
	return is_job;
}

/* True: the program was a job; `job` has its ranks. */
static bool find_job(struct outcome *outcome, struct job *job)
{
	int64_t most = WIFSIGNALED(outcome->child.status) ? WAIT_DYING_NS :
							    WAIT_NS;

	if (outcome->is_rank) {
		(void)job_wait(outcome->group.name, outcome->launch.ranks,
			       outcome->launch.are_here, most);
		(void)tare_runs_sweep();
	}
	return job_add_group(job, outcome->group.name) == 0 &&
	       job_join(job) == 0;
}

/* ---- all --------------------------------------------------------------- */

static void print_text(const struct outcome *outcome, const struct told *told)
{
	tare_view *view = told->view;

	if (told->job)
		print_job(outcome, told->job);
	else if (view && (!told->programs || outcome->wants_calls ||
			  !group_has_all_of(told->programs, view)))
		print_report(outcome, view);
	if (told->programs && !told->job)
		print_programs(outcome, told->programs);
	if (told->programs && !told->job)
		print_alloc_hint(outcome, view);
	notes_print(outcome->notes, outcome->text);
	print_deleted(outcome);
	/* The reports of the program itself and of programs have them. */
	if (told->job || !view ||
	    (!told->programs &&
	     outcome->group.main->pid != outcome->child.pid))
		print_resources(outcome);
}

/* Adds up all processes; false: there is one, or none. */
static bool find_programs(const struct outcome *outcome, tare_view *view,
			  struct tr_programs *programs)
{
	int err;

	if (outcome->group.n < 2 || (!outcome->text && !outcome->json))
		return false;
	err = group_programs(&outcome->group, NULL, programs);
	programs->unmeasured_ns = unmeasured_ns(outcome, programs);
	/* The report of the one with probes has them. */
	if (!group_is_probed(programs, view))
		group_drop_probes(programs);
	if (err)
		(void)message_error("add up", "processes", err);
	return !err;
}

static void tell(struct outcome *outcome, tare_view *view)
{
	struct tr_programs programs = { .n = 0 };
	struct job job = { .n = 0 };
	bool is_job = (outcome->text || outcome->json) &&
		      !outcome->each_rank && find_job(outcome, &job);
	const struct told told = {
		.view = view,
		.job = is_job ? &job : NULL,
		.programs = find_programs(outcome, view, &programs) ?
				    &programs :
				    NULL,
	};

	/* If the job continued after a rank's end, this is its outcome. */
	if (outcome->text &&
	    !(outcome->is_told && WIFSIGNALED(outcome->child.status)))
		print_text(outcome, &told);
	if (view && outcome->group.n > 1)
		tr_runs_note_last(outcome->group.main);
	if (outcome->json)
		write_json(outcome, &told);
	history_note(outcome, view, told.programs, outcome->start);
	/* The last: then the view is that of all processes. */
	if (view)
		make_flame(outcome, view);
	group_programs_release(&programs);
	job_release(&job);
}

/* Another rank reports for this one. */
static bool is_silent(const struct outcome *outcome)
{
	return outcome->is_rank && outcome->launch.rank && !outcome->each_rank;
}

/*
 * For `tare report`: how the program itself ended, since what became of the
 * processes that it started is known to it alone, and the CPU time of them all;
 * for `tare compare`: its wall time, and how much of it other programs took.
 * If the program has no run, the file is beside another one.
 */
static void note_ending(const struct outcome *outcome)
{
	const struct child *child = &outcome->child;
	const struct group *group = &outcome->group;
	const struct ending ending = {
		.status = child->status,
		.at_ns = outcome->ended_ns,
		.peak_bytes = child->usage.ru_maxrss * 1024,
		.pid = child->pid,
		.cpu_ns = (int64_t)used_ns(outcome),
		.runs = (int64_t)group->n,
		.wall_ns = (int64_t)child->wall_ns,
		.queued_ns = (int64_t)child->queued_ns,
	};

	/* The newest of the program: an older one ended by exec. */
	if (group->main)
		ending_write(group->main->path, &ending);
}

void outcome_find(struct outcome *outcome)
{
	/* It may have ended without libc, and so without a last word. */
	if (WIFEXITED(outcome->child.status))
		tr_runs_end(outcome->child.pid, outcome->group.name);
	outcome->error = group_find(&outcome->group, outcome->child.pid,
				    !outcome->is_rank);
	if (!outcome->error)
		names_keep(outcome->group.runs, outcome->group.n);
	if (!outcome->error && outcome->is_rank)
		leave_ending(outcome);
	else if (!outcome->error)
		note_ending(outcome);
}

void outcome_tell(struct outcome *outcome)
{
	tare_view *view = NULL;
	int err = outcome->error;
	char spare[400];

	if (outcome->text && tr_runs_are_spared(spare, sizeof(spare)))
		message("the folder for runs cannot be used: they are kept "
			"in '%s'", spare);
	if (!err && outcome->group.main && !is_silent(outcome))
		err = tare_view_open(outcome->group.main->path, &view);
	if (view)
		names_attach(view);
	if (err)
		(void)runs_error("find the run in", "runs", err);
	else if (!view && outcome->text)
		print_nothing(outcome);
	if (!is_silent(outcome))
		tell(outcome, view);
	tare_view_close(view);
	group_release(&outcome->group);
}
