/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ending: how and when a program ended, in a file beside its run. The ledger of
 * a killed program lacks this; `tare run`, which waited for it, knows.
 */
#ifndef CLI_ENDING_H
#define CLI_ENDING_H

#include <stdbool.h>
#include <stdint.h>

struct ending {
	int status;	/* of wait */
	int64_t at_ns;	/* since 1970 */
	int64_t peak_bytes; /* peak of its memory */
	/* What was added later; 0: not known. */
	int64_t pid;	/* of the program; the run may be of another one */
	int64_t cpu_ns;	/* with all processes that it waited for */
	int64_t runs;	/* that its `tare run` found */
	int64_t wall_ns;
	int64_t queued_ns; /* its first thread could run, but did not */
};

/* `run` is the path of its ledger. If writing fails, the end is unknown. */
void ending_write(const char *run, const struct ending *ending);
bool ending_read(const char *run, struct ending *ret_ending);
/* False also if it is that of another process, which has no run. */
bool ending_read_own(const char *run, int64_t pid, struct ending *ret_ending);

#endif
