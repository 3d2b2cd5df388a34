/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watcher: a process of rank 0's `tare run` that tells about a job when the
 * launcher ends it.
 *
 * When one rank dies, launchers end all others, `tare run` included: MPICH's
 * at once, OpenMPI's a second later. So somebody must report who is not ended
 * with them: this process is in a session of its own. It sleeps until the
 * `tare run` of a rank of this host that died says so, or until its own
 * `tare run` is gone without a word, as after Ctrl-C.
 */
#ifndef CLI_WATCHER_H
#define CLI_WATCHER_H

#include <stdbool.h>
#include <sys/types.h>

struct watcher {
	pid_t pid; /* 0: there is none */
	int pipe;
};

/* `tell` is called in the watcher, at most once. False: it told nothing. */
void watcher_start(struct watcher *watcher, const char *group,
		   bool (*tell)(void *arg), void *arg);
/* Not well: it tells first, whatever becomes of us. True: it has told. */
bool watcher_stop(struct watcher *watcher, bool is_well);

/* To the watcher of a group, if there is one here: a rank died. */
void watcher_alert(const char *group);

#endif
