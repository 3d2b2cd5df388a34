/* SPDX-License-Identifier: Apache-2.0 */
/* A set of values: text to fields and back, by the rows of the table. */
#include "base/config.h"

#include <tare/monitor.h>
#include <tare/probe.h>

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const void *field_of(const struct tr_config *config,
			    const struct tr_option_row *row)
{
	return (const char *)config + row->offset;
}

/* "64K", "1M", "4G" as bytes; binary steps, as in `dd` and `ulimit`. */
static bool parse_size(const char *text, uint64_t *ret)
{
	static const char suffix[] = "kmg";
	char digits[24];
	size_t len = strlen(text);
	unsigned shift = 0;
	const char *found;
	uint64_t n;

	if (len == 0 || len >= sizeof(digits))
		return false;
	memcpy(digits, text, len + 1);
	/* | 32: to lower case, for letters */
	found = memchr(suffix, digits[len - 1] | 32, 3);
	if (found) {
		shift = 10 * (unsigned)(found - suffix + 1);
		digits[len - 1] = '\0';
	}
	if (!tr_parse_u64(digits, &n) || n > UINT64_MAX >> shift)
		return false;

	*ret = n << shift;
	return true;
}

static bool set_int(const struct tr_option_row *row, uint64_t *field,
		    const char *text)
{
	bool parsed;
	uint64_t n;

	if (row->flags & TR_OPTION_BYTES)
		parsed = parse_size(text, &n);
	else
		parsed = tr_parse_u64(text, &n);
	if (!parsed || n > (uint64_t)row->max)
		return false;
	if (n < (uint64_t)row->min &&
	    !(n == 0 && (row->flags & TR_OPTION_AUTOMATIC)))
		return false;

	if (row->flags & TR_OPTION_POWER) {
		uint64_t power = 1;

		while (power < n)
			power *= 2;
		n = power;
	}
	*field = n;
	return true;
}

static bool set_double(const struct tr_option_row *row, double *field,
		       const char *text)
{
	double value;

	/* Written so that NAN is rejected. */
	if (!tr_parse_double(text, &value) ||
	    !(value >= row->min && value <= row->max))
		return false;

	*field = value;
	return true;
}

struct word {
	const char *name;
	uint32_t bits;
};

/* The bits of the word in the first `len` letters; 0: not a known word. */
static uint32_t bits_of(const struct word *words, size_t n, const char *word,
			size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(words[i].name) == len &&
		    memcmp(words[i].name, word, len) == 0)
			return words[i].bits;
	return 0;
}

/* Words separated by commas. False: one of them is unknown. */
static bool parse_words(const struct word *words, size_t n, const char *text,
			uint32_t *ret_bits)
{
	uint32_t all = 0;

	for (;; text++) {
		const char *end = strchr(text, ',');
		size_t len = end ? (size_t)(end - text) : strlen(text);
		uint32_t bits = bits_of(words, n, text, len);

		if (!bits)
			return false;
		all |= bits;
		text += len;
		if (!*text)
			break;
	}
	*ret_bits = all;
	return true;
}

/* Words of one bit first. */
static const struct word monitor_parts[] = {
	{ "system", TARE_MONITOR_SYSTEM },
	{ "process", TARE_MONITOR_PROCESS },
	{ "gpu", TARE_MONITOR_GPU },
	{ "detailed", TARE_MONITOR_DETAILED },
	{ "all", TARE_MONITOR_ALL },
};

#define N_PARTS (sizeof(monitor_parts) / sizeof(monitor_parts[0]))

bool tr_parse_parts(const char *text, uint32_t *ret_parts)
{
	bool on;

	if (tr_parse_bool(text, &on)) {
		*ret_parts = on ? TARE_MONITOR_SYSTEM | TARE_MONITOR_PROCESS :
				  0;
		return true;
	}
	return parse_words(monitor_parts, N_PARTS, text, ret_parts);
}

void tr_parts_text(uint32_t parts, char out[TR_PARTS_TEXT])
{
	const char *comma = "";

	out[0] = '\0';
	for (size_t i = 0; i + 1 < N_PARTS; i++)
		if (parts & monitor_parts[i].bits) {
			strcat(strcat(out, comma), monitor_parts[i].name);
			comma = ",";
		}
	if (!out[0])
		strcpy(out, "false");
}

bool tr_parse_kinds(const char *text, uint32_t *ret_kinds)
{
	static const struct word kinds[] = {
		{ "operation", 1 },
		{ "scope", 1 | 1u << TARE_KIND_SCOPE },
		{ "value", 1u << TARE_KIND_VALUE },
		{ "gauge", 1u << TARE_KIND_GAUGE },
		{ "counter", 1u << TARE_KIND_COUNTER },
		{ "ratio", 1u << TARE_KIND_RATIO },
		{ "all", UINT32_MAX },
	};

	return parse_words(kinds, sizeof(kinds) / sizeof(kinds[0]), text,
			   ret_kinds);
}

