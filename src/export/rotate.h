/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rotate: traces that are removed again, and no file that is not ours.
 */
#ifndef TR_ROTATE_H
#define TR_ROTATE_H

#include "platform/platform.h"

/* Removes `name` if it is a trace of ours. True: it was, and is gone. */
bool tr_rotate_remove(const char *folder, const char *name);
/*
 * Keeps the newest `keep` traces called PREFIX<number>.json, by their time
 * of change; PREFIX is at most 200 bytes long. Returns how many it removed.
 */
size_t tr_rotate_keep(const char *folder, const char *prefix, size_t keep);
/* Removes those whose number is above `last`. */
void tr_rotate_above(const char *folder, const char *prefix, uint64_t last);

#endif
