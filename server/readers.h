/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers: the server's side of its reader processes.
 *
 * There are two, each started when it is first needed. One reads runs. One
 * changes programs and reads their options, which may wait for a lock that
 * another process holds. Each does one task at a time, in order of arrival; the
 * server's loop continues meanwhile.
 *
 * Deadlines: 2 s for one ledger, more for one of over 100 MB, 10 s for a task
 * without progress. A reader that exceeds one is killed. The run that it was
 * reading is left out until its file changes or time has passed (30 s for a
 * live one, 10 min for another, then twice as long each time), and the task
 * starts again without it. A change is never repeated.
 */
#ifndef SERVER_READERS_H
#define SERVER_READERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "board.h"
#include "task.h"

#define READERS_TASK_MS 10000
#define READERS_LIVE_AGAIN_MS 30000
#define READERS_DEAD_AGAIN_MS 600000
#define READERS_N 2u
#define READERS_DYING 16u

struct event;
struct evbuffer;
struct exchange;
struct pending;
struct server;

enum readers_place { READERS_READING = 0, READERS_STEERING = 1 };

/* NULL for `body`: the task failed. `body` is only valid during the call. */
typedef void (*readers_done)(void *arg, struct evbuffer *body);

struct left_out {
	uint64_t key;
	char run[BOARD_RUN_BYTES];
	int64_t until_ms;
	int64_t pause_ms; /* doubles */
};

struct reader {
	struct server *server;
	struct board *board;
	struct event *readable;
	struct event *timer; /* while a task is running */
	struct pending *first, *last; /* waiting */
	struct pending *running;
	int64_t sent_ms; /* when the running task was sent or made progress */
	pid_t pid;	 /* 0: not running */
	int fd;
};

struct readers {
	struct reader at[READERS_N];
	struct left_out left_out[BOARD_RUNS];
	size_t n_left_out; /* total; the slot is the remainder by BOARD_RUNS */
	pid_t dying[READERS_DYING]; /* killed, not yet reaped */
	uint64_t n_tasks;
	uint64_t epoch;		    /* grows with each change */
	char export_directory[TASK_FOLDER]; /* "": as configured */
};

bool readers_init(struct readers *readers, struct server *server);
void readers_release(struct readers *readers);

/* Lets the reader of the route answer the request of `ex`. */
void readers_forward(struct exchange *ex);

/* An internal task of the server: "snapshot", "measure", "export". */
bool readers_ask(struct server *server, const char *name, const void *body,
		 size_t len, readers_done done, void *arg);

#endif