static bool set_string(const struct tr_option_row *row, char *field,
		       const char *text)
{
	size_t len = strnlen(text, TR_CONFIG_STRING);
	uint32_t bits;

	if (row->flags & TR_OPTION_PARTS && !tr_parse_parts(text, &bits))
		return false;
	if (row->flags & TR_OPTION_KINDS && !tr_parse_kinds(text, &bits))
		return false;
	if (len < (size_t)row->min || len > (size_t)row->max)
		return false;
	/* A line break in a value would break every list of values. */
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
	}

	/* The rest is zeroed, so that equal sets have equal bytes. */
	memset(field, 0, TR_CONFIG_STRING);
	memcpy(field, text, len);
	return true;
}

static bool set_choice(const struct tr_option_row *row, int *field,
		       const char *text)
{
	for (int i = 0; row->choices[i]; i++) {
		if (strcmp(row->choices[i], text) == 0) {
			*field = i;
			return true;
		}
	}

	return false;
}

static bool set_field(const struct tr_option_row *row, void *field,
		      const char *text)
{
	switch (row->option.type) {
	case TARE_OPTION_BOOL:
		return tr_parse_bool(text, field);
	case TARE_OPTION_INT:
		return set_int(row, field, text);
	case TARE_OPTION_DOUBLE:
		return set_double(row, field, text);
	case TARE_OPTION_STRING:
		return set_string(row, field, text);
	case TARE_OPTION_CHOICE:
		return set_choice(row, field, text);
	}

	return false;
}

/* Returns a static text, the field itself or text in `room`. */
static const char *field_text(const struct tr_option_row *row,
			      const void *field, char room[32])
{
	switch (row->option.type) {
	case TARE_OPTION_BOOL:
		return *(const bool *)field ? "true" : "false";
	case TARE_OPTION_INT:
		(void)tr_u64_text(room, *(const uint64_t *)field);
		return room;
	case TARE_OPTION_DOUBLE:
		(void)tr_double_text(room, *(const double *)field);
		return room;
	case TARE_OPTION_STRING:
		return field;
	case TARE_OPTION_CHOICE:
		return row->choices[*(const int *)field];
	}

	return "";
}

static void *field_at(struct tr_config *config,
		      const struct tr_option_row *row)
{
	return (char *)config + row->offset;
}

void tr_config_defaults(struct tr_config *config)
{
	const tare_option *option;

	/* Also zeroes the gaps between fields, see set_string(). */
	memset(config, 0, sizeof(*config));
	for (size_t i = 0; (option = tare_option_at(i)); i++) {
		const struct tr_option_row *row = tr_option_row(option);

		(void)set_field(row, field_at(config, row),
				option->default_value);
	}
}

static void note_wishes(struct tr_config *config, size_t offset)
{
	if (offset == offsetof(struct tr_config, memory_sample_interval))
		config->asks_memory_tracking = true;
	if (offset == offsetof(struct tr_config, enable_memory_tracking))
		config->asks_memory_tracking = config->enable_memory_tracking;
	if (offset == offsetof(struct tr_config, enable_gpu_tracking))
		config->asks_gpu_tracking = config->enable_gpu_tracking;
	if (offset == offsetof(struct tr_config, enable_gpu_monitoring))
		config->sets_gpu_monitoring = true;
	if (offset == offsetof(struct tr_config, collect_component_profiling))
		config->sets_components = true;
}

int tr_config_set(struct tr_config *config, const char *name,
		  const char *value)
{
	const tare_option *option = tr_option_find(name);
	const struct tr_option_row *row = tr_option_row(option);

	if (!option)
		return TARE_ENOENT;
	if (!value || !set_field(row, field_at(config, row), value))
		return TARE_ERANGE;

	note_wishes(config, row->offset);
	return 0;
}

int tr_config_get(const struct tr_config *config, const char *name,
		  char *value, size_t size)
{
	const tare_option *option = tr_option_find(name);
	const struct tr_option_row *row = tr_option_row(option);
	const char *text;
	char room[32];
	size_t len;

	if (!option)
		return TARE_ENOENT;

	text = field_text(row, field_of(config, row), room);
	len = strlen(text);
	if (!value || len >= size)
		return TARE_EFULL;

	memcpy(value, text, len + 1);
	return (int)len;
}

/* Adds "name=value\n" completely or not at all; returns the new length. */
static size_t add_line(char *out, size_t size, size_t len, const char *name,
		       const char *value)
{
	int n = snprintf(out + len, size - len, "%s=%s\n", name, value);

	if (n > 0 && (size_t)n < size - len)
		return len + (size_t)n;
	out[len] = '\0';
	return len;
}

size_t tr_config_differences(const struct tr_config *config, char *out,
			     size_t size)
{
	const tare_option *option;
	size_t len = 0;

	if (!out || size == 0)
		return 0;
	out[0] = '\0';

	for (size_t i = 0; (option = tare_option_at(i)); i++) {
		const struct tr_option_row *row = tr_option_row(option);
		char room[32];
		const char *text = field_text(row, field_of(config, row),
					      room);

		/* Default values are written in the form of field_text(). */
		if (strcmp(text, option->default_value) != 0)
			len = add_line(out, size, len, option->name, text);
	}

	return len;
}

bool tr_config_wants_stacks(const struct tr_config *config)
{
	return config->sample || config->alloc ||
	       config->profiler_with_stack || config->gpu_kernels;
}
