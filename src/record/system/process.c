/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process: what this or another process uses.
 *
 * For this process, times, faults and switches come from getrusage(): all
 * threads, including ended ones, in microseconds. For another process /proc
 * has them in ticks, and switches of its first thread only.
 *
 * The peak is that of the process's present memory (VmHWM). getrusage() would
 * include the peak of the program that created it by vfork() and exec.
 */
#include "readings.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock.h"
#include "base/platform.h"

#define FORMER 32u /* processes whose last readings are kept */
#define PROC_MAGIC 0x9fa0
#define TIME_MOST 1e12 /* seconds; more: garbled */

struct former {
	int64_t pid;	/* 0: free */
	uint64_t start; /* ticks: a pid may be reused */
	uint64_t used;	/* number of the reading that used it last */
	struct tr_since since;
	double cpu_s[2];
};

/* Guarded by the lock. */
static struct {
	struct former former[FORMER];
	uint64_t readings;
	long cpus, page, ticks; /* 0: not read yet */
	bool is_looked, is_proc; /* is it the kernel's own /proc? */
} processes;

void tr_process_forget(void)
{
	memset(&processes, 0, sizeof(processes));
}

static void look_once(void)
{
	char path[256];
	struct statfs fs;

	if (processes.is_looked)
		return;
	processes.is_looked = true;
	processes.cpus = sysconf(_SC_NPROCESSORS_CONF);
	processes.page = sysconf(_SC_PAGESIZE);
	processes.ticks = sysconf(_SC_CLK_TCK);
	if (processes.ticks <= 0)
		processes.ticks = 100;
	processes.is_proc = tr_scan_path(path, sizeof(path), "/proc") &&
			    statfs(path, &fs) == 0 &&
			    (uint64_t)fs.f_type == PROC_MAGIC;
}

/* ---- files ------------------------------------------------------------- */

void tr_status_scan(const char *text, tare_process *now)
{
	uint64_t threads = tr_scan_value(text, "Threads:");

	now->rss = tr_scan_times(tr_scan_value(text, "VmRSS:"), 1024);
	now->peak_rss = tr_scan_times(tr_scan_value(text, "VmHWM:"), 1024);
	now->vm = tr_scan_times(tr_scan_value(text, "VmSize:"), 1024);
	now->swap = tr_scan_times(tr_scan_value(text, "VmSwap:"), 1024);
	now->shared = tr_scan_times(
		tr_scan_sum(tr_scan_value(text, "RssFile:"),
			    tr_scan_value(text, "RssShmem:")), 1024);
	if (threads <= INT32_MAX)
		now->threads = (uint32_t)threads;
	if (threads != 1)
		return;
	now->switches = tr_scan_value(text, "voluntary_ctxt_switches:");
	now->preemptions = tr_scan_value(text, "nonvoluntary_ctxt_switches:");
}

/* Pages: size, resident, shared. For kernels whose status lacks them. */
static void scan_statm(const char *at, tare_process *now)
{
	uint64_t page = processes.page > 0 ? (uint64_t)processes.page : 4096;

	now->vm = tr_scan_times(tr_scan_number(&at), page);
	now->rss = tr_scan_times(tr_scan_number(&at), page);
	now->shared = tr_scan_times(tr_scan_number(&at), page);
}

void tr_io_scan(const char *text, tare_process *now)
{
	now->io_read = tr_scan_value(text, "rchar:");
	now->io_written = tr_scan_value(text, "wchar:");
	now->read_bytes = tr_scan_value(text, "read_bytes:");
	now->written_bytes = tr_scan_value(text, "write_bytes:");
}

static double seconds(uint64_t ticks)
{
	double s = (double)ticks / (double)(processes.ticks > 0 ?
						    processes.ticks :
						    100);

	return ticks == TARE_UNKNOWN || s > TIME_MOST ? NAN : s;
}

uint64_t tr_stat_scan(const char *text, tare_process *now)
{
	/* The name may contain anything, including brackets. */
	const char *at = strrchr(text, ')');
	uint64_t field[23]; /* numbered as in proc(5) */

	if (!at)
		return TARE_UNKNOWN;
	at++;
	(void)tr_scan_skip(&at); /* 3: the state */
	for (int i = 4; i <= 22; i++) {
		field[i] = tr_scan_number(&at);
		if (field[i] == TARE_UNKNOWN && !tr_scan_skip(&at))
			return TARE_UNKNOWN; /* negative ones are skipped */
	}
	now->minor_faults = field[10];
	now->major_faults = field[12];
	now->cpu_user_s = seconds(field[14]);
	now->cpu_system_s = seconds(field[15]);
	if (field[20] <= INT32_MAX)
		now->threads = (uint32_t)field[20];
	return field[22];
}

/* Entries of a folder, without "." and ".."; guarded by the lock. */
static uint64_t count_entries(int fd)
{
	static char block[8192];
	uint64_t n = 0;
	long len;

	while ((len = syscall(SYS_getdents64, fd, block, sizeof(block))) > 0)
		for (long at = 0; at < len;) {
			unsigned short size;

			/* ino 8, off 8, size 2, type 1, name */
			memcpy(&size, block + at + 16, sizeof(size));
			n += block[at + 19] != '.';
			at += size;
		}
	return len == 0 ? n : TARE_UNKNOWN;
}

/*
 * Since 6.2 the kernel reports it as the folder's size; counting may take ms
 * if there are many.
 */
