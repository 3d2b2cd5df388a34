/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capability: which readings of this room work here, and what would help.
 *
 * Each row tries exactly what a reading does. For people: rare, and not cheap.
 */
#include "readings.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<linux/perf_event.h>)
#include <linux/perf_event.h>
#define HAS_PERF 1
#endif

#include "lock.h"
#include "base/platform.h"
#include "base/text.h"

void tr_capability_set(struct tr_capability *found, bool is_available,
		       const char *help, const char *format, ...)
{
	va_list args;

	found->is_available = is_available;
	va_start(args, format);
	(void)vsnprintf(found->detail, sizeof(found->detail), format, args);
	va_end(args);
	(void)snprintf(found->help, sizeof(found->help), "%s",
		       help ? help : "");
}

static bool can_read(const char *path, int *ret_error)
{
	struct tr_lock lock;
	bool is_there;

	*ret_error = TARE_EIO;
	if (!tr_lock_enter(&lock))
		return false;
	is_there = tr_scan_file(ret_error, "%s", path) != NULL;
	tr_lock_leave(&lock);
	return is_there;
}

static void look_memory(struct tr_capability *found)
{
	tare_system now = { .struct_size = sizeof(now) };

	if (tare_system_read(&now) || now.memory_total == TARE_UNKNOWN ||
	    now.memory_available == TARE_UNKNOWN) {
		tr_capability_set(found, false, "mount /proc",
				  "/proc/meminfo cannot be read");
		return;
	}
	tr_capability_set(found, true, NULL, "%s, %s available",
			  tr_as_bytes((double)now.memory_total).text,
			  tr_as_bytes((double)now.memory_available).text);
}

static void look_pressure(struct tr_capability *found)
{
	int err;

	if (can_read("/proc/pressure/memory", &err))
		tr_capability_set(found, true, NULL,
				  "memory, CPU and I/O, of the whole system");
	else
		tr_capability_set(found, false,
				  "a kernel of 4.20 or later with CONFIG_PSI, "
				  "and psi=1 on its command line",
				  "no /proc/pressure: %s", tare_strerror(err));
}

static void look_group(struct tr_capability *found)
{
	tare_system now = { .struct_size = sizeof(now) };
	struct tr_cgroup group = { 0 };
	struct tr_text limit = { "no limit" };
	char cpus[40] = "no quota";
	struct tr_lock lock;
	double quota = NAN;

	if (tr_lock_enter(&lock)) {
		group = *tr_cgroup_of_memory();
		quota = tr_cgroup_cpus();
		tr_lock_leave(&lock);
	}
	if (!group.version) {
		tr_capability_set(found, false,
				  "percentages are of the whole machine; in a "
				  "container, mount /sys/fs/cgroup",
				  "no cgroup hierarchy for memory is mounted");
		return;
	}
	if (tare_system_read(&now) == 0 && now.memory_limit != TARE_UNKNOWN)
		limit = tr_as_bytes((double)now.memory_limit);
	if (quota > 0) {
		size_t len = tr_fixed_text(cpus, 24, quota, 2);

		memcpy(cpus + len, " CPUs", 6);
	}
	tr_capability_set(found, true, NULL,
			  "version %u; memory: %s; CPU: %s", group.version,
			  limit.text, cpus);
}

static void look_cpu(struct tr_capability *found)
{
	tare_system now = { .struct_size = sizeof(now) };
	size_t n;

	if (tare_cpu_read(NULL, 0, &n) == 0 && tare_system_read(&now) == 0)
		tr_capability_set(found, true, NULL,
				  "%zu CPUs, %u of them for this process", n,
				  now.cpus);
	else
		tr_capability_set(found, false, "mount /proc",
				  "/proc/stat cannot be read");
}

static void look_disk(struct tr_capability *found)
{
	tare_system now = { .struct_size = sizeof(now) };

	if (tare_system_read(&now) == 0 && now.disk_read != TARE_UNKNOWN)
		tr_capability_set(found, true, NULL,
				  "whole disks of /proc/diskstats");
	else
		tr_capability_set(found, false,
				  "a disk of its own, which containers and "
				  "some virtual machines lack",
				  "/proc/diskstats has no disk");
}

