/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monitor: what the machine, the process and the GPUs do, as series.
 *
 * One thread at most, which sleeps while nothing is on. Its readings are
 * gauges in the ledger like any other (sources "system", "process", "gpu"),
 * so reports, tare top, exports, REST and alerts have them with present
 * value, mean, maximum and trend.
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

/* Switches parts on or off, as the options monitor, enable_gpu_monitoring
 * do. 0, TARE_EOFF while measuring is off, TARE_ENOMEM: no thread. */
TARE_API int tare_monitor_enable(uint32_t parts);
TARE_API int tare_monitor_disable(uint32_t parts);
/* Parts that are on now. */
TARE_API uint32_t tare_monitor_parts(void);
/* Takes a reading of what is on, now, in the calling thread. */
TARE_API int tare_monitor_sample(void);
/* CPU time of the monitor's thread so far, ns. */
TARE_API uint64_t tare_monitor_cost_ns(void);

TARE_END
#endif
