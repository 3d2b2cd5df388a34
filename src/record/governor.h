/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/governor/: keeps the cost of measuring below a share of the
 * process's CPU time.
 *
 * Comes in: the limit, and counts of events from the ledger. Goes out: levels
 * of sites, messages. Called by: record/runtime.
 *
 * Checks the cost ten times a second while there are events. The check runs on
 * the monitor's thread if there is one, else on a measured thread in its
 * probe. Only the monitor's thread can pause and resume sites; the first check
 * that finds the cost near the limit requests it.
 */
#ifndef TR_RECORD_GOVERNOR_H
#define TR_RECORD_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/write.h"

struct tr_thread;

/* Receives messages for the user. Called outside of probes only. */
typedef void (*tr_governor_tell)(const char *text);

struct tr_governor_setup {
	double limit; /* share of the CPU time; 0: never act */
	tr_governor_tell tell;
	/* Requests calls of tr_governor_turn() from a thread. Signal-safe. */
	void (*ask)(void);
	/* CPU time of our own threads so far, ns. */
	uint64_t (*background_ns)(void);
};

/* Call after the ledger is open, also in a child. */
void tr_governor_open(const struct tr_governor_setup *setup);
/* Changes the limit. */
void tr_governor_limit(double limit);
/* The last check, for the header. No thread measures any more. */
void tr_governor_close(void);
/* Monitor thread: does what is due. Returns ns until the next call; 0: none. */
int64_t tr_governor_turn(int64_t now_ns);

#endif
