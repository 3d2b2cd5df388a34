/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of alerts: any line, and what is known of one that is accepted. */
#include "../../server/alert_rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void check_rule(const struct alert_rule *rule)
{
	must(rule->name[0] && strlen(rule->name) < sizeof(rule->name));
	must(rule->metric[0] && strlen(rule->metric) < sizeof(rule->metric));
	must(alert_stat_name(rule->stat)[0]);
	must(alert_compare_sign(rule->compare)[0]);
	must(isfinite(rule->bound));
	must(rule->for_ns >= 0 && rule->over_ns > 0);
	must(!alert_holds(rule, (double)NAN));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct alert_rule rule;
	char *line = malloc(size + 1);

	if (!line)
		return 0;
	memcpy(line, data, size);
	line[size] = '\0';
	if (!alert_rule_parse(line, &rule))
		check_rule(&rule);
	free(line);
	return 0;
}
