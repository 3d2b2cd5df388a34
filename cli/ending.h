/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ending: how a program ended and when, in a file beside its run. The ledger
 * of one that was killed does not know; `tare run`, which waited for it, does.
 */
#ifndef CLI_ENDING_H
#define CLI_ENDING_H

#include <stdbool.h>
#include <stdint.h>

struct ending {
	int status;	/* of wait */
	int64_t at_ns;	/* since 1970 */
	int64_t peak_bytes; /* of its memory */
};

/* `run` is the path of its ledger. Failure is no more than not to know. */
void ending_write(const char *run, const struct ending *ending);
bool ending_read(const char *run, struct ending *ret_ending);

#endif
