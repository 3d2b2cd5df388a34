/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts arbitrary bytes to valid Prometheus names, units and labels.
 */
#include "render/metrics/metric.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_word(const char *a, const char *b)
{
	while (*a && lower(*a) == lower(*b))
		a++, b++;
	return lower(*a) == lower(*b);
}

/* ---- units ------------------------------------------------------------- */

/* Synonyms of units in lower case, up to NULL. */
static const struct {
	const char *base;
	double scale;
	const char *name[6];
} units[] = {
	{ "seconds", 1, { "s", "sec", "second", "seconds" } },
	{ "seconds", 1e-3, { "ms", "msec", "millisecond", "milliseconds" } },
	{ "seconds", 1e-6, { "us", "usec", "\xc2\xb5s", "\xce\xbcs",
			     "microseconds" } },
	{ "seconds", 1e-9, { "ns", "nsec", "nanoseconds" } },
	{ "seconds", 60, { "min", "minutes" } },
	{ "seconds", 3600, { "h", "hours" } },
	{ "bytes", 1, { "b", "byte", "bytes" } },
	{ "bytes", 1e3, { "kb" } },
	{ "bytes", 1e6, { "mb" } },
	{ "bytes", 1e9, { "gb" } },
	{ "bytes", 1e12, { "tb" } },
	{ "bytes", 1024, { "kib" } },
	{ "bytes", 1048576, { "mib" } },
	{ "bytes", 1073741824, { "gib" } },
	{ "bytes", 1099511627776, { "tib" } },
	{ "bytes_per_second", 1, { "b/s" } },
	{ "ratio", 0.01, { "%", "percent", "pct" } },
	{ "ratio", 1, { "ratio" } },
	{ "celsius", 1, { "\xc2\xb0" "c", "celsius" } },
	{ "watts", 1, { "w", "watts" } },
	{ "joules", 1, { "j", "joules" } },
	{ "volts", 1, { "v" } },
	{ "hertz", 1, { "hz" } },
	{ "hertz", 1e6, { "mhz" } },
};

#define N_UNITS (sizeof(units) / sizeof(units[0]))

static size_t unit_index(const char *unit)
{
	for (size_t i = 0; i < N_UNITS; i++)
		for (size_t k = 0; units[i].name[k]; k++)
			if (same_word(units[i].name[k], unit))
				return i;
	return N_UNITS;
}

static const struct tr_ladder *ladder_of(const char *base)
{
	if (strcmp(base, "seconds") == 0)
		return &tr_ladder_seconds;
	if (strcmp(base, "bytes") == 0)
		return &tr_ladder_bytes;
	if (strcmp(base, "ratio") == 0)
		return &tr_ladder_ratio;
	return &tr_ladder_any;
}

/* A unit that is not in the table, such as "rows"; "req/s" is per second. */
static void own_unit(const char *unit, struct tr_unit *ret)
{
	struct tr_buf name = TR_BUF_INIT;
	size_t len = strlen(unit);
	bool rate = len > 2 && strcmp(unit + len - 2, "/s") == 0;

	tr_metric_name(unit, &name);
	if (rate && !name.failed) {
		name.len -= 2; /* _s */
		tr_buf_adds(&name, "_per_second");
	}
	/* Without letters and digits, the rest would mean nothing. */
	if (!name.failed && name.len < sizeof(ret->name) &&
	    is_letter(name.data[0]) && is_letter(unit[0])) {
		memcpy(ret->name, name.data, name.len);
		ret->name[name.len] = '\0';
	}
	tr_buf_release(&name);
}

void tr_unit_of(const char *unit, enum tare_kind kind, struct tr_unit *ret)
{
	size_t i;

	*ret = (struct tr_unit){ "", 1, &tr_ladder_any };
	/* A scope's buckets and sum are in seconds, regardless of its unit. */
	if (kind == TARE_KIND_SCOPE)
		unit = "s";
	if (kind == TARE_KIND_RATIO)
		unit = "ratio";
	if (!unit[0] || strcmp(unit, "1") == 0)
		return;
	i = unit_index(unit);
	if (i == N_UNITS) {
		own_unit(unit, ret);
		return;
	}
	memcpy(ret->name, units[i].base, strlen(units[i].base) + 1);
	ret->scale = units[i].scale;
	ret->ladder = ladder_of(ret->name);
}

/* ---- names ------------------------------------------------------------- */

