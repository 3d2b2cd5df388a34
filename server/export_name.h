/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of exports, as tare_export_file() and periodic exports make them:
 *
 *	metrics_<what>_<YYYYMMDD_HHMMSS>[_<n>].<ending>
 *	metrics_periodic_<what>_<YYYYMMDD_HHMMSS>.<ending>
 *
 * Only letters, digits, _ and one dot: such a name is never a path.
 */
#ifndef SERVER_EXPORT_NAME_H
#define SERVER_EXPORT_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* False: no export has such a name. Gives its enum tare_format. */
bool export_name_parse(const char *name, uint32_t *ret_format);

#endif
