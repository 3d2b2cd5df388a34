/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/gpu/: the present state of every GPU, behind <tare/gpu.h>.
 *
 * Comes in: requests to read. Goes out: the newest reading of each GPU. Called
 * by: programs, record/probe, record/monitor, record/runtime.
 *
 * One thread of the library makes all driver calls, on request. It starts at
 * the first request and ends at once if there is no GPU. A caller waits
 * briefly, then takes the last reading, so a driver that hangs blocks only
 * that thread.
 */
#ifndef TR_RECORD_GPU_H
#define TR_RECORD_GPU_H

#include <tare/control.h>
#include <tare/gpu.h>

/* ---- read.c ------------------------------------------------------------ */

/* Least time between two readings of the GPUs; default: 1 s. */
void tr_gpu_set_interval(int64_t ns);

/* Reads all GPUs now, whatever the age of the last reading; with_energy: also
 * the energy counters. Waits briefly, as tare_gpu_read() does. */
void tr_gpu_poll(bool with_energy);

/* ---- worker.c ---------------------------------------------------------- */

/*
 * Ends the thread and closes the drivers. The next request restarts it, and
 * energy continues from its last value. Waits briefly.
 */
void tr_gpu_stop(void);

/* CPU time of the thread so far. */
uint64_t tr_gpu_cost_ns(void);

/* ---- messages.c -------------------------------------------------------- */

typedef void (*tr_gpu_log)(enum tare_level level, const char *text);

/* Receives the messages: one per cause, from any thread. NULL: none. */
void tr_gpu_set_log(tr_gpu_log log);

/* ---- nvml_library.c ---------------------------------------------------- */

/* Path of the only library to load, for tests. NULL: TARE_NVML_LIBRARY from the
 * environment, or the driver's own names. */
extern const char *tr_nvml_path;

#endif
