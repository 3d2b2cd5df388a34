/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every probe, as C and as C++, on and compiled out.
 *
 * A probe begins a line, with TARE_ or tare_ or a line that has a name with
 * `probe_`, and ends with the line that ends in a semicolon. The test removes
 * these lines and compares the code with that of TARE_DISABLE.
 */
#include <stddef.h>
#include <stdint.h>

#ifndef NO_PROBES
#include <tare/tare.h>
#endif

/* A program may be compiled with -Wold-style-cast. */
#ifdef __cplusplus
#define AS(type, value) static_cast<type>(value)
#else
#define AS(type, value) ((type)(value))
#endif

uint64_t lexical(uint64_t n);
uint64_t handles(uint64_t n);
uint64_t stages(uint64_t n);
uint64_t values(uint64_t n);
uint64_t details(uint64_t n);

uint64_t lexical(uint64_t n)
{
	TARE_FUNCTION();
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		TARE_SCOPE("scope"); TARE_SCOPE("on the same line");
		TARE_SCOPE_EXACT("exact");
		TARE_SCOPE_IN("source", "scope in");
		TARE_OPERATION("operation");
		TARE_OPERATION_IN("source", "operation in");
		TARE_SCOPE_AS(probe_named, "named");
		TARE_SCOPE_SITE(tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					      "x", NULL, NULL));
		TARE_RESOURCE_SCOPE("resource");
		TARE_RESOURCE_SCOPE_IN("source", "resource in");
		sum = sum * 31 + i;
		TARE_STAGE_WAIT("wait");
		TARE_STEP();
		TARE_STEP_ITEMS(i);
		TARE_STEP_NAMED("kind");
		tare_step_done(i);
		tare_step_named("kind", i);
		tare_scope_fail(probe_named, "text");
	}
	return sum;
}

/* TARE_STAGE_PASS is not here: its argument is the stage's own logic. */
uint64_t stages(uint64_t n)
{
	TARE_STAGE_FUNCTION();
	tare_queue probe_queue;
	tare_ticket probe_ticket;
	uint64_t sum = 1;

	tare_queue_init(&probe_queue, "pipeline", "stage");
	tare_queue_enter(&probe_queue, &probe_ticket);
	tare_queue_leave(&probe_queue, &probe_ticket);
	for (uint64_t i = 0; i < n; i++) {
		TARE_STAGE("stage");
		sum = sum * 31 + i;
		TARE_STAGE_OUT(1);
	}
	for (uint64_t i = 0; i < n; i++) {
		TARE_STAGE_BATCH("batch", n);
		sum = sum * 31 + i;
		TARE_STAGE_IN(i);
	}
	for (uint64_t i = 0; i < n; i++) {
		TARE_STAGE_PULL("pull");
		sum = sum * 31 + i;
	}
	return sum;
}

uint64_t handles(uint64_t n)
{
	TARE_SCOPE_SITE_DEFINE(probe_site, "handle");
	TARE_OPERATION_SITE_DEFINE(probe_operation, "operation handle");
	tare_scope probe_a = tare_scope_begin(&probe_site);
	tare_scope probe_b = tare_scope_begin(&probe_site);
	TARE_RESOURCE_SITE_DEFINE(probe_used, "resource handle");
	tare_resource probe_resource;
	tare_fiber probe_fiber;
	uint64_t sum = n;

	tare_scope_items(probe_a, n);
	tare_scope_attr_int(probe_a, "int", AS(int64_t, n));
	tare_scope_attr_double(probe_a, "double", AS(double, n));
	tare_scope_attr_str(probe_a, "str", "text");
	tare_scope_end_exact(probe_b);
	tare_resource_begin(&probe_used, &probe_resource);
	tare_resource_end(&probe_resource);
	tare_scope_end(tare_scope_begin(&probe_operation));
	tare_fiber_save(&probe_fiber);
	tare_fiber_restore(&probe_fiber);
	sum = sum * 31 + n;
	tare_scope_end(probe_a);
	return sum;
}

