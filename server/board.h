/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Board: memory that the server shares with a reader process.
 *
 * A ledger is a file that any program may have written, so reading one may
 * never end, or end the reader. The reader writes here which run it is
 * reading and since when; the server looks at it, ends a reader that takes
 * too long, and writes here which runs the next reader leaves alone.
 *
 * The server only copies numbers and a short text out of it, and keeps the
 * list of runs to leave out in memory of its own.
 */
#ifndef SERVER_BOARD_H
#define SERVER_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tare/read/view.h>

#define BOARD_RUNS 256u
#define BOARD_RUN_BYTES 48u
/* To read a ledger: this, and as long as a slow disk takes for its bytes. */
#define BOARD_LEDGER_MS 2000u
#define BOARD_BYTES_A_MS 50000u
#define BOARD_MOST_MS 30000u

struct board {
	/* Written by the reader; 0: it reads no ledger. */
	_Atomic int64_t since_ms;
	_Atomic uint64_t key;
	_Atomic uint32_t is_live;
	_Atomic uint32_t allowed_ms; /* for this one; grows with its size */
	char run[BOARD_RUN_BYTES];
	/* Written by the server before a task; read by the reader. */
	uint32_t n_left_out;
	uint64_t left_out[BOARD_RUNS];
};

/* Shared with every process forked later; NULL: no memory. */
struct board *board_new(void);
void board_free(struct board *board);

/*
 * Names a file as it is: path and inode, and of a run that ended its size and
 * time of change, too. 0: it is gone.
 */
uint64_t board_key(const tare_run_entry *run);

/* Around everything that follows what a ledger says. NULL: nothing. */
void board_begin(struct board *board, const tare_run_entry *run,
		 uint64_t key);
void board_end(struct board *board);

bool board_leaves_out(const struct board *board, uint64_t key);

/* ms of a clock that only moves on, the same in all processes */
int64_t board_now_ms(void);

#endif
