/* SPDX-License-Identifier: Apache-2.0 */
#include "board.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/platform.h"
#include "hash.h"

struct board *board_new(void)
{
	void *memory = mmap(NULL, sizeof(struct board),
			    PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void board_free(struct board *board)
{
	if (board)
		(void)munmap(board, sizeof(*board));
}

int64_t board_now_ms(void)
{
	return tr_monotonic_ns() / 1000000;
}

uint64_t board_key(const tare_run_entry *run)
{
	uint64_t hash = HASH_BEGIN;
	struct stat st;

	if (stat(run->path, &st))
		return 0;
	hash = hash_bytes(hash, run->path, strlen(run->path));
	hash = hash_bytes(hash, &st.st_ino, sizeof(st.st_ino));
	/* A live ledger changes all the time. */
	if (run->state != TARE_RUN_LIVE) {
		hash = hash_bytes(hash, &st.st_size, sizeof(st.st_size));
		hash = hash_bytes(hash, &st.st_mtim.tv_sec,
				  sizeof(st.st_mtim.tv_sec));
		hash = hash_bytes(hash, &st.st_mtim.tv_nsec,
				  sizeof(st.st_mtim.tv_nsec));
	}
	return hash ? hash : 1;
}

static uint32_t allowed_ms(const tare_run_entry *run)
{
	uint64_t more = run->bytes / BOARD_BYTES_A_MS;

	return more < BOARD_MOST_MS - BOARD_LEDGER_MS ?
		       BOARD_LEDGER_MS + (uint32_t)more :
		       BOARD_MOST_MS;
}

void board_begin(struct board *board, const tare_run_entry *run, uint64_t key)
{
	if (!board)
		return;
	(void)memcpy(board->run, run->id, sizeof(board->run));
	/* Relaxed: the store of since_ms below publishes them. */
	atomic_store_explicit(&board->key, key, memory_order_relaxed);
	atomic_store_explicit(&board->is_live, run->state == TARE_RUN_LIVE,
			      memory_order_relaxed);
	atomic_store_explicit(&board->allowed_ms, allowed_ms(run),
			      memory_order_relaxed);
	/* Release: publishes the run's fields before the begin of reading. */
	atomic_store_explicit(&board->since_ms, board_now_ms(),
			      memory_order_release);
}

void board_end(struct board *board)
{
	/* Relaxed: publishes no data that the server reads afterwards. */
	if (board)
		atomic_store_explicit(&board->since_ms, 0,
				      memory_order_relaxed);
}

bool board_leaves_out(const struct board *board, uint64_t key)
{
	if (!board)
		return false;
	for (uint32_t i = 0; i < board->n_left_out && i < BOARD_RUNS; i++)
		if (board->left_out[i] == key)
			return true;
	return false;
}
