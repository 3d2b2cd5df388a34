/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of phases and values, by which each call finds its own.
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

/* UINT32_MAX: it is not there. */
uint32_t tr_names_find(const struct tr_names *names, const char *name);
/* Its place. There is room. */
uint32_t tr_names_add(struct tr_names *names, const char *name);

#endif
