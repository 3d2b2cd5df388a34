/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fault: why something failed, as a text for users and for records.
 *
 * Functions that can fail return 0 or -1 and describe the failure in a fault of
 * the caller. Texts contain no ids, so that equal failures have equal texts and
 * can be counted; ids are attributes of the operation.
 */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

#define FAULT_TEXT 120

struct fault {
	char text[FAULT_TEXT]; /* truncated if longer */
	bool is_transient;     /* a retry may help */
};

/* Describes a permanent failure. Returns -1, to be returned at once. */
int fault_set(struct fault *fault, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
