/* SPDX-License-Identifier: Apache-2.0 */
/* Monitored: which series are those of the monitor. */
#include "read/stats.h"

#include <string.h>

const char *const tr_monitor_sources[TR_MONITOR_SOURCES] = {
	"process", "system", "gpu"
};

size_t tr_stats_monitor_source(const tare_stats *stats)
{
	size_t i = 0;

	while (i < TR_MONITOR_SOURCES &&
	       strcmp(tr_monitor_sources[i], stats->source) != 0)
		i++;
	return i;
}

TARE_API bool tare_stats_is_monitor(const tare_stats *stats)
{
	return stats && stats->kind == TARE_KIND_GAUGE &&
	       tr_stats_monitor_source(stats) < TR_MONITOR_SOURCES;
}
