/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fault: why something failed, as a text for users. Functions that can fail
 * return 0 or -1 and describe the failure in a fault of the caller.
 */
#ifndef FAULT_H
#define FAULT_H

struct fault {
	char text[512]; /* truncated if longer */
};

/* Returns -1, to be returned at once. */
int fault_set(struct fault *fault, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
