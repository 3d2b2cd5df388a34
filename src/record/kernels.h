/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/kernels/: what the recorder of GPU activities (gpu/) needs
 * from the libtare that is in the process.
 *
 * Comes in: options, the way to open a ledger. Goes out: a table of functions.
 * Called by: record/runtime, preload/; the recorder finds the table by name.
 *
 * The recorder is a library of its own, which only the driver of a GPU loads:
 * other programs do not carry it.
 */
#ifndef TR_RECORD_KERNELS_H
#define TR_RECORD_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#define TR_KERNELS_MAGIC UINT64_C(0x31304c4e524b5254) /* "TRKRNL01" */

/* The part of the ledger that is the recorder's. */
struct tr_kernels_ledger {
	char *base;	 /* of the ledger */
	uint64_t off;	 /* of the region */
	uint32_t number; /* changes when the ledger was replaced */
};

/* Where the calling thread is. */
struct tr_kernels_where {
	uint32_t thread, stack, node;
};

/* What the recorder is told. Set before `connect` returns. */
struct tr_kernels_recorder {
	void (*window)(bool is_open); /* of scheduled steps */
	void (*stop)(void);	      /* the process ends */
};

struct tr_kernels_host {
	uint64_t magic;
	uint32_t size;
	uint32_t mode; /* enum tr_gpu_choice: off until the start */
	bool has_stacks;
	uint64_t events;
	/* False: there is no ledger, or no room for activities in it. */
	bool (*open)(struct tr_kernels_ledger *ret_ledger);
	/* Number of the ledger that is open; 0: none. */
	uint32_t (*number)(void);
	/* Measuring is switched on, and this is the process that opened it. */
	bool (*is_on)(void);
	/* Takes zeroed bytes of the region: offset in the ledger, or 0. */
	uint32_t (*take)(uint64_t bytes);
	uint64_t (*ticks)(void);
	void (*where)(struct tr_kernels_where *ret_where);
	/* A thread that no sampler follows. 0 or an error number. */
	int (*thread)(void *(*run)(void *arg));
	void (*say)(const char *text);
	void (*connect)(const struct tr_kernels_recorder *recorder);
};

extern struct tr_kernels_host tr_kernels_host;

struct tr_config;

/* At the start. `open` opens the ledger; `say` writes a warning. */
void tr_kernels_prepare(const struct tr_config *config, bool (*open)(void),
			void (*say)(const char *text));
/* A scheduled step begins to record, or has ended. */
void tr_kernels_window(bool is_open);
/* The process ends: takes in what the driver still has. Once. */
void tr_kernels_stop(void);

#endif
