/* SPDX-License-Identifier: Apache-2.0 */
/* Allocs: for the files of this room that read allocations. */
#ifndef TR_READ_PROFILE_ALLOCS_H
#define TR_READ_PROFILE_ALLOCS_H

#include <tare/alloc.h>

#include "read/view.h"

#define TR_SAMPLED_MOST 1048576u /* parts of an allocation */

/* Reads the allocations, once. Returns 0 or TARE_ENOMEM. */
int tr_view_allocs(tare_view *view);

#endif
