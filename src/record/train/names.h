/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of phases and values, with a look-up by name.
 */
#ifndef TR_RECORD_TRAIN_NAMES_H
#define TR_RECORD_TRAIN_NAMES_H

#include <stdint.h>

#define TR_NAMES 36u
#define TR_NAME_BYTES 48u /* longer ones are cut; as TR_TRAINING_NAME */

struct tr_names {
	uint32_t n;
	char text[TR_NAMES][TR_NAME_BYTES];
};

/* UINT32_MAX: not found. */
uint32_t tr_names_find(const struct tr_names *names, const char *name);
/* Adds a name, for which there is room; returns its index. */
uint32_t tr_names_add(struct tr_names *names, const char *name);

#endif
