/* SPDX-License-Identifier: Apache-2.0 */
/* Ask: sends one HTTP request to the running `tare serve`. */
#ifndef CLI_ASK_H
#define CLI_ASK_H


/*
 * GET of `path`. Returns 0 with the status and body of the response (free with
 * free()), ENOENT if no server runs, or another errno.
 */
int ask_server(const char *path, const char *accept, int *ret_status,
	       char **ret_body);

/*
 * Prints why the server cannot be reached and, if access was refused, to which
 * file. Returns an exit code.
 */
int ask_error(const char *what, int err);

#endif
