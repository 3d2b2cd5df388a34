/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process as made-up files tell it, this one as it is, its heap, and the
 * joules of the CPU.
 */
#include "check.h"
#include "scene.h"
#include "tree.h"

#include <tare/system.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/platform.h"
#include "record/system/readings.h"
#include "record/system.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)

static tare_process read_process(int64_t pid)
{
	tare_process now = { .struct_size = sizeof(now) };

	errno = 77;
	CHECK_INT(tare_process_read(pid, &now), 0);
	CHECK_INT(errno, 77);
	return now;
}

/* ---- made-up files ----------------------------------------------------- */

static void put_other(void)
{
	tree_new();
	tree_clock();
	tree_put("/proc/4242/status",
		 "Name:\tVmRSS: 7 kB\nUmask:\t0022\nVmPeak:\t  900 kB\n"
		 "VmSize:\t  800 kB\nVmHWM:\t  700 kB\nVmRSS:\t  600 kB\n"
		 "RssAnon:\t  300 kB\nRssFile:\t  200 kB\n"
		 "RssShmem:\t  100 kB\nVmSwap:\t   50 kB\nThreads:\t1\n"
		 "voluntary_ctxt_switches:\t11\n"
		 "nonvoluntary_ctxt_switches:\t12\n");
	tree_put("/proc/4242/stat",
		 "4242 (a) b (c) S 1 4242 4242 0 -1 4194560 1000 2000 30 40 "
		 "250 50 7 8 20 0 3 0 12345 819200 150 18446744073709551615 "
		 "1 1 0 0\n");
	tree_put("/proc/4242/io", "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\n"
				  "read_bytes: 5\nwrite_bytes: 6\n"
				  "cancelled_write_bytes: 7\n");
	for (int i = 0; i < 5; i++) {
		char path[64];

		(void)sprintf(path, "/proc/4242/fd/%d", i);
		tree_put(path, "");
	}
}

TEST(another_process_is_that_of_its_files)
{
	double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
	tare_process now;

	put_other();
	now = read_process(4242);
	CHECK_INT(now.pid, 4242);
	CHECK_INT(now.rss, 600 * KIB);
	CHECK_INT(now.peak_rss, 700 * KIB);
	CHECK_INT(now.shared, 300 * KIB);
	CHECK_INT(now.private_, 300 * KIB);
	CHECK_INT(now.vm, 800 * KIB);
	CHECK_INT(now.swap, 50 * KIB);
	CHECK_INT(now.heap_used, TARE_UNKNOWN);
	CHECK_INT(now.heap_held, TARE_UNKNOWN);
	CHECK(isnan(now.heap_fragmentation));
	CHECK_NEAR(now.cpu_user_s, 250 * tick, 1e-9);
	CHECK_NEAR(now.cpu_system_s, 50 * tick, 1e-9);
	CHECK_INT(now.minor_faults, 1000);
	CHECK_INT(now.major_faults, 30);
	CHECK_INT(now.switches, 11);
	CHECK_INT(now.preemptions, 12);
	CHECK_INT(now.read_bytes, 5);
	CHECK_INT(now.written_bytes, 6);
	CHECK_INT(now.io_read, 1);
	CHECK_INT(now.io_written, 2);
	CHECK_INT(now.open_files, 5);
	CHECK_INT(now.pss, TARE_UNKNOWN);
	CHECK(isnan(now.cpu_percent));
	tree_end();
}

static void put_ticks(unsigned long ticks, unsigned long start)
{
	char text[256];

	(void)sprintf(text, "7 (x) S 1 1 1 0 -1 0 0 0 0 0 %lu 0 0 0 20 0 1 0 "
			    "%lu 1 1\n", ticks, start);
	tree_put("/proc/7/stat", text);
}

TEST(percent_of_another_process_is_since_the_reading_before)
{
	unsigned long hz = (unsigned long)sysconf(_SC_CLK_TCK);

	tree_new();
	tree_clock();
	put_ticks(1000, 5);
	CHECK(isnan(read_process(7).cpu_percent));
	tree_pass_ms(1000);
	put_ticks(1000 + hz / 2, 5);
	CHECK_NEAR(read_process(7).cpu_percent, 50, 1e-9);
	/* Another process under the same number. */
	tree_pass_ms(1000);
	put_ticks(5000, 6);
	CHECK(isnan(read_process(7).cpu_percent));
	/* Times that went back, and more than there are CPUs. */
	tree_pass_ms(1000);
	put_ticks(10, 6);
	CHECK(isnan(read_process(7).cpu_percent));
	tree_pass_ms(1000);
	put_ticks(10 + hz * 1000000, 6);
	CHECK(isnan(read_process(7).cpu_percent));
	tree_end();
}

