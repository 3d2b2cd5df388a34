/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Board: memory that the server shares with a reader process.
 *
 * A ledger is a file that any program may have written, so reading one may hang
 * or crash the reader. The reader writes here which run it is reading and since
 * when. The server checks this, kills a reader that takes too long, and writes
 * here which runs the next reader must leave out.
 *
 * The server only copies numbers and a short text from the board, and keeps the
 * list of runs to leave out in its own memory.
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
/* Time to read a ledger: this, plus the time a slow disk needs for its size. */
#define BOARD_LEDGER_MS 2000u
#define BOARD_BYTES_A_MS 50000u
#define BOARD_MOST_MS 30000u

struct board {
	/* Written by the reader; 0: it is not reading a ledger. */
	_Atomic int64_t since_ms;
	_Atomic uint64_t key;
	_Atomic uint32_t is_live;
	_Atomic uint32_t allowed_ms; /* for this ledger; grows with its size */
	char run[BOARD_RUN_BYTES];
	/* Written by the server before a task; read by the reader. */
	uint32_t n_left_out;
	uint64_t left_out[BOARD_RUNS];
};

/* Shared with every process forked later; NULL: no memory. */
struct board *board_new(void);
void board_free(struct board *board);

/*
 * Identifies a file's content: path and inode, and for a finished run also size
 * and modification time. 0: the file is gone.
 */
uint64_t board_key(const tare_run_entry *run);

/* Enclose all code that follows a ledger's content. NULL: no effect. */
void board_begin(struct board *board, const tare_run_entry *run,
		 uint64_t key);
void board_end(struct board *board);

bool board_leaves_out(const struct board *board, uint64_t key);

/* ms of the monotonic clock, the same in all processes */
int64_t board_now_ms(void);

#endif
