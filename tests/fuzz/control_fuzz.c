/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control page as somebody else left it: setting and getting options,
 * and the moves of the generation.
 */
#include "ledger/write.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Up to the next NUL of the input, a text for the caller. */
static const char *take_text(const uint8_t **data, size_t *size, char *out,
			     size_t most)
{
	size_t n = 0;

	while (*size > 0 && **data && n + 1 < most) {
		out[n++] = (char)**data;
		++*data;
		--*size;
	}
	if (*size > 0) {
		++*data;
		--*size;
	}
	out[n] = '\0';
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tr_control page;
	char name[64], value[256], got[192];

	memset(&page, 0, sizeof(page));
	(void)take_text(&data, &size, name, sizeof(name));
	(void)take_text(&data, &size, value, sizeof(value));
	memcpy((char *)&page + (size % 2 ? offsetof(struct tr_control,
						    text_bytes) :
					   0),
	       data, size < 1600 ? size : 1600);
	(void)tr_control_get(&page, name, got, sizeof(got));
	if (tr_control_set(&page, name, value) == 0 &&
	    !strchr(name, '=') && strlen(value) < sizeof(got) &&
	    (!tr_control_get(&page, name, got, sizeof(got)) ||
	     strcmp(got, value) != 0))
		__builtin_trap(); /* what was set is not what is got */
	tr_control_bump(&page);
	(void)tr_control_get(&page, "include", got, 2);
	return 0;
}
