/* SPDX-License-Identifier: Apache-2.0 */
#include "record/host.h"

static bool open_nothing(void)
{
	return false;
}

static bool want_nothing(uint8_t kind, const char *name, const char *source)
{
	(void)kind;
	(void)name;
	(void)source;
	return false;
}

static int no_option(const char *name, char *value, size_t size)
{
	(void)name;
	(void)value;
	(void)size;
	return TARE_ENOENT;
}

static void no_log(enum tare_level level, const char *text)
{
	(void)level;
	(void)text;
}

static bool is_no_log_read(void)
{
	return false;
}

static tr_any_call no_api(unsigned which)
{
	(void)which;
	return NULL;
}

struct tr_host tr_host = {
	.open = open_nothing,
	.is_wanted = want_nothing,
	.option = no_option,
	.log = no_log,
	.log_asked = no_log,
	.is_log_read = is_no_log_read,
	.api = no_api,
};
