/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/host/: calls into record/runtime for the rooms that may not
 * include it: opening the ledger, options, the log, and the calls that other
 * copies of the library in this process use.
 *
 * Comes in: function pointers, which record/runtime stores before any other
 * constructor runs. Goes out: their results; before that, nothing can be
 * opened and messages are dropped. Called by: record/probe, step, train,
 * monitor.
 */
#ifndef TR_RECORD_HOST_H
#define TR_RECORD_HOST_H

#include <tare/control.h>

/* A public call; cast back to its real type before it is called. */
typedef void (*tr_any_call)(void);

struct tr_host {
	/* Opens the ledger at a first event. False: measuring is off. */
	bool (*open)(void);
	/* Is a site of this kind, name and source wanted now? */
	bool (*is_wanted)(uint8_t kind, const char *name, const char *source);
	/* As tare_option_get(). */
	int (*option)(const char *name, char *value, size_t size);
	/* Logs a message of the library. */
	void (*log)(enum tare_level level, const char *text);
	/* The same, about files that the program itself has asked for. */
	void (*log_asked)(enum tare_level level, const char *text);
	/* Does anything read the log lines about steps and epochs? */
	bool (*is_log_read)(void);
	/*
	 * The call for other copies of the library; `which` is an enum tr_api.
	 */
	tr_any_call (*api)(unsigned which);
};

extern struct tr_host tr_host;

#endif