static void look_network(struct tr_capability *found)
{
	tare_system now = { .struct_size = sizeof(now) };

	if (tare_system_read(&now) == 0 && now.net_received != TARE_UNKNOWN)
		tr_capability_set(found, true, NULL,
				  "interfaces of /proc/net/dev");
	else
		tr_capability_set(found, false,
				  "an interface in this network namespace",
				  "no interface but the loopback");
}

static void look_io(struct tr_capability *found)
{
	int err;

	if (can_read("/proc/self/io", &err))
		tr_capability_set(found, true, NULL, "/proc/PID/io");
	else
		tr_capability_set(found, false,
				  err == TARE_ENOENT ?
					  "a kernel with "
					  "CONFIG_TASK_IO_ACCOUNTING" :
					  "a process that may be dumped: not "
					  "one with another's rights",
				  "/proc/self/io: %s", tare_strerror(err));
}

static void look_pss(struct tr_capability *found)
{
	int err;

	if (can_read("/proc/self/smaps_rollup", &err))
		tr_capability_set(found, true, NULL,
				  "/proc/PID/smaps_rollup, where asked for");
	else
		tr_capability_set(found, false, "a kernel of 4.14 or later",
				  "/proc/self/smaps_rollup: %s",
				  tare_strerror(err));
}

static void look_heap(struct tr_capability *found)
{
	const char *reason = "the system is being read";
	struct tr_malloced heap;
	struct tr_lock lock;
	bool is_there = false;

	if (tr_lock_enter(&lock)) {
		is_there = tr_heap_read(false, &heap, &reason);
		tr_lock_leave(&lock);
	}
	if (is_there)
		tr_capability_set(found, true, NULL, "mallinfo2 of libc");
	else
		tr_capability_set(found, false,
				  "glibc of 2.33 or later and its own malloc",
				  "%s", reason);
}

static void look_energy(struct tr_capability *found)
{
	const char *reason = "";
	double joules;
	int err = tr_energy_read(&joules, &reason);

	if (!err)
		tr_capability_set(found, true, NULL,
				  "RAPL of the CPU's packages");
	else
		tr_capability_set(found, false,
				  err == TARE_EPERM ?
					  "run as root, or chmod a+r "
					  "/sys/class/powercap/intel-rapl:*/"
					  "energy_uj" :
					  "a machine of its own with the "
					  "kernel module intel_rapl_msr",
				  "%s", reason);
}

/* 0, or the errno of the attempt to count this thread's instructions. */
static int try_counter(void)
{
#ifdef HAS_PERF
	struct perf_event_attr attr;
	int saved = errno, err = 0;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 8 /* cloexec */);
	if (fd >= 0)
		(void)close((int)fd);
	else
		err = errno;
	errno = saved;
	return err;
#else
	return ENOSYS;
#endif
}

static void look_counters(struct tr_capability *found)
{
	char path[256], text[16] = "unknown";
	int err = try_counter();
	int64_t n = -1;

	if (tr_scan_path(path, sizeof(path),
			 "/proc/sys/kernel/perf_event_paranoid"))
		n = tr_file_read(path, text, sizeof(text) - 1);
	if (n > 0) {
		text[n] = '\0';
		text[strcspn(text, "\n")] = '\0';
	}
	if (!err)
		tr_capability_set(found, true, NULL,
				  "perf_event_paranoid is %s", text);
	else if (err == EACCES || err == EPERM)
		tr_capability_set(found, false,
				  "sysctl kernel.perf_event_paranoid=2 or "
				  "less, or CAP_PERFMON; in a container, allow "
				  "perf_event_open",
				  "not allowed; perf_event_paranoid is %s",
				  text);
	else
		tr_capability_set(found, false,
				  "a machine of its own, or a virtual one with "
				  "a performance monitoring unit",
				  "the kernel offers none; "
				  "perf_event_paranoid is %s", text);
}

const struct tr_capability_row tr_system_capabilities[] = {
	{ "memory", look_memory },
	{ "pressure", look_pressure },
	{ "cgroup", look_group },
	{ "cpu", look_cpu },
	{ "disk", look_disk },
	{ "network", look_network },
	{ "process_io", look_io },
	{ "process_pss", look_pss },
	{ "heap", look_heap },
	{ "energy", look_energy },
	{ "hardware_counters", look_counters },
	{ NULL, NULL },
};
