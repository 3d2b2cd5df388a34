/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPython 3.11.0 to 3.11.6 run a __getitem__ of Python inside its caller's
 * frame evaluation even if there is a hook: its calls are not seen.
 *
 * The interpreter does that only for functions whose version has 16 bits.
 * While frames are hooked, functions of this name get a higher version.
 */
#ifndef TR_PY_INLINED_H
#define TR_PY_INLINED_H

#include "frames.h"

#define TR_HAS_INLINED (PY_VERSION_HEX >> 16 == 0x030b)

#if TR_HAS_INLINED
/* All functions there are. False: an exception is set. */
bool tr_inlined_stop_all(void);
/* Gives functions back what they had. */
void tr_inlined_restore(void);
/* The function of a frame that runs for the first time. */
void tr_inlined_stop(tr_frame *frame);
#endif

#endif
