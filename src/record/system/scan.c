/* SPDX-License-Identifier: Apache-2.0 */
#include "scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/platform.h"

/* TR_SCAN_BYTES, from the first reading on. Guarded by the lock. */
static char *scan_text;

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool put_path(char *path, size_t size, const char *format,
		     va_list args)
{
	size_t len = strlen(tr_root);
	int n;

	if (len >= size)
		return false;
	memcpy(path, tr_root, len);
	n = vsnprintf(path + len, size - len, format, args);
	return n >= 0 && (size_t)n < size - len;
}

bool tr_scan_path(char *path, size_t size, const char *format, ...)
{
	va_list args;
	bool fits;

	va_start(args, format);
	fits = put_path(path, size, format, args);
	va_end(args);
	return fits;
}

/* A number at the end of a full buffer may be incomplete. */
static void end_text(size_t len)
{
	const char *last;

	if (len == TR_SCAN_BYTES - 1) {
		last = memrchr(scan_text, '\n', len);
		len = last ? (size_t)(last - scan_text) : 0;
	}
	scan_text[len] = '\0';
}

static int64_t read_text(const char *path)
{
	if (!scan_text)
		scan_text = tr_memory_map(TR_SCAN_BYTES);
	return scan_text ? tr_file_read(path, scan_text, TR_SCAN_BYTES - 1) :
			   TARE_ENOMEM;
}

const char *tr_scan_file(int *ret_error, const char *format, ...)
{
	char path[1400];
	va_list args;
	int64_t n = TARE_EINVAL;

	va_start(args, format);
	if (put_path(path, sizeof(path), format, args))
		n = read_text(path);
	va_end(args);
	if (n < 0) {
		if (ret_error)
			*ret_error = (int)n;
		return NULL;
	}
	end_text((size_t)n);
	return scan_text;
}

uint64_t tr_scan_number(const char **at)
{
	uint64_t value = 0;
	bool is_known;

	while (**at == ' ' || **at == '\t')
		(*at)++;
	is_known = is_digit(**at);
	for (; is_digit(**at); (*at)++) {
		unsigned digit = (unsigned)(**at - '0');

		if (value > (UINT64_MAX - digit) / 10)
			is_known = false;
		value = value * 10 + digit;
	}
	return is_known ? value : TARE_UNKNOWN;
}

double tr_scan_decimal(const char **at, double most)
{
	uint64_t whole = tr_scan_number(at);
	double value = (double)whole, unit = 1;

	if (whole == TARE_UNKNOWN)
		return NAN;
	if (**at == '.')
		for ((*at)++; is_digit(**at); (*at)++) {
			unit /= 10;
			value += unit * (**at - '0');
		}
	return value <= most ? value : NAN;
}

const char *tr_scan_line(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at += len)
		if (at == text || at[-1] == '\n')
			return at + len;
	return NULL;
}

uint64_t tr_scan_value(const char *text, const char *name)
{
	const char *at = tr_scan_line(text, name);

	return at ? tr_scan_number(&at) : TARE_UNKNOWN;
}

const char *tr_scan_next(const char *text)
{
	const char *end = strchr(text, '\n');

	return end && end[1] ? end + 1 : NULL;
}

bool tr_scan_skip(const char **at)
{
	while (**at == ' ' || **at == '\t')
		(*at)++;
	if (!**at || **at == '\n')
		return false;
	*at += strcspn(*at, " \t\n");
	return true;
}

uint64_t tr_scan_times(uint64_t n, uint64_t unit)
{
	return n < UINT64_MAX / unit ? n * unit : TARE_UNKNOWN;
}

uint64_t tr_scan_sum(uint64_t a, uint64_t b)
{
	return a < UINT64_MAX - b ? a + b : TARE_UNKNOWN;
}
