/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control page beside a live ledger: switches and options, which the
 * process itself and other processes of the same user change.
 */
#ifndef TR_LEDGER_LAYOUT_CONTROL_H
#define TR_LEDGER_LAYOUT_CONTROL_H

#include "base/platform.h"
#include "ledger/layout/file.h"

/* ---- control.c --------------------------------------------------------- */

/* Increments the generation, so that every site checks its switches again. */
void tr_control_bump(struct tr_control *control);
/* Wakes the thread that sleeps on the page, if any. Signal-safe. */
void tr_control_wake(struct tr_control *control);
/* `parent`: the page that a child continues with, or NULL. */
void tr_control_init(struct tr_control *control,
		     const struct tr_control *parent,
		     const struct tr_identity *self);
/* Appends or replaces key=value in the page's text. */
int tr_control_set(struct tr_control *control, const char *name,
		   const char *value);
/* Value of a key that was set from outside; false if none. */
bool tr_control_get(const struct tr_control *control, const char *name,
		    char *value, size_t size);

#endif
