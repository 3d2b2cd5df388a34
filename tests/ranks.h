/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks of a job: children of a scene, each of which plays one and leaves its
 * ledger behind.
 */
#ifndef RANKS_H
#define RANKS_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tare/read/view.h>

#include "check.h"
#include "scene.h"
#include "read/view.h"

#define RANKS 3

static inline void open_ranks(void (*play)(unsigned rank),
			      tare_view *views[RANKS])
{
	for (unsigned i = 0; i < RANKS; i++) {
		char which[32];
		int status = -1;
		pid_t child = fork();

		if (child == 0) {
			play((i + 2) % RANKS); /* not in their order */
			_exit(0);
		}
		CHECK(child > 0 && waitpid(child, &status, 0) == child);
		CHECK_INT(status, 0);
		(void)snprintf(which, sizeof(which), "%d", (int)child);
		CHECK_INT(tare_view_open(which, &views[i]), 0);
	}
}

/* They are children of what is measured. */
static inline void play_ranks(void (*play)(void))
{
	if (!scene_fork_wipes())
		SKIP("children of a measured process under an emulator");
	CHECK(scene_play(play));
}

static inline void close_ranks(tare_view *views[RANKS])
{
	for (unsigned i = 0; i < RANKS; i++)
		tare_view_close(views[i]);
}

#endif