uint64_t values(uint64_t n)
{
	TARE_SITE(probe_counter, TARE_KIND_COUNTER, TARE_TYPE_COUNTER, "c",
		  NULL);
	TARE_SITE(probe_value, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "v", "u");
	TARE_SITE(probe_gauge, TARE_KIND_GAUGE, TARE_TYPE_CUSTOM, "g", "u");
	TARE_SITE(probe_ratio, TARE_KIND_RATIO, TARE_TYPE_RATIO, "r", "1");
	TARE_SITE(probe_time, TARE_KIND_SCOPE, TARE_TYPE_TIME, "t", NULL);

	TARE_COUNT("count", n);
	TARE_COUNT("count of ints", AS(int, n));
	TARE_VALUE("value", "unit", AS(double, n));
	TARE_BYTES("bytes", n);
	TARE_GAUGE("gauge", "unit", AS(double, n));
	TARE_GAUGE_ADD("gauge add", "unit", 1.0);
	TARE_PERCENT("percent", 50.0);
	TARE_RATIO("ratio", n, n + 1);
	TARE_DURATION("duration", n);
	TARE_DURATION_FAILED("duration failed", n, "text");
	TARE_COUNT("count of doubles", AS(double, n));
	TARE_COUNT("count of floats", 0.5f);
	TARE_DURATION_WITH("duration with", n, NULL, TARE_ATTR_OF("int", n));
	TARE_DURATION_WITH("duration with more", n, "text",
			   TARE_ATTR_OF("double", 0.5),
			   TARE_ATTR_OF("str", "text"));
	tare_counter_add_double(&probe_counter, 0.5);
	tare_counter_add(&probe_counter, n);
	tare_value_observe(&probe_value, AS(double, n));
	tare_gauge_set(&probe_gauge, AS(double, n));
	tare_gauge_add(&probe_gauge, 1.0);
	tare_ratio_add(&probe_ratio, n, n + 1);
	tare_duration_record(&probe_time, n, NULL);
	const tare_attr *const probe_attrs = NULL;
	int probe_processing = tare_processing_record("operation", 1.5, NULL,
						      probe_attrs, 0);

	(void)probe_attrs;
	(void)probe_processing;
	tare_duration_record_with(&probe_time, n, NULL, probe_attrs, 0);
	const tare_attr probe_list[] = { TARE_ATTR_OF("photo_id", 123),
					 TARE_ATTR_OF("stage", "exif"),
					 TARE_ATTR_OF("share", 0.5) };

	tare_duration_record_with(&probe_time, n, NULL, probe_list, 3);
	tare_processing_record("photo", 12.5, NULL, probe_list, 3);
	TARE_RECORD_MEMORY("memory");
	TARE_RECORD_GPU("gpu");
	int probe_memory = tare_memory_record("memory");
	int probe_gpu_state = tare_gpu_record("gpu");

	tare_memory_record("memory, and no look at the result");
	tare_gpu_record("gpu, and no look at the result");
	(void)probe_memory;
	(void)probe_gpu_state;
	return n * n;
}

uint64_t details(uint64_t n)
{
	const char *const probe_pairs[] = { "key", "value" };
	tare_site *probe_plain = tare_site_get(TARE_KIND_COUNTER,
					       TARE_TYPE_COUNTER, "name",
					       NULL, NULL);
	tare_site *probe_double = tare_counter_get_double("name", NULL, NULL);
	tare_site *probe_series = tare_site_labels(probe_plain, 1, probe_pairs);

	TARE_FAIL("text");
	TARE_ITEMS(n);
	TARE_ATTR("int", n);
	TARE_ATTR("double", 0.5);
	TARE_ATTR("float", 0.5f);
	TARE_ATTR("str", "text");
	tare_fail("text");
	tare_items(n);
	tare_attr_int("int", AS(int64_t, n));
	tare_attr_double("double", AS(double, n));
	tare_attr_str("str", "text");
	tare_counter_add(probe_series, n);
	tare_counter_add_double(probe_double, 0.5);
	return n + 1;
}