TEST(more_processes_than_are_kept_are_no_harm)
{
	char path[64];
	long seen = 0;

	tree_new();
	tree_clock();
	for (int round = 0; round < 2; round++) {
		for (int pid = 1000; pid < 1100; pid++) {
			(void)sprintf(path, "/proc/%d/stat", pid);
			tree_put(path, "7 (x) S 1 1 1 0 -1 0 0 0 0 0 9 0 0 0 "
				       "20 0 1 0 5 1 1\n");
			seen += !isnan(read_process(pid).cpu_percent);
		}
		tree_pass_ms(1000);
	}
	CHECK_INT(seen, 0);
	CHECK_NEAR(read_process(1099).cpu_percent, 0, 1e-9);
	tree_end();
}

TEST(what_is_missing_of_a_process_is_unknown)
{
	tare_process now = { .struct_size = sizeof(now), .rss = 42 };

	tree_new();
	CHECK_INT(tare_process_read(4242, &now), TARE_ENOENT);
	CHECK_INT(now.rss, 42);
	CHECK_INT(tare_process_read(-1, &now), TARE_EINVAL);
	CHECK_INT(tare_process_read(INT64_C(1) << 40, &now), TARE_EINVAL);
	CHECK_INT(tare_process_read(0, NULL), TARE_EINVAL);
	now.struct_size = 4;
	CHECK_INT(tare_process_read(0, &now), TARE_EINVAL);
	/* Garbled: there, and nothing is known. */
	tree_put("/proc/4242/status", "VmRSS: -5 kB\nThreads: 99999999999\n"
				      "VmSize: 99999999999999999999 kB\n");
	tree_put("/proc/4242/stat", "4242 (x) S 1 2 3\n");
	tree_put("/proc/4242/io", "rchar: x\n");
	now = read_process(4242);
	CHECK_INT(now.rss, TARE_UNKNOWN);
	CHECK_INT(now.vm, TARE_UNKNOWN);
	CHECK_INT(now.private_, TARE_UNKNOWN);
	CHECK_INT(now.io_read, TARE_UNKNOWN);
	CHECK_INT(now.open_files, TARE_UNKNOWN);
	CHECK_INT(now.minor_faults, TARE_UNKNOWN);
	CHECK_INT(now.switches, TARE_UNKNOWN);
	CHECK_INT(now.threads, 0);
	CHECK(isnan(now.cpu_user_s) && isnan(now.cpu_percent));
	/* An old kernel's status has no such lines: statm has. */
	tree_put("/proc/4242/statm", "100 50 20 1 0 9 0\n");
	now = read_process(4242);
	CHECK_INT(now.rss, 50 * sysconf(_SC_PAGESIZE));
	CHECK_INT(now.vm, 100 * sysconf(_SC_PAGESIZE));
	CHECK_INT(now.private_, 30 * sysconf(_SC_PAGESIZE));
	tree_end();
}

TEST(switches_of_a_process_with_threads_are_not_those_of_its_first)
{
	put_other();
	tree_put("/proc/4242/status", "Threads:\t2\n"
				      "voluntary_ctxt_switches:\t11\n"
				      "nonvoluntary_ctxt_switches:\t12\n");
	CHECK_INT(read_process(4242).switches, TARE_UNKNOWN);
	CHECK_INT(read_process(4242).preemptions, TARE_UNKNOWN);
	tree_end();
}

TEST(this_process_without_proc_still_knows_its_times)
{
	tare_process now;

	tree_new();
	now = read_process(0);
	CHECK_INT(now.pid, getpid());
	CHECK(now.cpu_user_s >= 0 && now.minor_faults > 0);
	CHECK(now.peak_rss != TARE_UNKNOWN);
	CHECK_INT(now.rss, TARE_UNKNOWN);
	CHECK_INT(now.open_files, TARE_UNKNOWN);
	tree_end();
}

/* ---- this process ------------------------------------------------------ */

TEST(memory_that_is_touched_is_seen_and_its_peak_stays)
{
	size_t size = 64u << 20;
	tare_process before = read_process(0), with, after;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!CHECK(memory != MAP_FAILED))
		return;
	memset(memory, 1, size);
	with = read_process(0);
	(void)munmap(memory, size);
	after = read_process(0);
	/* The kernel's figures may be some pages a CPU behind. */
	CHECK(with.rss >= before.rss + size - 4 * MIB);
	CHECK(with.private_ >= before.private_ + size - 4 * MIB);
	CHECK(with.vm >= before.vm + size);
	CHECK(with.minor_faults > before.minor_faults);
	CHECK(after.rss + size / 2 <= with.rss);
	CHECK(after.peak_rss + 4 * MIB >= with.rss);
	CHECK(with.cpu_user_s + with.cpu_system_s >=
	      before.cpu_user_s + before.cpu_system_s);
}

