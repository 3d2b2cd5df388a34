/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples: memory and GPU at a call, as records.
 *
 * The record has the name of an operation and no duration. Its site is of kind
 * value, without observations: the name needs a place in the ledger, and no
 * series appears.
 */
#include "record/probe.h"

#include <errno.h>

#include "record/gpu.h"
#include "record/system.h"

#define TR_SAMPLE_ATTRS 8

/* Written by record/runtime when options change. */
bool tr_probe_memory = true, tr_probe_gpus = true;

struct sample {
	tare_attr attr[TR_SAMPLE_ATTRS];
	size_t n;
	const char *error;
	bool is_absent; /* `error` says what is missing; no failure */
};

static void add_int(struct sample *s, const char *key, uint64_t value)
{
	if (value <= INT64_MAX && s->n < TR_SAMPLE_ATTRS)
		s->attr[s->n++] = (tare_attr){ key, TARE_ATTR_INT,
					       { .i = (int64_t)value } };
}

static void add_double(struct sample *s, const char *key, double value)
{
	if (value == value && s->n < TR_SAMPLE_ATTRS)
		s->attr[s->n++] = (tare_attr){ key, TARE_ATTR_DOUBLE,
					       { .d = value } };
}

static int write_sample(tare_site *site, enum tare_record_kind kind,
			const struct sample *s)
{
	struct tr_note note = {
		.kind = kind,
		.error = s->error,
		.is_absent = s->is_absent,
		.attr = s->attr,
		.n_attrs = s->n,
	};

	return tr_note_now(site, &note);
}

/* Checks the site's switches before anything is read. */
static bool is_on(tare_site *site)
{
	uint32_t gate = tare_gate_(site);

	return gate && tr_probe_ready(site, gate);
}

static void read_memory(struct sample *s)
{
	struct tr_memory_now now;

	if (!tr_memory_read(&now)) {
		s->error = "the memory cannot be read from /proc";
		return;
	}
	add_int(s, "rss_bytes", now.rss);
	add_int(s, "vm_bytes", now.vm);
	add_int(s, "total_bytes", now.total);
	if (now.total == UINT64_MAX || now.available > now.total || !now.total)
		return;
	add_int(s, "used_bytes", now.total - now.available);
	add_int(s, "available_bytes", now.available);
	add_double(s, "used_percent",
		   100.0 * (double)(now.total - now.available) /
			   (double)now.total);
}

static int record_memory(const char *operation)
{
	tare_site *site = tr_own_site_get(TARE_KIND_VALUE, TARE_TYPE_MEMORY,
					  operation, "B", NULL);
	struct sample s = { .n = 0 };
	int err;

	if (!is_on(site) || !TR_LOAD(tr_probe_memory))
		return TARE_EOFF;
	read_memory(&s);
	err = write_sample(site, TARE_RECORD_MEMORY, &s);
	return !err && s.error ? TARE_EIO : err;
}

/* A GPU that does not answer is a failure; no GPU is not. */
static int record_one_gpu(tare_site *site, size_t index)
{
	tare_gpu gpu = { .struct_size = sizeof(gpu) };
	struct sample s = { .n = 0 };
	bool is_read = tare_gpu_read(index, &gpu) == 0 && !gpu.is_gone;

	add_int(&s, "gpu", index);
	add_int(&s, "available", is_read);
	if (!is_read) {
		s.error = "the GPU does not answer";
		return write_sample(site, TARE_RECORD_GPU, &s);
	}
	add_double(&s, "load_percent", gpu.load_percent);
	add_int(&s, "memory_used_bytes", gpu.memory_used);
	add_int(&s, "memory_total_bytes", gpu.memory_total);
	add_double(&s, "memory_percent", gpu.memory_percent);
	add_double(&s, "temperature", gpu.temperature);
	add_double(&s, "power_w", gpu.power_w);
	return write_sample(site, TARE_RECORD_GPU, &s);
}

static int record_gpu(const char *operation)
{
	tare_site *site = tr_own_site_get(TARE_KIND_VALUE,
					  TARE_TYPE_PERCENTAGE, operation,
					  "%", NULL);
	struct sample none = { .is_absent = true };
	size_t n;
	int err = 0;

	if (!is_on(site) || !TR_LOAD(tr_probe_gpus))
		return TARE_EOFF;
	n = tare_gpu_count();
	for (size_t i = 0; i < n && !err; i++)
		err = record_one_gpu(site, i);
	if (n)
		return err;
	none.error = tare_gpu_reason();
	add_int(&none, "available", 0);
	return write_sample(site, TARE_RECORD_GPU, &none);
}

static int record(const char *operation, int (*own)(const char *operation),
		  int (*first)(const char *operation))
{
	int saved = errno, err;

	if (!operation || !operation[0])
		return TARE_EINVAL;
	if (tr_probe_forward)
		return first ? first(operation) : TARE_EOFF;
	err = own(operation);
	errno = saved;
	return err;
}

TARE_API int tare_memory_record(const char *operation)
{
	return record(operation, record_memory, TR_FIRST_PROBE(record_memory));
}

TARE_API int tare_gpu_record(const char *operation)
{
	return record(operation, record_gpu, TR_FIRST_PROBE(record_gpu));
}

TR_OWN(tr_own_record_memory, tare_memory_record);
TR_OWN(tr_own_record_gpu, tare_gpu_record);
