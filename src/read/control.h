/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/control/: switches and options of another process, by its
 * control page: tare_remote_enable() and its like.
 */
#ifndef TR_READ_CONTROL_H
#define TR_READ_CONTROL_H

#include "read/view.h"

#endif
