/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trial: one run of a program, timed from outside, and what the kernel says
 * about the machine meanwhile.
 *
 * On a shared machine most of the noise of the wall time is the time in which
 * the program, or the process that waits for its end, was ready to run and
 * had no processor. The kernel counts it for each thread, so it can be
 * subtracted: at ten times the load, what is left keeps a spread of 1 %.
 */
#ifndef CLI_TRIAL_H
#define CLI_TRIAL_H

#include <stdbool.h>

enum trial_figure {
	TRIAL_TIME,	/* wall time less what it waited for a processor */
	TRIAL_CPU,	/* user and system time, with its children */
	TRIAL_WALL,
	TRIAL_USER,
	TRIAL_SYSTEM,
	TRIAL_QUEUED,	/* it could run, but had no processor */
	TRIAL_BLOCKED,	/* it waited for anything else */
	TRIAL_MEMORY,	/* peak, bytes */
	TRIAL_MINOR,	/* page faults without and with reading storage */
	TRIAL_MAJOR,
	TRIAL_SWITCHES, /* it waited */
	TRIAL_PREEMPTED, /* it had to make room */
	TRIAL_READ,	/* bytes from storage */
	TRIAL_INSTRUCTIONS, /* NAN: not counted */
	/* Of the machine meanwhile. */
	TRIAL_OTHERS,	/* processors that other programs used */
	TRIAL_STOLEN,	/* the hypervisor ran something else, ns */
	TRIAL_SPEED,	/* MHz of the fastest processor; NAN: not told */
	TRIAL_FIGURES
};

struct trial_how {
	bool shows_output;
	const char *input; /* file for its stdin; NULL: /dev/null */
};

struct trial {
	int error;  /* errno of why it could not be started */
	int status; /* of wait */
	bool slept; /* the machine slept, or the clock did not go forward */
	bool is_single; /* one thread and no child used the CPU time */
	double figure[TRIAL_FIGURES];
};

/* Opens what is read for each trial; once. */
void trial_prepare(void);
void trial_run(char *const argv[], const struct trial_how *how,
	       struct trial *ret_trial);
/* It ran, ended with status 0, and the clock went on as it should. */
bool trial_is_good(const struct trial *trial);
/*
 * Of several trials of one program: the time is without queueing if all of
 * them had one thread. Mixed definitions would be differences of their own.
 */
void trial_settle(struct trial *trials, unsigned long n, bool is_single);

/* After a signal that asks for the end: no further trials. */
extern volatile int trial_interrupted;

#endif
