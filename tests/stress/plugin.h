/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loadable module with probes, as modules_test and copies_test use it.
 */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <stdint.h>

/* What a module's calls have done so far; the test's memory. */
struct plugin_done {
	uint64_t scopes, failed, values, value_sum, counts, labelled, items;
	uint64_t parts, wholes, durations, gauge;
};

/* Every module has it under the name "plugin_record". */
typedef void plugin_record_fn(struct plugin_done *done);

#endif
