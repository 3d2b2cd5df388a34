/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and GPU: readings of the monitor and of operations and, for memory,
 * what the kernel reports for the live processes now.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <tare/read/readings.h>

#include "chosen.h"
#include "handlers.h"
#include "reply.h"

/* "count", and "values": the statistics of each quantity. */
static void group_json(struct tr_json *json, const tare_reading_group *group)
{
	tr_json_u64(json, "count", group->count);
	tr_json_object(json, "values");
	for (size_t i = 0; i < group->n_quantities; i++) {
		const tare_quantity *quantity = &group->quantities[i];

		tr_json_object(json, quantity->key);
		tr_json_u64(json, "count", quantity->count);
		tr_json_double(json, "current", quantity->current);
		tr_json_double(json, "avg", quantity->mean);
		tr_json_double(json, "min", quantity->min);
		tr_json_double(json, "max", quantity->max);
		tr_json_str(json, "trend",
			    tare_direction_name(quantity->direction));
		tr_json_double(json, "change", quantity->change);
		tr_json_double(json, "per_minute", quantity->slope_per_s * 60);
		tr_json_end_object(json);
	}
	tr_json_end_object(json);
}

static void names_json(struct tr_json *json, const tare_readings *readings)
{
	size_t n;
	const tare_reading_group *group =
		tare_readings_groups(readings, TARE_READINGS_BY_NAME, &n);

	tr_json_array(json, "operations");
	for (size_t i = 0; i < n; i++) {
		tr_json_object(json, NULL);
		tr_json_str(json, "name", group[i].name);
		group_json(json, &group[i]);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}

/* ---- now --------------------------------------------------------------- */

/* A value of /proc/meminfo in bytes; 0: not reported. */
static uint64_t meminfo(const char *key)
{
	FILE *stream = fopen("/proc/meminfo", "re");
	uint64_t found = 0, kib;
	char line[128], name[64];

	while (stream && !found && fgets(line, sizeof(line), stream))
		if (sscanf(line, "%63[^:]: %" SCNu64, name, &kib) == 2 &&
		    strcmp(name, key) == 0)
			found = kib << 10;
	if (stream)
		(void)fclose(stream);
	return found;
}

static void system_json(struct tr_json *json)
{
	uint64_t total = meminfo("MemTotal");
	uint64_t available = meminfo("MemAvailable");
	uint64_t used = total > available ? total - available : 0;

	tr_json_object(json, "system");
	tr_json_u64(json, "total_bytes", total);
	tr_json_u64(json, "used_bytes", used);
	tr_json_u64(json, "available_bytes", available);
	tr_json_double(json, "percent",
		       total ? 100.0 * (double)used / (double)total : NAN);
	tr_json_end_object(json);
}

static void process_json(struct tr_json *json, const tare_run_entry *run)
{
	uint64_t pages, resident, page = (uint64_t)sysconf(_SC_PAGESIZE);
	char path[64];
	FILE *stream;
	int n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%lld/statm",
		       (long long)run->pid);
	stream = fopen(path, "re");
	if (stream) {
		n = fscanf(stream, "%" SCNu64 " %" SCNu64, &pages, &resident);
		(void)fclose(stream);
	}
	/* The process may have just ended. */
	if (n != 2)
		return;
	tr_json_object(json, NULL);
	tr_json_str(json, "run", run->id);
	tr_json_i64(json, "pid", run->pid);
	tr_json_u64(json, "rss_bytes", resident * page);
	tr_json_u64(json, "vm_bytes", pages * page);
	tr_json_end_object(json);
}

static void now_json(struct tr_json *json, const struct chosen *chosen)
{
	tr_json_object(json, "current");
	system_json(json);
	tr_json_array(json, "processes");
	for (size_t i = 0; i < chosen->n; i++)
		if (chosen->runs[i]->state == TARE_RUN_LIVE)
			process_json(json, chosen->runs[i]);
	tr_json_end_array(json);
	tr_json_end_object(json);
}

/* ---- routes ------------------------------------------------------------ */

static const tare_reading_group *all_of(const tare_readings *readings)
{
	size_t n;

	return tare_readings_groups(readings, TARE_READINGS_ALL, &n);
}

static void write_memory(struct tr_json *json, const struct chosen *chosen,
			 const tare_readings *readings)
{
	tr_json_bool(json, "available", true);
	group_json(json, all_of(readings));
	names_json(json, readings);
	now_json(json, chosen);
}

/* Each GPU separately: a mean over several GPUs would mean nothing. */
static void gpus_json(struct tr_json *json, const tare_readings *readings)
{
	size_t n;
	const tare_reading_group *group =
		tare_readings_groups(readings, TARE_READINGS_BY_GPU, &n);

	tr_json_array(json, "gpus");
	for (size_t i = 0; i < n; i++) {
		tr_json_object(json, NULL);
		tr_json_i64(json, "gpu", group[i].gpu);
		tr_json_bool(json, "available", group[i].is_available);
		group_json(json, &group[i]);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}

static void write_gpus(struct tr_json *json, const struct chosen *chosen,
		       const tare_readings *readings)
{
	const tare_reading_group *all = all_of(readings);
	char reason[320];

	(void)chosen;
	(void)snprintf(reason, sizeof(reason), "not available: %s",
		       all->reason[0] ? all->reason :
					"no GPU was sampled by these runs");
	tr_json_bool(json, "available", all->is_available);
	tr_json_str(json, "reason", all->is_available ? NULL : reason);
	group_json(json, all);
	names_json(json, readings);
	gpus_json(json, readings);
}

static void answer(struct exchange *ex, enum tare_record_kind kind,
		   void (*write)(struct tr_json *json,
				 const struct chosen *chosen,
				 const tare_readings *readings))
{
	tare_filter filter = query_filter(&ex->query, ex->now_ns);
	tare_readings *readings = NULL;
	struct chosen chosen;
	struct tr_json *json;
	int err;

	if (!chosen_views(ex, &chosen))
		return;
	err = tare_readings_open(chosen.views, chosen.n, &filter, kind,
				 &readings);
	if (err) {
		problem_error(ex, "read the samples", err);
		return;
	}
	json = reply_json(ex);
	tr_json_object(json, NULL);
	write(json, &chosen, readings);
	chosen_window(ex, &filter, json);
	chosen_end(ex, &chosen);
	tare_readings_close(readings);
}

void handle_memory_stats(struct exchange *ex)
{
	answer(ex, TARE_RECORD_MEMORY, write_memory);
}

void handle_gpu_stats(struct exchange *ex)
{
	answer(ex, TARE_RECORD_GPU, write_gpus);
}
