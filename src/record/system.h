/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/system/: the machine and the process as the kernel reports
 * them.
 *
 * Comes in: files below `tr_root` (base/platform.h), such as /proc and /sys.
 * Goes out: the structs of <tare/system.h>, memory, energy, capabilities.
 * Called by: programs, record/probe, record/train, record/monitor,
 * record/runtime.
 *
 * Every reading opens, reads and closes its files, at 2 us each: a program may
 * close all descriptors and reuse the number of one that we kept, and after a
 * chroot or a fork it would refer to the wrong tree.
 *
 * Files are hostile input. What is missing, empty, garbled or too large is
 * reported as unknown; no reading becomes a negative or an absurd number.
 *
 * Nothing here allocates. Texts and former readings are in static memory
 * behind one lock, which a fork cannot leave locked (lock.c).
 */
#ifndef TR_RECORD_SYSTEM_H
#define TR_RECORD_SYSTEM_H

#include <tare/system.h>

/* Present memory in bytes; TARE_UNKNOWN: could not be read. */
struct tr_memory_now {
	uint64_t rss, vm;	   /* of this process */
	uint64_t total, available; /* of the system, or of the container */
};

/* False if nothing could be read. */
bool tr_memory_read(struct tr_memory_now *ret_now);

/*
 * Bytes allocated by malloc(); UINT64_MAX: not known, or asking would block
 * the program (heap.c). Not for signal handlers.
 */
uint64_t tr_heap_used(void);

/*
 * Joules used by the CPU packages since the first call in this process; use
 * differences. 0, or TARE_ENOENT, TARE_EPERM or TARE_EIO with a reason, a
 * static text. Call again within minutes: the hardware's counter wraps. A gap
 * in which it may have wrapped is left out and reported once as TARE_EIO.
 */
int tr_energy_read(double *ret_joules, const char **ret_reason);

/* ---- capability.c ------------------------------------------------------ */

struct tr_capability {
	bool is_available;
	char detail[192];
	char help[192];
};

struct tr_capability_row {
	const char *name;
	/* Fills all three fields, which start as zeros. */
	void (*look)(struct tr_capability *found);
};

/* One line each for detail and help; `help` NULL: nothing is needed. */
void tr_capability_set(struct tr_capability *found, bool is_available,
		       const char *help, const char *format, ...)
	TARE_PRINTF(4, 5);

/* The rows of this room, in order; ends with a NULL name. */
extern const struct tr_capability_row tr_system_capabilities[];

/* ---- for tests --------------------------------------------------------- */

/* Drops all readings, as if none had been taken. */
void tr_system_forget(void);

#endif