static uint64_t count_files(const char *who, bool is_self)
{
	char path[256];
	struct stat st;
	uint64_t n;
	int fd;

	if (!tr_scan_path(path, sizeof(path), "/proc/%s/fd", who))
		return TARE_UNKNOWN;
	if (processes.is_proc && stat(path, &st) == 0 && st.st_size > 0)
		return (uint64_t)st.st_size;
	fd = tr_file_open(path, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return TARE_UNKNOWN;
	n = count_entries(fd);
	(void)close(fd);
	/* Excludes the folder's own descriptor. */
	return is_self && processes.is_proc && n && n != TARE_UNKNOWN ? n - 1 :
									n;
}

/* ---- this process ------------------------------------------------------ */

static double time_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static void take_usage(tare_process *now)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return;
	now->cpu_user_s = time_of(&usage.ru_utime);
	now->cpu_system_s = time_of(&usage.ru_stime);
	now->minor_faults = (uint64_t)usage.ru_minflt;
	now->major_faults = (uint64_t)usage.ru_majflt;
	now->switches = (uint64_t)usage.ru_nvcsw;
	now->preemptions = (uint64_t)usage.ru_nivcsw;
	if (now->peak_rss == TARE_UNKNOWN)
		now->peak_rss = tr_scan_times((uint64_t)usage.ru_maxrss, 1024);
}

static void take_heap(bool is_detailed, tare_process *now)
{
	struct tr_malloced heap;
	const char *reason;

	if (!tr_heap_read(is_detailed, &heap, &reason))
		return;
	now->heap_used = heap.used;
	now->heap_held = heap.held;
	if (heap.held && heap.used <= heap.held)
		now->heap_fragmentation =
			1 - (double)heap.used / (double)heap.held;
}

/* ---- percent ----------------------------------------------------------- */

static struct former *former_of(int64_t pid, uint64_t start)
{
	struct former *oldest = &processes.former[0];

	for (unsigned i = 0; i < FORMER; i++) {
		struct former *f = &processes.former[i];

		if (f->pid == pid && f->start == start)
			return f;
		if (f->used < oldest->used)
			oldest = f;
	}
	*oldest = (struct former){ .pid = pid, .start = start };
	return oldest;
}

static double percent_since(int64_t pid, uint64_t start, double cpu_s)
{
	struct former *former = former_of(pid, start);
	struct tr_gap gap = tr_since_next(&former->since);
	double most = 100.0 * (double)(processes.cpus > 0 ? processes.cpus : 1);
	double percent;

	former->used = ++processes.readings;
	if (gap.keep >= 0)
		former->cpu_s[gap.keep] = cpu_s;
	if (gap.from < 0)
		return NAN;
	percent = tr_gap_rate(&gap, 100 * (cpu_s - former->cpu_s[gap.from]),
			      2 * most);
	/* A tick or two too many, which belong to the time before. */
	return percent > most ? most : percent;
}

/* ---- reading ----------------------------------------------------------- */

static int take_files(const char *who, tare_process *now)
{
	int err = 0;
	const char *text = tr_scan_file(&err, "/proc/%s/status", who);

	if (text)
		tr_status_scan(text, now);
	if (now->rss == TARE_UNKNOWN) {
		text = tr_scan_file(NULL, "/proc/%s/statm", who);
		if (text)
			scan_statm(text, now);
	}
	if (now->rss != TARE_UNKNOWN && now->shared <= now->rss)
		now->private_ = now->rss - now->shared;
	text = tr_scan_file(NULL, "/proc/%s/io", who);
	if (text)
		tr_io_scan(text, now);
	return err;
}

static void take_pss(const char *who, tare_process *now)
{
	const char *text = tr_scan_file(NULL, "/proc/%s/smaps_rollup", who);

	if (text)
		now->pss = tr_scan_times(tr_scan_value(text, "Pss:"), 1024);
}

static int take(int64_t pid, bool is_self, bool is_detailed,
		tare_process *now)
{
	char who[24] = "self";
	uint64_t start = 0;
	const char *text;
	int err;

	if (!is_self)
		(void)snprintf(who, sizeof(who), "%lld", (long long)pid);
	look_once();
	err = take_files(who, now);
	if (is_self) {
		take_usage(now);
		take_heap(is_detailed, now);
	} else {
		text = tr_scan_file(NULL, "/proc/%s/stat", who);
		start = text ? tr_stat_scan(text, now) : TARE_UNKNOWN;
		if (start == TARE_UNKNOWN && err)
			return err;
	}
	now->open_files = count_files(who, is_self);
	if (is_detailed)
		take_pss(who, now);
	if (!isnan(now->cpu_user_s) && !isnan(now->cpu_system_s))
		now->cpu_percent = percent_since(
			pid, start, now->cpu_user_s + now->cpu_system_s);
	return 0;
}

static int read_process(int64_t pid, bool is_detailed, tare_process *ret_now)
{
	int64_t own = getpid();
	struct tr_lock lock;
	tare_process now;
	uint32_t size;
	int err;

	if (!ret_now || pid < 0 || pid > INT32_MAX ||
	    ret_now->struct_size < offsetof(tare_process, rss) ||
	    ret_now->struct_size > TR_READING_MOST)
		return TARE_EINVAL;
	if (!tr_lock_enter(&lock))
		return TARE_EIO;
	memset(&now, 0xff, sizeof(now)); /* unknown, and NAN */
	now.threads = 0;
	now.pid = pid ? pid : own;
	now.at_ns = tr_realtime_ns();
	err = take(now.pid, now.pid == own, is_detailed, &now);
	tr_lock_leave(&lock);
	if (err)
		return err;
	size = ret_now->struct_size;
	memset((char *)ret_now, 0xff, size);
	memcpy(ret_now, &now, size < sizeof(now) ? size : sizeof(now));
	ret_now->struct_size = size;
	return 0;
}

TARE_API int tare_process_read(int64_t pid, tare_process *ret_now)
{
	return read_process(pid, false, ret_now);
}

TARE_API int tare_process_read_detailed(int64_t pid, tare_process *ret_now)
{
	return read_process(pid, true, ret_now);
}
