/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System: one reading of the machine, assembled from the other files.
 */
#include "readings.h"

#include <string.h>

#include "lock.h"
#include "base/platform.h"

void tr_system_forget(void)
{
	tr_cpu_forget();
	tr_cgroup_forget();
	tr_traffic_forget();
	tr_heap_forget();
	tr_process_forget();
	tr_energy_forget();
}

static bool take_load(tare_system *now)
{
	const char *text = tr_scan_file(NULL, "/proc/loadavg");
	double load[3];

	if (!text)
		return false;
	tr_load_scan(text, load);
	now->load1 = load[0];
	now->load5 = load[1];
	now->load15 = load[2];
	return true;
}

/* False: nothing is known. */
static bool take(tare_system *now)
{
	bool any;

	any = tr_memory_take(now);
	tr_pressure_take(now);
	any |= tr_cpu_take(now);
	any |= take_load(now);
	any |= tr_traffic_take(now);
	return any;
}

TARE_API int tare_system_read(tare_system *ret_now)
{
	struct tr_lock lock;
	tare_system now;
	uint32_t size;
	bool any;

	if (!ret_now ||
	    ret_now->struct_size < offsetof(tare_system, memory_total) ||
	    ret_now->struct_size > TR_READING_MOST)
		return TARE_EINVAL;
	if (!tr_lock_enter(&lock))
		return TARE_EIO;
	/* All bits set are TARE_UNKNOWN, and NAN. */
	memset(&now, 0xff, sizeof(now));
	now.at_ns = tr_realtime_ns();
	any = take(&now);
	tr_lock_leave(&lock);
	if (!any)
		return TARE_EIO;
	size = ret_now->struct_size;
	memset((char *)ret_now, 0xff, size);
	memcpy(ret_now, &now, size < sizeof(now) ? size : sizeof(now));
	ret_now->struct_size = size;
	return 0;
}
