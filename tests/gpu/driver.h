/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver: a made-up driver for the tests of gpu/, and the messages that it
 * causes. In a scene, or in a child of a stress test.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include <tare/gpu.h>

#include "stand_in.h"

/*
 * The stand-in of this name beside the test program is the only library, and
 * there is no AMD board. Answers are waited for however long they take.
 * NULL: a library that is not there. Its struct, or NULL.
 */
struct stand_in *driver_use(const char *name);

/* A new reading of all boards, whatever the age of the last one. */
void driver_poll(void);
/* What is known of a board; a failed check if nothing is. */
tare_gpu driver_read(size_t index);
/* Both. */
tare_gpu driver_poll_one(size_t index);

/* Messages so far that have `text` in them. */
unsigned driver_messages(const char *text);

/* Threads of ours in this process; a sanitizer has some of its own. */
unsigned driver_threads(void);

#endif
