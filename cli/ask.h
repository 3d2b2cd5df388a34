/* SPDX-License-Identifier: Apache-2.0 */
/* Ask: one question to the running `tare serve`, as its other clients do. */
#ifndef CLI_ASK_H
#define CLI_ASK_H


/*
 * GET of `path`. Returns 0 and the status and body of the answer (free with
 * free()), ENOENT if no server runs, or another errno.
 */
int ask_server(const char *path, const char *accept, int *ret_status,
	       char **ret_body);

/*
 * Says why the server cannot be asked: where access was refused, to which
 * file. Returns an exit code.
 */
int ask_error(const char *what, int err);

#endif