void tr_metric_name(const char *name, struct tr_buf *out)
{
	size_t from = out->len;

	for (const char *c = name; *c; c++) {
		bool allowed = is_letter(*c) || is_digit(*c);

		if (allowed && is_digit(*c) && out->len == from)
			tr_buf_addc(out, '_');
		if (allowed)
			tr_buf_addc(out, *c);
		else if (out->len > from && out->data[out->len - 1] != '_')
			tr_buf_addc(out, '_');
	}
	while (out->len > from + 1 && out->data[out->len - 1] == '_')
		out->len--;
	if (out->len == from)
		tr_buf_adds(out, "unnamed");
	if (!out->failed)
		out->data[out->len] = '\0';
}

/* Removes `ending`, unless it is the whole name. */
static void cut(struct tr_buf *out, size_t from, const char *ending)
{
	size_t len = strlen(ending);

	if (out->failed || out->len < from + len + 2 ||
	    out->data[out->len - len - 1] != '_' ||
	    !same_word(out->data + out->len - len, ending))
		return;
	out->len -= len + 1;
	out->data[out->len] = '\0';
}

void tr_metric_base(const char *name, const struct tr_unit *unit,
		    struct tr_buf *out)
{
	size_t from = out->len;

	tr_metric_name(name, out);
	cut(out, from, "total");
	if (!unit->name[0])
		return;
	cut(out, from, unit->name);
	for (size_t i = 0; i < N_UNITS; i++)
		for (size_t k = 0; strcmp(units[i].base, unit->name) == 0 &&
				   units[i].name[k]; k++)
			cut(out, from, units[i].name[k]);
}

/* ---- labels ------------------------------------------------------------ */

bool tr_metric_text(struct tr_buf *out, const char *text, size_t len,
		    bool quotes)
{
	bool changed = false;
	uint32_t code;
	size_t step;

	for (size_t i = 0; i < len; i += step) {
		step = tr_utf8_decode(text + i, len - i, &code);
		if (!step) {
			tr_buf_adds(out, REPLACEMENT);
			changed = true;
			step = 1;
		} else if (text[i] == '\n') {
			tr_buf_adds(out, "\\n");
		} else {
			if (text[i] == '\\' || (quotes && text[i] == '"'))
				tr_buf_addc(out, '\\');
			tr_buf_add(out, text + i, step);
		}
	}
	return changed;
}

void tr_metric_label(struct tr_buf *out, size_t from, const char *key,
		     const char *value)
{
	if (out->len > from)
		tr_buf_addc(out, ',');
	tr_buf_addf(out, "%s=\"", key);
	(void)tr_metric_text(out, value, strlen(value), true);
	tr_buf_addc(out, '"');
}

void tr_metric_run_labels(struct tr_buf *out, const tare_run *run)
{
	size_t from = out->len;
	char pid[24];

	pid[tr_u64_text(pid, run->pid > 0 ? (uint64_t)run->pid : 0)] = '\0';
	tr_metric_label(out, from, "run", run->id);
	tr_metric_label(out, from, "pid", pid);
	tr_metric_label(out, from, "program", run->program);
}

static const char *const reserved_keys[] = {
	"le", "quantile", "run", "pid", "program", "source", "site",
};

static bool is_reserved(const char *key, size_t len)
{
	for (size_t i = 0;
	     i < sizeof(reserved_keys) / sizeof(reserved_keys[0]); i++)
		if (strlen(reserved_keys[i]) == len &&
		    memcmp(reserved_keys[i], key, len) == 0)
			return true;
	return false;
}

bool tr_label_is_there(const char *labels, size_t len, const char *key)
{
	const char *end = labels + len;
	size_t key_len = strlen(key);

	while (len && labels < end) {
		const char *equals = memchr(labels, '=',
					    (size_t)(end - labels));

		if (!equals)
			return false;
		if ((size_t)(equals - labels) == key_len &&
		    memcmp(labels, key, key_len) == 0)
			return true;
		for (labels = equals + 2; labels < end && *labels != '"';)
			labels += *labels == '\\' ? 2 : 1;
		labels += 2;
	}
	return false;
}