TEST(open_files_are_counted)
{
	tare_process before = read_process(0), now;
	int fd[10];

	for (int i = 0; i < 10; i++)
		fd[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	now = read_process(0);
	CHECK_INT(now.open_files, before.open_files + 10);
	for (int i = 0; i < 10; i++)
		(void)close(fd[i]);
	CHECK_INT(read_process(0).open_files, before.open_files);
}

TEST(what_a_program_writes_is_seen)
{
	tare_process before = read_process(0), now;
	char text[4096] = { 0 };
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (before.io_written == TARE_UNKNOWN) {
		(void)close(fd);
		SKIP("/proc/self/io cannot be read here");
	}
	for (int i = 0; i < 16; i++)
		CHECK_INT(write(fd, text, sizeof(text)), sizeof(text));
	now = read_process(0);
	(void)close(fd);
	CHECK(now.io_written >= before.io_written + 16 * sizeof(text));
}

TEST(pss_is_there_for_those_who_ask)
{
	tare_process now = { .struct_size = sizeof(now) };

	CHECK_INT(tare_process_read_detailed(0, &now), 0);
	if (access("/proc/self/smaps_rollup", R_OK))
		SKIP("no smaps_rollup");
	CHECK(now.pss != TARE_UNKNOWN && now.pss > 0);
	CHECK(now.pss <= now.rss + 8 * MIB);
	CHECK_INT(read_process(0).pss, TARE_UNKNOWN);
}

static char *volatile keep[4096];

TEST(the_heap_in_use_is_what_malloc_gave)
{
	tare_process before = read_process(0), with, after;

	if (before.heap_used == TARE_UNKNOWN)
		SKIP("malloc is not glibc's here");
	/* Some of an arena, and one that is mapped by itself. */
	for (int i = 0; i < 4096; i++)
		keep[i] = malloc(1000);
	tr_system_forget(); /* on a slow machine an answer stands a while */
	with = read_process(0);
	CHECK(with.heap_used >= before.heap_used + 4096 * 1000);
	CHECK(with.heap_used <= before.heap_used + 4096 * 1100);
	CHECK(with.heap_held >= with.heap_used);
	for (int i = 0; i < 4096; i += 2)
		free(keep[i]);
	tr_system_forget();
	after = read_process(0);
	CHECK(after.heap_used <= with.heap_used - 2000 * 1000);
	CHECK(after.heap_fragmentation > 0.2);
	CHECK(after.heap_fragmentation <= 1);
	for (int i = 1; i < 4096; i += 2)
		free(keep[i]);
}

/* A heap that takes long to count is not counted for just anybody. */
TEST(a_heap_in_many_pieces_is_for_detailed_readings)
{
	enum { N = 1000000 };
	char **pieces = malloc(N * sizeof(*pieces));
	tare_process now = { .struct_size = sizeof(now) };
	uint64_t used;

	if (read_process(0).heap_used == TARE_UNKNOWN) {
		free(pieces);
		SKIP("malloc is not glibc's here");
	}
	for (int i = 0; i < N; i++)
		pieces[i] = malloc(150);
	for (int i = 0; i < N; i += 2)
		free(pieces[i]);
	(void)read_process(0); /* is surprised */
	CHECK_INT(read_process(0).heap_used, TARE_UNKNOWN);
	CHECK_INT(tare_process_read_detailed(0, &now), 0);
	used = now.heap_used;
	CHECK(used != TARE_UNKNOWN && used > N / 2 * UINT64_C(150));
	CHECK_NEAR(now.heap_fragmentation, 0.5, 0.05);
	for (int i = 1; i < N; i += 2)
		free(pieces[i]);
	free(pieces);
}

/* Another program: a sanitizer has a thread of its own in forks of this one. */
TEST(another_process_is_read_while_it_lives)
{
	tare_process now = { .struct_size = sizeof(now) };
	char name[] = "sleep", seconds[] = "600";
	char *argv[] = { name, seconds, NULL };
	pid_t pid = 0;

	if (!CHECK_INT(posix_spawnp(&pid, name, NULL, NULL, argv, environ), 0))
		return;
	CHECK_INT(tare_process_read(pid, &now), 0);
	CHECK_INT(now.pid, pid);
	CHECK(now.rss > 0 && now.rss != TARE_UNKNOWN);
	if (scene_fork_wipes()) { /* an emulator has a thread of its own */
		CHECK_INT(now.threads, 1);
		CHECK(now.switches != TARE_UNKNOWN);
	}
	CHECK_INT(now.heap_used, TARE_UNKNOWN);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	CHECK_INT(tare_process_read(pid, &now), TARE_ENOENT);
}

/* ---- energy ------------------------------------------------------------ */

static void put_zone(int zone, const char *name, uint64_t uj)
{
	char path[128], text[64];

	(void)sprintf(path, "/sys/class/powercap/intel-rapl:%d/name", zone);
	tree_put(path, name);
	(void)sprintf(path, "/sys/class/powercap/intel-rapl:%d/energy_uj",
		      zone);
	(void)sprintf(text, "%llu\n", (unsigned long long)uj);
	tree_put(path, text);
	(void)sprintf(path, "/sys/class/powercap/intel-rapl:%d/"
			    "max_energy_range_uj", zone);
	tree_put(path, "262143328850\n");
}

static double joules(void)
{
	const char *reason = NULL;
	double value = NAN;

	if (!CHECK_INT(tr_energy_read(&value, &reason), 0))
		printf("# %s\n", reason);
	return value;
}

TEST(joules_are_those_of_all_packages)
{
	tree_new();
	tree_clock();
	put_zone(0, "package-0\n", 5000000);
	put_zone(1, "psys\n", 1);
	put_zone(2, "package-1\n", 262143000000);
	CHECK_NEAR(joules(), 0, 0);
	tree_pass_ms(1000);
	put_zone(0, "package-0\n", 15000000);
	put_zone(1, "psys\n", 99000000);
	CHECK_NEAR(joules(), 10, 1e-9);
	/* The second one wraps. */
	tree_pass_ms(1000);
	put_zone(2, "package-1\n", 671150);
	CHECK_NEAR(joules(), 11, 1e-9);
	tree_end();
}

TEST(joules_that_cannot_be_told_have_a_reason)
{
	const char *reason = NULL;
	double value = 42;

	tree_new();
	tree_clock();
	CHECK_INT(tr_energy_read(&value, &reason), TARE_ENOENT);
	CHECK(reason && strstr(reason, "RAPL"));
	CHECK_NEAR(value, 42, 0);
	put_zone(0, "package-0\n", 0);
	tree_put("/sys/class/powercap/intel-rapl:0/energy_uj", "garbled");
	reason = NULL;
	CHECK_INT(tr_energy_read(&value, &reason), TARE_EIO);
	CHECK(reason != NULL);
	/* Not asked for an hour: it may have wrapped any number of times. */
	put_zone(0, "package-0\n", 1000000);
	CHECK_NEAR(joules(), 0, 0);
	tree_pass_ms(3600000);
	put_zone(0, "package-0\n", 2000000);
	CHECK_INT(tr_energy_read(&value, &reason), TARE_EIO);
	CHECK_NEAR(value, 42, 0);
	tree_pass_ms(1000);
	put_zone(0, "package-0\n", 3000000);
	CHECK_NEAR(joules(), 1, 1e-9);
	/* Went back beyond its range, and more than it can take. */
	tree_pass_ms(1000);
	put_zone(0, "package-0\n", 999999999999);
	CHECK_INT(tr_energy_read(&value, &reason), TARE_EIO);
	tree_end();
}

TEST(joules_that_only_root_may_read_have_a_reason)
{
	const char *reason = NULL;
	double value;
	char path[256];

	if (geteuid() == 0)
		SKIP("root may read all");
	tree_new();
	put_zone(0, "package-0\n", 0);
	(void)snprintf(path, sizeof(path), "%s%s", tr_root,
		       "/sys/class/powercap/intel-rapl:0/energy_uj");
	(void)chmod(path, 0);
	CHECK_INT(tr_energy_read(&value, &reason), TARE_EPERM);
	CHECK(reason && strstr(reason, "root"));
	tree_end();
}

/* ---- what works here --------------------------------------------------- */

TEST(every_capability_says_what_was_found_or_what_would_help)
{
	const tare_capability *rows = NULL;
	size_t n = 0;

	CHECK_INT(tare_capabilities(NULL, &n), TARE_EINVAL);
	CHECK_INT(tare_capabilities(&rows, NULL), TARE_EINVAL);
	CHECK_INT(tare_capabilities(&rows, &n), 0);
	CHECK(n > 10);
	for (size_t i = 0; i < n; i++) {
		CHECK(rows[i].detail[0] != '\0');
		CHECK(rows[i].is_available == (rows[i].help[0] == '\0'));
		for (size_t k = 0; k < i; k++)
			CHECK(strcmp(rows[i].name, rows[k].name) != 0);
	}
	/* On a machine that has nothing. */
	tree_new();
	CHECK_INT(tare_capabilities(&rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, "memory") == 0 ||
		    strcmp(rows[i].name, "pressure") == 0 ||
		    strcmp(rows[i].name, "cgroup") == 0 ||
		    strcmp(rows[i].name, "energy") == 0)
			CHECK(!rows[i].is_available && rows[i].help[0]);
	tree_end();
}
