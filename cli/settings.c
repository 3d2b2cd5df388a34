/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <stdio.h>
#include <string.h>

#include "message.h"
#include "suggest.h"

const tare_option *setting_option(const char *name, size_t len)
{
	const tare_option *option;

	for (size_t i = 0; (option = tare_option_at(i)) != NULL; i++)
		if (strncmp(option->name, name, len) == 0 &&
		    option->name[len] == '\0')
			return option;
	return NULL;
}

int setting_unknown(const char *word, size_t len)
{
	char name[64];
	struct suggestion near = { .word = name };
	const tare_option *option;

	(void)snprintf(name, sizeof(name), "%.*s", (int)len, word);
	for (size_t i = 0; (option = tare_option_at(i)) != NULL; i++)
		suggest_offer(&near, option->name);
	return message_usage("no option is called '%s'%s", name,
			     suggest_text(&near, ""));
}

int setting_bad_value(const struct setting *setting)
{
	return message_usage("wrong value '%s' for '%s': accepted is %s",
			     setting->value, setting->option->name,
			     setting->option->range);
}

int setting_parse(const char *word, struct setting *ret_setting)
{
	size_t len = strcspn(word, "=");
	struct setting setting = { .option = setting_option(word, len) };

	if (!setting.option)
		return setting_unknown(word, len);
	if (word[len] != '=')
		return message_usage("'%s' needs a value: %s=VALUE", word,
				     word);
	setting.value = word + len + 1;
	/*
	 * The table has the range only as text, so the library checks the
	 * value. This process measures nothing, so setting it has no effect.
	 */
	if (tare_option_set(setting.option->name, setting.value) ==
	    TARE_ERANGE)
		return setting_bad_value(&setting);
	*ret_setting = setting;
	return CODE_OK;
}