/* A valid key made of key[0..len); true if the key changed. */
static bool add_key(struct tr_buf *out, size_t from, const char *key,
		    size_t len)
{
	struct tr_buf name = TR_BUF_INIT;
	bool changed = false;

	if (is_reserved(key, len))
		tr_buf_adds(&name, "exported_");
	for (size_t i = 0; i < len; i++) {
		char c = is_letter(key[i]) || is_digit(key[i]) ? key[i] : '_';

		changed |= c != key[i];
		if (is_digit(c) && name.len == 0)
			tr_buf_addc(&name, '_');
		/* Prometheus reserves keys that begin with __. */
		if (c == '_' && name.len == 1 && name.data[0] == '_')
			changed = true;
		else
			tr_buf_addc(&name, c);
	}
	if (!name.len)
		tr_buf_adds(&name, "label");
	len = name.len;
	for (unsigned n = 2; !name.failed && !out->failed && n < 1000 &&
	     tr_label_is_there(out->len > from ? out->data + from : "",
			       out->len - from, name.data); n++) {
		name.len = len;
		tr_buf_addf(&name, "_%u", n);
		changed = true;
	}
	if (out->len > from)
		tr_buf_addc(out, ',');
	tr_buf_add(out, name.data, name.len);
	out->failed |= name.failed;
	tr_buf_release(&name);
	return changed;
}

/* Length of a value up to its closing quote, skipping escapes. */
static size_t value_length(const char *text)
{
	size_t n = 0;

	while (text[n] && text[n] != '"')
		n += text[n] == '\\' && text[n + 1] ? 2 : 1;
	return n;
}

/* Invalid escapes (a damaged ledger) become plain backslashes. */
static bool add_value(struct tr_buf *out, const char *text, size_t len)
{
	bool changed = false;
	uint32_t code;
	size_t step;

	for (size_t i = 0; i < len; i += step) {
		char next = i + 1 < len ? text[i + 1] : '\0';

		step = tr_utf8_decode(text + i, len - i, &code);
		if (text[i] == '\\' &&
		    (next == '"' || next == '\\' || next == 'n')) {
			step = 2;
			tr_buf_add(out, text + i, 2);
		} else if (!step || text[i] == '\\' || text[i] == '\n') {
			changed |= tr_metric_text(out, text + i, 1, true);
			step = 1;
		} else {
			tr_buf_add(out, text + i, step);
		}
	}
	return changed;
}

/*
 * Nearly all labels are valid as they are. For these, the length is returned
 * and they are copied unchanged. At most FEW_KEYS keys, so that the search for
 * duplicates is cheap.
 */
#define FEW_KEYS 6u
static size_t plain_labels(const char *labels)
{
	const char *key[FEW_KEYS], *c = labels;
	size_t len[FEW_KEYS], n = 0;

	for (; n < FEW_KEYS; c++) {
		key[n] = c;
		while (is_letter(*c) || is_digit(*c) || *c == '_')
			c++;
		len[n] = (size_t)(c - key[n]);
		if (!len[n] || is_digit(*key[n]) || c[0] != '=' ||
		    c[1] != '"' || (key[n][0] == '_' && key[n][1] == '_') ||
		    is_reserved(key[n], len[n]))
			return 0;
		for (size_t i = 0; i < n; i++)
			if (len[i] == len[n] &&
			    memcmp(key[i], key[n], len[n]) == 0)
				return 0;
		n++;
		for (c += 2; *c != '"'; c++)
			if (*c == '\\' || (unsigned char)*c < ' ' ||
			    (unsigned char)*c > '~')
				return 0;
		if (*++c != ',')
			return *c ? 0 : (size_t)(c - labels);
	}
	return 0;
}

bool tr_metric_labels(const char *source, const char *labels,
		      struct tr_buf *out)
{
	size_t from = out->len, plain;
	bool changed = false;

	if (source[0]) {
		tr_buf_adds(out, "source=\"");
		changed |= tr_metric_text(out, source, strlen(source), true);
		tr_buf_addc(out, '"');
	}
	plain = plain_labels(labels);
	if (plain) {
		if (out->len > from)
			tr_buf_addc(out, ',');
		tr_buf_add(out, labels, plain);
		return changed;
	}
	while (labels[0]) {
		const char *key_end = strstr(labels, "=\"");
		size_t len;

		if (!key_end)
			return true; /* not written by the library */
		changed |= add_key(out, from, labels,
				   (size_t)(key_end - labels));
		tr_buf_adds(out, "=\"");
		labels = key_end + 2;
		len = value_length(labels);
		changed |= add_value(out, labels, len);
		tr_buf_addc(out, '"');
		labels += len + (labels[len] == '"');
		labels += labels[0] == ',';
	}
	return changed;
}
