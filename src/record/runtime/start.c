/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start and stop, in a process, in its forked children, at its end.
 *
 * Everything that a child must not share with its parent is in memory that the
 * kernel wipes at a fork (any fork: fork, _Fork, clone). So a child is not
 * open, and opens its own ledger at its first event. No handler runs at the
 * fork itself.
 */
#include "record/runtime.h"

#include "record/governor.h"
#include "record/gpu.h"
#include "record/monitor.h"
#include "base/text.h"
#include "record/train.h"
#include "ledger/runs.h"
#include "record/alloc.h"
#include "record/kernels.h"
#include "record/sampler.h"
#include "record/stacks.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Aligned to no more than it needs: the linker then puts it beside the small
 * variables, whose pages are in use at the start of every process anyway.
 */
_Alignas(8) struct tr_config tr_config;
enum tr_mode tr_mode;

/* In wiped memory. */
struct process {
	/* First, and the ledger's `ready` next: in one page. */
	struct tr_anchor start; /* if preloaded; mono_ns 0: not taken */
	uint64_t rss_start;	/* if preloaded, before the ledger opens */
	struct tr_ledger ledger;
	uint32_t opening; /* 1 while a thread opens, 2 after a failure */
	uint64_t lost;	  /* events during the opening */
	uint32_t stopped;
	_Alignas(8) char monitor[TR_MONITOR_BYTES];
};

static struct process *process;
static bool loaded; /* the configuration is loaded */
static pid_t first; /* the process that started; its children inherit it */
static char *const *start_argv; /* NULL: not known */

static void warn(void *arg, const char *text)
{
	(void)arg;
	tr_log(TARE_LEVEL_WARNING, "%s", text);
}

void tr_load_config(void)
{
	if (loaded)
		return;
	loaded = true;
	tr_config_load(&tr_config, warn, NULL);
	tr_log_ready();
	tr_gpu_set_log(tr_log_plain);
	tr_gpu_set_interval((int64_t)(tr_config.gpu_monitor_interval * 1e9));
}

/* ---- memory that forks wipe -------------------------------------------- */

static void reset_in_child(void)
{
	size_t bytes = tr_max_threads * sizeof(struct tr_thread);

	if (!process)
		return;
	tr_memory_unmap(tr_threads, bytes);
	tr_threads = tr_memory_map(bytes);
	memset(process, 0, sizeof(*process)); /* and the monitor's part */
	tr_thread_set(&tr_thread_none);
}

/* A limit on address space is meant for the host: take little of it. */
static void choose_max_threads(void)
{
	uint64_t most = tr_memory_space() / 64 / sizeof(struct tr_thread);

	if (most < tr_max_threads)
		tr_max_threads = most < 16 ? 16 : (uint32_t)most;
}

/* One mapping: each costs every process of a build. */
static int map_process(void)
{
	size_t own = (sizeof(*process) + TR_PAGE - 1) / TR_PAGE * TR_PAGE;
	bool wiped = false;
	char *memory;

	if (process)
		return 0;
	choose_max_threads();
	memory = tr_memory_map_wiped(own + tr_max_threads *
						   sizeof(struct tr_thread),
				     &wiped);
	if (!memory)
		return TARE_ENOMEM;
	process = (void *)memory;
	tr_threads = (void *)(memory + own);
	tr_monitor_init(&tr_config, process->monitor);
	/*
	 * An old kernel does not wipe: a handler does it, at least for fork().
	 */
	if (!wiped)
		(void)pthread_atfork(NULL, NULL, reset_in_child);
	return 0;
}

/* ---- another copy of the library --------------------------------------- */

/* Weak: works in a program without dynamic loading. */
#pragma weak dlsym
#pragma weak dlerror

/*
 * The copy that `tare run` loaded into the program is the first of all, even
 * while it has no ledger because nothing was written. NULL: none.
 */
static const struct tr_probe_table *preloaded_copy(void)
{
	const struct tr_probe_table *const *named = NULL;

	if (dlsym && dlerror) {
		named = dlsym(RTLD_DEFAULT, "tare_preload_");
		(void)dlerror(); /* not for the host to see */
	}
	return named ? *named : NULL;
}

