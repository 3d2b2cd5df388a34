/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: key=value words, checked against the library's table. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <tare/control.h>

#include "command.h"

struct setting {
	const tare_option *option; /* static */
	const char *value;	   /* borrows the word */
};

const tare_option *setting_option(const char *name, size_t len);

/* Names the nearest option; returns CODE_USAGE. */
int setting_unknown(const char *word, size_t len);

/*
 * Splits "key=value". Returns 0, or CODE_USAGE after a message that names the
 * nearest option or, for a wrong value, the accepted range.
 */
int setting_parse(const char *word, struct setting *ret_setting);

int setting_bad_value(const struct setting *setting);

#endif
