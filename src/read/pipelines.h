/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/pipelines/: the stages of pipelines: records in and out, own and
 * downstream time, queues, and the stage that holds the others up. Public:
 * tare_view_pipelines().
 */
#ifndef TR_READ_PIPELINES_H
#define TR_READ_PIPELINES_H

#include "read/view.h"

#endif
