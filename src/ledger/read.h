/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of ledger/read/: a ledger, live or not, as a checked copy.
 *
 * Comes in: a path, or this process's own ledger. Goes out: an image whose
 * header and regions are valid; a reader must still check every offset in it
 * before use. Called by: read/view opens images; other rooms of read/ and
 * render/ read from them.
 */
#ifndef TR_LEDGER_READ_H
#define TR_LEDGER_READ_H

#include "ledger/hook.h"
#include "ledger/layout.h"

/* ---- own.c ------------------------------------------------------------- */

void tr_own_connect(const struct tr_recorder *recorder);
/* This process's ledger; false: it has none. */
bool tr_own_find(struct tr_own *ret_own);

/* ---- image.c ----------------------------------------------------------- */

int tr_image_open(const char *path, struct tr_image *image);
/* A copy of this process's own. */
int tr_image_own(struct tr_image *image);
void tr_image_close(struct tr_image *image);
/*
 * Checks header and regions; an older ledger gets the present layout. 0 or
 * TARE_EFORMAT, TARE_EVERSION. Once for an image, whose bytes it may change.
 */
int tr_image_check(struct tr_image *image);
/* The same of what it has become, by reading it. 0 or TARE_EFORMAT. */
int tr_image_recheck(const struct tr_image *image);
/* Text of a string, "" if it is not one. */
const char *tr_image_string(const struct tr_image *image, uint32_t off);

#endif
