/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of render/metrics/: series in the formats of Prometheus and
 * OpenMetrics.
 *
 * Comes in: views. Goes out: an exposition in a sink. Called by:
 * render/export, server.
 */
#ifndef TR_RENDER_METRICS_H
#define TR_RENDER_METRICS_H

#include <tare/read/export.h>

#include "render/output.h"
#include "render/metrics/family.h"

/* Prometheus and OpenMetrics. */
int tr_exporter_expose(tare_exporter *exporter, struct tr_sink *sink,
		       tare_view *const *views, size_t n,
		       const tare_export_options *options);

#endif
