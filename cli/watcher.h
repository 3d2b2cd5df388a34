/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watcher: a process of rank 0's `tare run` that reports on a job when the
 * launcher ends it.
 *
 * When one rank dies, launchers end all others including `tare run`: MPICH's at
 * once, OpenMPI's a second later. So the report needs a process that is not
 * ended with them: the watcher is in a session of its own. It sleeps until the
 * `tare run` of a rank on this host reports that the rank died, or until its
 * own `tare run` is gone without a message, as after Ctrl-C.
 */
#ifndef CLI_WATCHER_H
#define CLI_WATCHER_H

#include <stdbool.h>
#include <sys/types.h>

struct watcher {
	pid_t pid; /* 0: none */
	int pipe;
};

/* Calls `tell` in the watcher, at most once. It returns true if it reported. */
void watcher_start(struct watcher *watcher, const char *group,
		   bool (*tell)(void *arg), void *arg);
/* If not well, the watcher reports first. True: it has reported. */
bool watcher_stop(struct watcher *watcher, bool is_well);

/* Tells the watcher of a group, if there is one here, that a rank died. */
void watcher_alert(const char *group);

#endif
