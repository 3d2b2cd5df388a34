/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monitor: readings of the machine, the process and the GPUs, as series.
 *
 * There is at most one monitor thread; it sleeps while all parts are off. Its
 * readings are gauges in the ledger (sources "system", "process", "gpu"), so
 * reports, tare top, exports, REST and alerts show their current value, mean,
 * maximum and trend.
 */
#ifndef TARE_MONITOR_H
#define TARE_MONITOR_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

enum tare_monitor_part {
	TARE_MONITOR_SYSTEM = 1 << 0,
	TARE_MONITOR_PROCESS = 1 << 1,
	TARE_MONITOR_GPU = 1 << 2,
	TARE_MONITOR_DETAILED = 1 << 3, /* per core, pss, heap */
	TARE_MONITOR_ALL = 15
};

/*
 * Switches parts on or off, like the options monitor and enable_gpu_monitoring.
 * Returns 0, TARE_EOFF while measuring is off, or TARE_ENOMEM if no thread
 * could be created.
 */
TARE_API int tare_monitor_enable(uint32_t parts);
TARE_API int tare_monitor_disable(uint32_t parts);
/* Parts that are on now. */
TARE_API uint32_t tare_monitor_parts(void);
/* Reads the parts that are on, now, in the calling thread. */
TARE_API int tare_monitor_sample(void);
/* CPU time of the monitor thread so far, ns. */
TARE_API uint64_t tare_monitor_cost_ns(void);

TARE_END
#endif
