/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and GPU: what the samples in the history say, and for memory what
 * the kernel says of the live processes at this moment.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chosen.h"
#include "handlers.h"
#include "problem.h"
#include "processing.h"
#include "reply.h"

#define MAX_QUANTITIES 32u
#define MAX_GPUS 64u

/* One attribute over all samples: rss_bytes, percent and so on. */
struct quantity {
	const char *key;
	uint64_t n;
	double sum, min, max, current;
	int64_t current_ns;
};

struct samples {
	struct quantity at[MAX_QUANTITIES];
	size_t n;
	uint64_t n_records;
	char reason[256]; /* of the last record that has one */
};

/* Each GPU apart: a mean over several would be of none. */
struct gpus {
	struct samples of[MAX_GPUS];
	struct samples all;
};

static struct quantity *find_quantity(struct samples *samples,
				      const char *key)
{
	for (size_t i = 0; i < samples->n; i++)
		if (strcmp(samples->at[i].key, key) == 0)
			return &samples->at[i];
	if (samples->n == MAX_QUANTITIES)
		return NULL;
	samples->at[samples->n] = (struct quantity){
		.key = key, .min = NAN, .max = NAN, .current_ns = INT64_MIN,
	};
	return &samples->at[samples->n++];
}

static void add_attr(struct samples *samples, const tare_record *record,
		     const tare_attr_value *attr)
{
	double value = attr->type == TARE_ATTR_INT ? (double)attr->i : attr->d;
	struct quantity *quantity;

	if (attr->type == TARE_ATTR_STR)
		return;
	quantity = find_quantity(samples, attr->key);
	if (!quantity)
		return;
	quantity->n++;
	quantity->sum += value;
	quantity->min = fmin(quantity->min, value);
	quantity->max = fmax(quantity->max, value);
	if (record->start_ns >= quantity->current_ns) {
		quantity->current = value;
		quantity->current_ns = record->start_ns;
	}
}

static void add_record(struct samples *samples, const tare_record *record)
{
	samples->n_records++;
	for (size_t a = 0; a < record->n_attrs; a++)
		if (strcmp(record->attrs[a].key, "gpu") != 0)
			add_attr(samples, record, &record->attrs[a]);
	if (record->error[0])
		(void)snprintf(samples->reason, sizeof(samples->reason), "%s",
			       record->error);
}

/* Which one it is of; NULL: of none. */
static struct samples *samples_of(struct gpus *gpus, const tare_record *record)
{
	for (size_t a = 0; a < record->n_attrs; a++) {
		const tare_attr_value *attr = &record->attrs[a];

		if (strcmp(attr->key, "gpu") == 0 &&
		    attr->type == TARE_ATTR_INT && attr->i >= 0 &&
		    attr->i < (int64_t)MAX_GPUS)
			return &gpus->of[attr->i];
	}
	return NULL;
}

/* With `gpus`: also into those of the GPU that a record is of. */
static int add_view(struct samples *samples, struct gpus *gpus,
		    tare_view *view, const tare_filter *filter,
		    enum tare_record_kind kind)
{
	const tare_record *records;
	size_t n;
	int err = tare_view_records(view, filter, &records, &n);

	for (size_t i = 0; !err && i < n; i++) {
		struct samples *own;

		if (records[i].kind != kind)
			continue;
		add_record(samples, &records[i]);
		own = gpus ? samples_of(gpus, &records[i]) : NULL;
		if (own)
			add_record(own, &records[i]);
	}
	return err;
}

static void samples_json(struct json *json, const struct samples *samples)
{
	json_unsigned(json, "count", samples->n_records);
	json_begin_object(json, "values");
	for (size_t i = 0; i < samples->n; i++) {
		const struct quantity *quantity = &samples->at[i];

		json_begin_object(json, quantity->key);
		json_number(json, "current", quantity->current);
		json_number(json, "avg",
			    quantity->sum / (double)quantity->n);
		json_number(json, "min", quantity->min);
		json_number(json, "max", quantity->max);
		json_end_object(json);
	}
	json_end_object(json);
}

/* ---- now ----------------------------------------------------------------- */

/* Of /proc/meminfo, in bytes; 0: the kernel does not say. */
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

