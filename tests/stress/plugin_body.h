/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of a module; PLUGIN is the text before all its names. All names
 * are literals: they go when the module goes.
 */
#include <tare/tare.h>

#include "plugin.h"

__attribute__((visibility("default"))) plugin_record_fn plugin_record;

static void record_scopes(struct plugin_done *done)
{
	for (unsigned i = 0; i < 10; i++) {
		{
			TARE_SCOPE_IN(PLUGIN ".so", PLUGIN ".scope");
			tare_items(2);
			done->items += 2;
		}
		done->scopes++;
	}
	{
		TARE_OPERATION(PLUGIN ".failing");
		TARE_ATTR("module", PLUGIN);
		TARE_ATTR("call", (int)done->failed);
		TARE_FAIL(PLUGIN " does not work");
	}
	done->failed++;
	TARE_DURATION(PLUGIN ".duration", 1000);
	done->durations++;
}

static void record_values(struct plugin_done *done)
{
	TARE_SITE(base, TARE_KIND_COUNTER, TARE_TYPE_COUNTER,
		  PLUGIN ".labelled", NULL);
	static const char *const pairs[] = { "kind", "one", "of", "two" };

	for (unsigned i = 0; i < 10; i++) {
		TARE_VALUE(PLUGIN ".value", PLUGIN " units", i);
		done->values++;
		done->value_sum += i;
		TARE_COUNT(PLUGIN ".count", 3);
		done->counts += 3;
		TARE_RATIO(PLUGIN ".ratio", 1, 2);
		done->parts += 1;
		done->wholes += 2;
		tare_counter_add(tare_site_labels(&base, 2, pairs), 7);
		done->labelled += 7;
	}
	done->gauge++;
	TARE_GAUGE(PLUGIN ".gauge", NULL, (double)done->gauge);
}

void plugin_record(struct plugin_done *done)
{
	record_scopes(done);
	record_values(done);
}
