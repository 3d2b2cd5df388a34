/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/pipelines/: the stages of pipelines: records in and out, own
 * and downstream time, queues, and the bottleneck.
 *
 * Comes in: series of stages in a view. Goes out: rows of
 * tare_view_pipelines(). Called by: read/judge, render/report, cli.
 */
#ifndef TR_READ_PIPELINES_H
#define TR_READ_PIPELINES_H

#include "read/view.h"

#endif
