/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Program: another program started with an environment of its own, what it
 * printed and how it ended.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct program {
	const char *const *argv;
	const char *const *env;	   /* NAME=value, over a nearly empty one */
	double seconds;		   /* it may take; 0: 20 */
	void (*prepare)(void);	   /* in the child, before it is started */
	void (*between)(void);	   /* here, when no attempt is under way */
	bool keep_stderr;	   /* with stdout; else it is dropped */
	int keep_fd;		   /* beside 0 to 2; 0: none */
};

struct outcome {
	char *text;  /* stdout, NUL-terminated; free() */
	size_t len;
	int status;  /* as of waitpid(); -1: it took too long and was killed */
};

/* Runs it to its end. */
struct outcome program_run(const struct program *program);
/* The two halves, for several at once. */
struct running {
	pid_t pid;
	int out;
	double end; /* of its time */
	struct outcome outcome;
};
bool program_start(const struct program *program, struct running *running);
struct outcome program_wait(struct running *running);

bool outcome_is_same(const struct outcome *a, const struct outcome *b);
/* One line about how it ended, as a comment of TAP. */
void outcome_print(const struct outcome *outcome);
void outcome_release(struct outcome *outcome);

/* Path of a program or module of this build; stays, for fifteen names. */
const char *program_path(const char *name);
/* Path of `tare`, or NULL where it is not built. */
const char *program_tare(void);

/* ---- failing calls ----------------------------------------------------- */

/* What failer.so is told; see there. */
struct failing {
	const char *kind; /* "alloc" or "call" */
	const char *mode; /* "once", "always", "eintr" or "short" */
	int counter;	  /* descriptor of a page: calls so far */
};

/*
 * Runs `program` with its calls failing, one index after the other, until
 * there is no call of that index. Each time `is_right` judges the outcome.
 * Returns how many indices there were.
 */
unsigned program_fail_all(const struct program *program, const char *kind,
			  const char *mode,
			  bool (*is_right)(const struct outcome *outcome));

#endif
