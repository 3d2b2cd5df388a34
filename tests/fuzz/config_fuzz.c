/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare.conf with anything in it: every option keeps an accepted value, and
 * a warning is one line that a terminal can take.
 */
#include "base/config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;

static void make_file(void)
{
	char path[64];

	file = memfd_create("tare.conf", MFD_CLOEXEC);
	if (file < 0)
		abort();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	(void)setenv("TARE_CONF", path, 1);
}

static void check_warning(void *arg, const char *text)
{
	(void)arg;
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			__builtin_trap();
}

/* What an option says of itself is accepted again. */
static void check_values(const struct tr_config *config)
{
	struct tr_config again;
	const tare_option *option;
	char value[256];

	tr_config_defaults(&again);
	for (size_t i = 0; (option = tare_option_at(i)); i++) {
		if (tr_config_get(config, option->name, value,
				  sizeof(value)) < 0 ||
		    tr_config_set(&again, option->name, value))
			__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tr_config config;
	char text[4096];

	if (file < 0)
		make_file();
	if (ftruncate(file, 0) ||
	    pwrite(file, data, size, 0) != (ssize_t)size)
		return 0;
	tr_config_load(&config, check_warning, NULL);
	check_values(&config);
	(void)tr_config_differences(&config, text, 1 + size % sizeof(text));
	if (size > 0 && size < sizeof(text)) {
		memcpy(text, data, size);
		text[size] = '\0';
		(void)tr_option_closest(text);
	}
	return 0;
}
