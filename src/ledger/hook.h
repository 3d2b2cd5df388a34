/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of ledger/hook/: the one link between libtare and libtare-read inside a
 * process. This room has no code: each library implements its own side.
 *
 * Comes in: the table of the other library. Goes out: this library's table; a
 * table of another version is not used. Called by: record/runtime for libtare,
 * ledger/read, render/timeline and render/connect for libtare-read.
 *
 * libtare (record/runtime/reader.c) needs libtare-read for the program's
 * report about itself and for scheduled traces. libtare-read
 * (ledger/read/own.c) needs libtare to find the ledger of its own process.
 *
 * If both are linked, the constructor of libtare-read connects them.
 * Otherwise, if a report or traces are configured, libtare loads libtare-read
 * at its start and finds the table `tare_reader_` in it.
 */
#ifndef TR_LEDGER_HOOK_H
#define TR_LEDGER_HOOK_H

#include <tare/api.h>

/* This process's ledger; only `base` where it has no file. */
struct tr_own {
	const char *path;
	const char *base;
};

struct tr_recorder {
	uint32_t struct_size;
	const char *version;
	/* False: nothing is measured. */
	bool (*own)(struct tr_own *ret_own);
};

/* What this process did between two moments, as a Chrome trace. */
struct tr_trace_file {
	const char *folder, *name; /* of the file, which is replaced */
	const char *title;
	uint64_t from_ticks, to_ticks;
};

struct tr_reader {
	uint32_t struct_size;
	const char *version;
	void (*connect)(const struct tr_recorder *recorder);
	/* A report of this process with `top` rows. 0 or an error. */
	int (*report)(size_t top, tare_write_fn write, void *arg);
	/* The file appears whole or not at all. 0 or an error. */
	int (*write_trace)(const struct tr_trace_file *file);
	/* Keeps the newest traces PREFIX<number>.json; how many it removed. */
	size_t (*keep_traces)(const char *folder, const char *prefix,
			      size_t keep);
};

/* In libtare. */
TARE_API const struct tr_recorder *
tare_reader_connect_(const struct tr_reader *reader);
/* In libtare-read. */
extern TARE_API const struct tr_reader tare_reader_;

#endif