static void system_json(struct json *json)
{
	uint64_t total = meminfo("MemTotal");
	uint64_t available = meminfo("MemAvailable");
	uint64_t used = total > available ? total - available : 0;

	json_begin_object(json, "system");
	json_unsigned(json, "total_bytes", total);
	json_unsigned(json, "used_bytes", used);
	json_unsigned(json, "available_bytes", available);
	json_number(json, "percent",
		    total ? 100.0 * (double)used / (double)total : NAN);
	json_end_object(json);
}

static void process_json(struct json *json, const tare_run_entry *run)
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
	/* It may have ended a moment ago. */
	if (n != 2)
		return;
	json_begin_object(json, NULL);
	json_text(json, "run", run->id);
	json_signed(json, "pid", run->pid);
	json_unsigned(json, "rss_bytes", resident * page);
	json_unsigned(json, "vm_bytes", pages * page);
	json_end_object(json);
}

static void now_json(struct json *json, const struct chosen *chosen)
{
	json_begin_object(json, "current");
	system_json(json);
	json_begin_array(json, "processes");
	for (size_t i = 0; i < chosen->n; i++)
		if (chosen->runs[i]->state == TARE_RUN_LIVE)
			process_json(json, chosen->runs[i]);
	json_end_array(json);
	json_end_object(json);
}

/* ---- routes -------------------------------------------------------------- */

static bool gather(struct exchange *ex, struct chosen *chosen,
		   struct samples *samples, struct gpus *gpus,
		   enum tare_record_kind kind)
{
	tare_filter filter = query_filter(&ex->query, ex->now_ns);
	int err = 0;

	if (!chosen_views(ex, chosen))
		return false;
	for (size_t i = 0; i < chosen->n && !err; i++)
		err = add_view(samples, gpus, chosen->views[i], &filter, kind);
	if (err)
		problem_error(ex, "read the samples", err);
	return !err;
}

static void finish(struct exchange *ex, struct json *json,
		   const struct chosen *chosen)
{
	tare_filter filter = query_filter(&ex->query, ex->now_ns);

	window_json(json, &filter, ex->now_ns);
	chosen_json(chosen, json);
	json_end_object(json);
	reply_json_end(ex, 200);
}

void handle_memory_stats(struct exchange *ex)
{
	struct samples samples = { .n = 0 };
	struct chosen chosen;
	struct json *json;

	if (!gather(ex, &chosen, &samples, NULL, TARE_RECORD_MEMORY))
		return;
	json = reply_json(ex);
	if (!json)
		return;
	json_begin_object(json, NULL);
	json_bool(json, "available", true);
	samples_json(json, &samples);
	now_json(json, &chosen);
	finish(ex, json, &chosen);
}

/* A sample that found no GPU says so itself: available is 0. */
static bool has_gpu(const struct samples *samples)
{
	for (size_t i = 0; i < samples->n; i++)
		if (strcmp(samples->at[i].key, "available") == 0)
			return samples->at[i].max > 0;
	return samples->n_records > 0;
}

static void gpus_json(struct json *json, const struct gpus *gpus)
{
	json_begin_array(json, "gpus");
	for (size_t i = 0; i < MAX_GPUS; i++) {
		if (!gpus->of[i].n_records)
			continue;
		json_begin_object(json, NULL);
		json_unsigned(json, "gpu", i);
		json_bool(json, "available", has_gpu(&gpus->of[i]));
		samples_json(json, &gpus->of[i]);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_gpus(struct exchange *ex, const struct chosen *chosen,
		       const struct gpus *gpus)
{
	bool available = has_gpu(&gpus->all);
	struct json *json = reply_json(ex);
	char reason[320];

	if (!json)
		return;
	(void)snprintf(reason, sizeof(reason), "not available: %s",
		       gpus->all.reason[0] ? gpus->all.reason :
					     "no GPU was sampled by these "
					     "runs");
	json_begin_object(json, NULL);
	json_bool(json, "available", available);
	json_text(json, "reason", available ? NULL : reason);
	samples_json(json, &gpus->all);
	gpus_json(json, gpus);
	finish(ex, json, chosen);
}

void handle_gpu_stats(struct exchange *ex)
{
	struct gpus *gpus = calloc(1, sizeof(*gpus));
	struct chosen chosen;

	if (!gpus)
		problem_error(ex, "read the samples", TARE_ENOMEM);
	else if (gather(ex, &chosen, &gpus->all, gpus, TARE_RECORD_GPU))
		write_gpus(ex, &chosen, gpus);
	free(gpus);
}
