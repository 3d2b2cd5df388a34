/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of gpu/: what every GPU does now, behind <tare/gpu.h>.
 *
 * One thread of our own makes all calls of drivers, when a caller asks; it
 * starts at the first question, and ends at once where there is no GPU. Who
 * asks waits for a moment and then takes what was read last. So a driver that
 * hangs stops that thread alone.
 */
#ifndef TR_RECORD_GPU_H
#define TR_RECORD_GPU_H

#include <tare/control.h>
#include <tare/gpu.h>

/* ---- read.c ------------------------------------------------------------ */

/* GPUs are read at most once in this time, which is a second until set. */
void tr_gpu_set_interval(int64_t ns);

/* Reads all GPUs now, whatever their age, counters of energy too if asked
 * for. Waits for a moment, as tare_gpu_read() does. */
void tr_gpu_poll(bool with_energy);

/* ---- worker.c ---------------------------------------------------------- */

/*
 * Ends the thread and closes the drivers; the next question starts anew, and
 * energy goes on from where it was. Waits for a moment.
 */
void tr_gpu_stop(void);

/* CPU time of the thread so far. */
uint64_t tr_gpu_cost_ns(void);

/* ---- messages.c -------------------------------------------------------- */

typedef void (*tr_gpu_log)(enum tare_level level, const char *text);

/* Gets the messages: one a cause, from any thread. NULL: none. */
void tr_gpu_set_log(tr_gpu_log log);

/* ---- nvml_library.c ---------------------------------------------------- */

/* Path of the one library to load, for tests; NULL: TARE_NVML_LIBRARY of the
 * environment, or the driver's own names. */
extern const char *tr_nvml_path;

#endif