/* The first copy's ledger is mapped under the id of this process. */
static const struct tr_probe_table *mapped_copy(void)
{
	const struct tr_header *header;
	char name[32];

	(void)snprintf(name, sizeof(name), "-%u.tare", (unsigned)getpid());
	header = tr_mapping_find(name);
	if (!header || header->magic != TR_MAGIC ||
	    header->pid != (uint32_t)getpid() || !header->owner_abi)
		return NULL;
	return (const void *)(uintptr_t)header->owner_abi;
}

static bool find_first_copy(void)
{
	const struct tr_probe_table *table = preloaded_copy();

	if (!table)
		table = mapped_copy();
	if (!table || table->magic != TR_PROBE_MAGIC || table == &tr_probe_own)
		return false;
	tr_probe_forward = table;
	/* With the first copy's ledger, this copy's queries work, too. */
	if (table->size == tr_probe_own.size &&
	    strcmp(table->version, tr_probe_own.version) == 0) {
		table->start();
		tr_ledger = *table->ledger;
	}
	return true;
}

/*
 * A plugin that contains this copy must stay loaded when it is closed: other
 * copies may forward to it, and its exit code may be about to run. Weak: works
 * in a program without dynamic loading.
 */
#pragma weak dladdr
#pragma weak dlopen

static void stay_loaded(void)
{
	Dl_info info;

	if (dladdr && dlopen && dladdr(&tr_probe_own, &info) && info.dli_fname)
		(void)dlopen(info.dli_fname,
			     RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* ---- opening ----------------------------------------------------------- */

static void fill_ledger(void)
{
	struct tr_ledger *ledger = &process->ledger;

	ledger->tracing = tr_config.trace;
	ledger->discard = tr_config.trace_mode == TR_TRACE_DISCARD;
	ledger->ring_bytes = (uint32_t)tr_config.trace_events * 16;
	ledger->max_nodes = (uint32_t)tr_config.max_nodes;
	if (tr_config.calls) /* more functions than scopes */
		ledger->max_nodes *= 8;
	ledger->max_depth = (uint32_t)tr_config.max_depth;
	ledger->keep_values = (uint32_t)tr_config.keep_values;
	(void)tr_parse_kinds(tr_config.keep_kinds, &ledger->keep_kinds);
	ledger->counter_clock = tr_config.clock != TR_CLOCK_MONOTONIC &&
				TR_HAS_COUNTER &&
				(tr_config.clock == TR_CLOCK_TSC ||
				 tr_counter_is_trusted());
}

static int open_process(bool standby)
{
	int err;

	tr_options_inherit();
	fill_ledger();
	tr_ledger = &process->ledger;
	err = tr_ledger_open(&tr_config, standby);
	if (err)
		return err;
	if (standby) {
		TR_STORE(tr_ledger->control->enabled, 0);
	} else {
		tr_calibrate_clock(&process->start);
		tr_step_is_read = tr_log_is_read;
		tr_step_set_log(tr_log_line);
		tr_follow_steps();
		tr_ledger->header->owner_abi = (uintptr_t)&tr_probe_own;
		tr_ledger->header->rss_start = process->rss_start;
		TR_PUBLISH(tr_ledger->header->magic, TR_MAGIC);
		if (tr_config.sigbus_guard && !tr_ledger->anonymous)
			tr_guard_install();
	}
	TR_PUBLISH(tr_ledger->ready, 1);
	if (!standby) {
		tr_calibrate_probes();
		tr_self_govern();
		tr_step_sources_connect();
		tr_trace_ready();
		tr_track_rewind(tr_this_thread());
		tr_profile_start(&tr_config);
		tr_sampler_opened();
		tr_ledger_save();
	}
	return 0;
}

/* Adds the events that other threads lost while one opened the ledger. */
static void show_lost(void)
{
	uint64_t n = __atomic_exchange_n(&process->lost, 0, __ATOMIC_SEQ_CST);

	if (n && tr_ledger->header)
		(void)TR_ADD(tr_ledger->header->lost.no_track, n);
}

/* Requested by TARE=1, or by naming a file for the report. */
static bool wants_report(const struct tr_config *config)
{
	if (strcmp(config->report, "none") == 0)
		return false;
	return tr_mode == TR_MODE_REPORT ||
	       (tr_mode == TR_MODE_ON &&
		strcmp(config->report, "stderr") != 0);
}

static void say_failure(bool standby, int err)
{
	char text[120];

	(void)snprintf(text, sizeof(text), "cannot measure: %s",
		       tare_strerror(err));
	tr_log_lost(standby, text);
}

static int open_once(bool standby)
{
	uint32_t idle = 0;
	int err;

	if (!TR_SWAP(process->opening, &idle, 1))
		return idle == 1 ? TARE_EOFF : TARE_EIO;
	err = open_process(standby);
	if (!err && standby) {
		TR_PUBLISH(process->opening, 0); /* opened in full later */
		return 0;
	}
	if (err) {
		say_failure(standby, err);
		TR_PUBLISH(process->opening, 2);
		return err;
	}
	show_lost();
	if (tr_ledger->anonymous)
		tr_log_lost(wants_report(&tr_config),
			    "no folder for a ledger: measuring in memory, "
			    "visible to this process only");
	return 0;
}

/*
 * `is_event`: the caller's event is lost if another thread is opening the
 * ledger.
 */
static bool open_now(bool is_event)
{
	int saved;
	bool done;

	if (!process || tr_mode == TR_MODE_OFF)
		return false;
	/* Standby: a parent's control page is no reason to open one. */
	if (tr_mode == TR_MODE_STANDBY &&
	    (!TR_LOAD(process->ledger.ready) ||
	     !TR_LOAD(process->ledger.control->enabled)))
		return false;
	if (TR_LOAD(process->stopped) || TR_LOAD(process->opening) == 2)
		return false;
	if (TR_LOAD(process->opening) == 1) {
		if (!is_event)
			return false;
		(void)__atomic_fetch_add(&process->lost, 1, __ATOMIC_SEQ_CST);
		/*
		 * Opened meanwhile: that thread may have read the count
		 * before.
		 */
		if (__atomic_load_n(&process->ledger.ready, __ATOMIC_SEQ_CST))
			show_lost();
		return false;
	}
	saved = errno; /* in a probe: errno is the host's */
	done = open_once(false) == 0;
	if (done)
		tr_monitor_notice();
	errno = saved;
	return done;
}

/*
 * A probe found no ledger: a forked child's first event, or measuring is off.
 */
bool tr_probe_open(void)
{
	return open_now(true);
}

/* For a sample or an allocation: their losses are counted elsewhere. */
bool tr_open_uncounted(void)
{
	return open_now(false);
}

/* The control page is open, the ledger is not. */
static int leave_standby(void)
{
	int err;

	if (tr_mode == TR_MODE_STANDBY)
		return 0;
	err = open_once(false);
	if (err)
		return err;
	TR_STORE(tr_ledger->control->enabled, 1);
	tr_control_bump(tr_ledger->control);
	return 0;
}

static int open_first(void)
{
	int err;

	if (find_first_copy()) {
		TR_PUBLISH(tr_gate_off, 1);
		return 0;
	}
	stay_loaded();
	err = open_once(tr_mode == TR_MODE_STANDBY);
	/* From now on sites that were off check their switches again. */
	TR_PUBLISH(tr_gate_off, 1);
	return err;
}

static void warn_plain(const char *text)
{
	tr_log(TARE_LEVEL_WARNING, "%s", text);
}

int tr_start(void)
{
	int err = map_process();

	if (err)
		return err;
	tr_load_config();
	tr_runs_use(&tr_config);
	if (!first)
		first = getpid();
	if (TR_LOAD(process->stopped))
		return TARE_EOFF;
	if (tr_probe_forward)
		return 0;
	if (tr_ledger_is_open())
		return 0;
	if (tr_ledger_is_ready())
		err = leave_standby();
	else
		err = open_first();
	if (!err && !tr_probe_forward) {
		tr_calls_use((enum tr_calls)tr_config.calls, tr_modules_know);
		tr_monitor_memory(&tr_config, false);
		tr_monitor_begin();
		tr_sample_begin(preloaded_copy() == &tr_probe_own);
		tr_alloc_prepare(&tr_config, tr_open_uncounted);
		tr_kernels_prepare(&tr_config, tr_open_uncounted,
				   warn_plain);
		/* Now: at exit the program may be confined (seccomp). */
		if (wants_report(&tr_config) || tr_config.enable_profiler)
			(void)tr_reader_load();
	}
	return err;
}

/*
 * Is anything to be read at intervals? Then start the thread now, not when it
 * is first needed.
 */
static bool wants_monitor(void)
{
	uint32_t parts = 0;

	return (tr_parse_parts(tr_config.monitor, &parts) && parts) ||
	       tr_config.enable_gpu_monitoring ||
	       tr_config.collect_gpu_utilization ||
	       (tr_config.debug_mode && !tr_config.sets_gpu_monitoring) ||
	       tr_config.collect_memory_detailed;
}

static bool may_be_confined; /* also in its children */

static bool is_untold; /* a fork of which no line was written */

static void tell_process(enum tr_process_kind kind)
{
	if (!may_be_confined)
		tr_log_process(kind, getpid(), program_invocation_short_name);
}

/* At the end: most run a program instead, which has its own line. */
void tr_tell_fork(void)
{
	if (is_untold)
		tell_process(TR_PROCESS_FORK);
	is_untold = false;
}

/* In a forked child of a preloaded program. */
static void begin_child(void)
{
	tr_log_is_quiet = true;
	is_untold = true;
	tr_process_remember_parent();
	tr_anchor_take(&process->start, TR_HAS_COUNTER);
}

static uint64_t known_bytes(uint64_t bytes)
{
	return bytes == UINT64_MAX ? 0 : bytes;
}

bool tr_is_direct_child;

static bool is_child_of_run(void)
{
	const char *group = secure_getenv("TARE_GROUP");
	const char *text = group ? strrchr(group, '-') : NULL;
	uint64_t pid;

	return text && tr_parse_u64(text + 1, &pid) &&
	       pid == (uint64_t)getppid();
}

/*
 * For the preloaded copy: memory and a timer, no ledger. Most programs of a
 * build end before their first sample.
 */
static void start_preloaded(void)
{
	if (map_process())
		return;
	/* The ledger opens later, at the first sample. */
	tr_anchor_take(&process->start, TR_HAS_COUNTER);
	tr_is_direct_child = is_child_of_run();
	/* Only these may print messages. */
	tr_log_is_quiet = !tr_is_direct_child;
	(void)pthread_atfork(NULL, NULL, begin_child);
	tell_process(TR_PROCESS_PROGRAM);
	tr_process_remember(start_argv);
	tr_ledger = &process->ledger;
	tr_load_config();
	/* Only here: files of /proc are a tenth of what a short child costs. */
	if (tr_config.collect_memory_basic && !tr_log_is_quiet)
		process->rss_start = known_bytes(tr_usage_rss());
	tr_runs_use(&tr_config);
	first = getpid();
	TR_PUBLISH(tr_gate_off, 1);
	if (tr_config.calls)
		tr_profile_prepare(&tr_config);
	tr_calls_use((enum tr_calls)tr_config.calls, tr_modules_know);
	tr_sample_begin(true);
	tr_alloc_prepare(&tr_config, tr_open_uncounted);
	tr_kernels_prepare(&tr_config, tr_open_uncounted, warn_plain);
	if (wants_monitor())
		(void)tr_start();
}

static enum tr_mode mode_of(const char *text)
{
	bool on;

	if (!text || !text[0])
		return TR_MODE_OFF;
	if (strcmp(text, "standby") == 0)
		return TR_MODE_STANDBY;
	if (strcmp(text, "on") == 0)
		return TR_MODE_ON;
	return tr_parse_bool(text, &on) && on ? TR_MODE_REPORT : TR_MODE_OFF;
}

void tr_start_at_load(void)
{
	const char *text = secure_getenv("TARE");
	bool is_preloaded = preloaded_copy() == &tr_probe_own;
	static bool is_done; /* another copy's start may come first */

	/* A store first: a read would cost a page fault of its own. */
	if ((&tare_only_reads && tare_only_reads) ||
	    __atomic_exchange_n(&is_done, true, __ATOMIC_RELAXED))
		return;
	tr_mode = mode_of(text);
	if (tr_mode == TR_MODE_OFF) {
		/* The file may enable it, unless TARE=0 forbids it. */
		if (text && text[0])
			return;
		tr_load_config();
		if (!tr_config.enable_metrics && !tr_config.enable_profiler &&
		    !tr_config.enable_performance_monitoring) {
			/*
			 * In a module: the program may have started its own
			 * copy.
			 */
			if (find_first_copy())
				TR_PUBLISH(tr_gate_off, 1);
			return;
		}
		tr_mode = TR_MODE_ON;
	}
	if (is_preloaded)
		start_preloaded();
	else
		(void)tr_start();
}

/* The program has its own probes: it needs a ledger. */
void tr_own_start(void)
{
	tr_start_at_load();
	if (tr_mode >= TR_MODE_ON)
		(void)tr_start();
}

/* Runs before the program's constructors, which may contain probes. */
__attribute__((constructor(101))) static void fill_host(void)
{
	tr_host = (struct tr_host){
		.open = tr_probe_open,
		.is_wanted = tr_probe_wanted,
		.option = tare_option_get,
		.log = tr_log_plain,
		.log_asked = tr_log_asked,
		.is_log_read = tr_log_is_read,
		.api = tr_own_api,
	};
}

#if defined(__GLIBC__)
__attribute__((constructor)) static void at_load(int argc, char **argv)
{
	(void)argc;
	start_argv = argv;
	tr_start_at_load();
}
#else
__attribute__((constructor)) static void at_load(void)
{
	tr_start_at_load();
}
#endif

/* ---- the end ----------------------------------------------------------- */

/* With the options set since the start, by any process. */
static void report_at_exit(void)
{
	struct tr_config now;

	tr_options_read(&now);
	if (wants_report(&now))
		tr_report_at_exit(&now, !tr_option_is_foreign("report"));
}

static bool is_confined; /* also in its children */

/* A vfork child shares its parent's memory. */
static bool is_measuring(void)
{
	if (tr_ledger_is_ready())
		return tr_ledger->pid == (uint32_t)getpid();
	return tr_sampler_signal() != 0;
}

void tr_confine(void)
{
	may_be_confined = true;
	if (tr_probe_forward || !process || is_confined || !is_measuring())
		return;
	is_confined = true;
	tr_log(TARE_LEVEL_WARNING, "the program confines itself (seccomp): "
	       "from here on neither samples nor allocations are noted");
	tr_sampler_settle();
	tr_sampler_stop();
	tr_alloc_halt();
	/* The program may not reach its normal end. */
	if (tr_ledger_is_ready())
		tr_ledger_seal();
}

void tr_stop(void)
{
	if (tr_probe_forward || !process)
		return;
	if (is_confined) {
		if (tr_ledger_is_ready())
			tr_ledger_seal();
		return;
	}
	tr_kernels_stop();
	tr_tell_fork();
	if (getpid() == first)
		tr_sample_end();
	/* Also if nothing was opened yet. */
	tr_sampler_stop();
	if (!tr_ledger_is_ready() ||
	    __atomic_exchange_n(&process->stopped, 1, __ATOMIC_ACQ_REL))
		return;
	if (tr_config_wants_stacks(&tr_config) || tr_config.calls)
		tr_modules_look();
	if (tr_ledger->base)
		tr_step_finish();
	tr_monitor_stop();
	if (tr_ledger->base)
		tr_trace_finish();
	tr_gpu_stop();
	tr_monitor_memory(&tr_config, true);
	TR_STORE(tr_ledger->control->enabled, 0);
	tr_control_bump(tr_ledger->control);
	tr_governor_close();
	tr_ledger_seal();
	report_at_exit();
	(void)tr_ledger_finish(&tr_config);
	/* If preloaded, `tare run` moves finished runs for all. */
	if (getpid() == first && preloaded_copy() != &tr_probe_own)
		tr_runs_tidy();
	TR_PUBLISH(tr_ledger->ready, 0);
	TR_STORE(tr_gate_off, 0);
}

bool tr_end_is_known;

void tr_end(int status)
{
	if (status >= 0 && tr_ledger_is_ready() && tr_ledger->base)
		TR_STORE(tr_ledger->header->exit_status,
			 (uint32_t)(status & 255) + 1);
	tr_trainings_finish();
	tr_stop();
}

__attribute__((destructor)) static void at_exit(void)
{
	if (!tr_end_is_known)
		tr_end(-1);
}
