/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory, pressure and load: files that need no earlier reading.
 *
 * Used is total minus available, as in free(1): memory that the kernel would
 * give back on demand is not used.
 */
#include "readings.h"

#include <math.h>
#include <unistd.h>

#include "lock.h"

#define LOAD_MOST 1e6

void tr_meminfo_scan(const char *text, struct tr_meminfo *ret)
{
	ret->total = tr_scan_times(tr_scan_value(text, "MemTotal:"), 1024);
	ret->available =
		tr_scan_times(tr_scan_value(text, "MemAvailable:"), 1024);
	ret->swap_total =
		tr_scan_times(tr_scan_value(text, "SwapTotal:"), 1024);
	ret->swap_free = tr_scan_times(tr_scan_value(text, "SwapFree:"), 1024);
	if (ret->total == 0)
		ret->total = TARE_UNKNOWN;
	/* Emulations of /proc may report more available than total. */
	if (ret->available != TARE_UNKNOWN && ret->available > ret->total)
		ret->available = ret->total;
}

static void set_used(tare_system *now)
{
	uint64_t total = now->memory_total, available = now->memory_available;

	if (total == TARE_UNKNOWN || available > total)
		return;
	now->memory_used = total - available;
	now->memory_percent =
		total ? 100.0 * (double)now->memory_used / (double)total : 100;
}

bool tr_memory_take(tare_system *now)
{
	const char *text = tr_scan_file(NULL, "/proc/meminfo");
	struct tr_meminfo info;

	if (text) {
		tr_meminfo_scan(text, &info);
		now->memory_total = info.total;
		now->memory_available = info.available;
		now->swap_total = info.swap_total;
		if (info.swap_total != TARE_UNKNOWN &&
		    info.swap_free <= info.swap_total)
			now->swap_used = info.swap_total - info.swap_free;
	}
	tr_cgroup_memory(now);
	set_used(now);
	return now->memory_total != TARE_UNKNOWN;
}

double tr_pressure_scan(const char *text)
{
	const char *at = tr_scan_line(text, "some avg10=");

	return at ? tr_scan_decimal(&at, 100) : NAN;
}

static double pressure_of(const char *what)
{
	const char *text = tr_scan_file(NULL, "/proc/pressure/%s", what);

	return text ? tr_pressure_scan(text) : NAN;
}

void tr_pressure_take(tare_system *now)
{
	now->memory_pressure = pressure_of("memory");
	now->cpu_pressure = pressure_of("cpu");
	now->io_pressure = pressure_of("io");
}

void tr_load_scan(const char *text, double ret_load[3])
{
	for (int i = 0; i < 3; i++)
		ret_load[i] = tr_scan_decimal(&text, LOAD_MOST);
}

static void read_process(struct tr_memory_now *now)
{
	long page = sysconf(_SC_PAGESIZE);
	const char *at = tr_scan_file(NULL, "/proc/self/statm");

	if (!at || page <= 0)
		return;
	now->vm = tr_scan_times(tr_scan_number(&at), (uint64_t)page);
	now->rss = tr_scan_times(tr_scan_number(&at), (uint64_t)page);
}

bool tr_memory_read(struct tr_memory_now *ret_now)
{
	struct tr_memory_now now = { TARE_UNKNOWN, TARE_UNKNOWN, TARE_UNKNOWN,
				     TARE_UNKNOWN };
	tare_system system = { .memory_total = TARE_UNKNOWN,
			       .memory_available = TARE_UNKNOWN };
	struct tr_lock lock;

	if (!tr_lock_enter(&lock))
		return false;
	read_process(&now);
	if (tr_memory_take(&system)) {
		now.total = system.memory_total;
		now.available = system.memory_available;
	}
	tr_lock_leave(&lock);
	*ret_now = now;
	return now.rss != TARE_UNKNOWN || now.total != TARE_UNKNOWN;
}
