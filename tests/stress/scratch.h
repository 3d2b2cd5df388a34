/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scratch: what stress tests share.
 *
 * The library is never started in the test program itself: a test makes
 * child processes, has them measure in a folder of its own, and reads their
 * ledgers when they are gone. What was really done stands in memory that the
 * children share with the test and write themselves, so that no expected
 * count comes from the library.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include <tare/tare.h>
#include <tare/read/view.h>

#include "read/view.h"

#if defined(__SANITIZE_THREAD__)
#define SCRATCH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SCRATCH_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SCRATCH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SCRATCH_ASAN 1
#endif
#endif
#ifndef SCRATCH_TSAN
#define SCRATCH_TSAN 0
#endif
#ifndef SCRATCH_ASAN
#define SCRATCH_ASAN 0
#endif

/* A counter that a kill may interrupt: one writer, any reader. */
#define DONE(field, n) \
	__atomic_store_n(&(field), (field) + (n), __ATOMIC_RELEASE)
#define READ(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)

/* A new folder on /dev/shm, removed with all in it by scratch_leave(). */
const char *scratch_enter(void);
void scratch_leave(void);
/* The folder again, empty. */
void scratch_empty(void);

/* Zeroed memory that children share. */
void *scratch_share(size_t bytes);
/* The same for programs that are started: a file, made if it is not there. */
void *scratch_share_file(const char *path, size_t bytes);
void scratch_unshare(void *memory, size_t bytes);

/* In a child about to start a program: it measures in the folder. */
void scratch_environment(void);
/* In a child: starts measuring in the folder. Options: name, value, NULL. */
void scratch_start(const char *const *options);

/* `n`, or less of it where a sanitizer makes everything slow, or more of
 * it (ten times) where TARE_SOAK is set. */
unsigned scratch_times(unsigned n);

/* Runs `body` in a child that leaves by _exit(). Its process id. */
pid_t scratch_fork(void (*body)(void *arg), void *arg);
/* Waits; -1 if it takes longer than `seconds` (it is killed then). */
int scratch_wait(pid_t pid, double seconds);
/* True if the child left by _exit(0) in time. */
bool scratch_run(void (*body)(void *arg), void *arg, double seconds);

double scratch_seconds(void);
uint64_t scratch_random(uint64_t *state);

/* ---- a child's ledger -------------------------------------------------- */

/* Path of the ledger of process `pid` in the folder; false: none, or two. */
bool scratch_ledger(pid_t pid, char *path, size_t size);
/* How many ledgers there are in the folder. */
unsigned scratch_ledgers(void);
struct scratch_reading {
	tare_view *view;
	const tare_stats *rows; /* over all time */
	size_t n;
};

/* Opens it and checks that nothing in it is damaged; false if not. */
bool scratch_read(const char *path, struct scratch_reading *reading);
void scratch_close(struct scratch_reading *reading);
/* Row of a series, zero-filled where there is none. */
tare_stats scratch_row(const struct scratch_reading *reading,
		       const char *name, enum tare_kind kind);
/* Sum over all series of a kind. */
uint64_t scratch_count(const struct scratch_reading *reading,
		       enum tare_kind kind);

#endif
