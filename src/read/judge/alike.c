/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions of two builds: the same, or alike. */
#include <string.h>

#include "read/judge.h"

/* "f.constprop.0", "f.isra.0.cold", "f [clone .part.2]" */
size_t tr_name_stem(const char *name)
{
	static const char *const ends[] = { ".constprop", ".isra", ".part",
					    ".cold", ".lto_priv", ".llvm.",
					    " [clone", NULL };
	size_t len = strlen(name);

	for (size_t i = 0; ends[i]; i++) {
		const char *at = strstr(name, ends[i]);

		if (at && at > name && (size_t)(at - name) < len)
			len = (size_t)(at - name);
	}
	return len;
}

/* Parameters and template arguments say little about what a function is. */
static size_t short_stem(const char *name)
{
	size_t len = tr_name_stem(name), at = strcspn(name, "(<");

	return at && at < len ? at : len;
}

double tr_names_alike(const char *a, const char *b)
{
	size_t n = short_stem(a), m = short_stem(b), front = 0, back = 0;
	size_t least = n < m ? n : m, most = n < m ? m : n;

	while (front < least && a[front] == b[front])
		front++;
	while (back < least - front && a[n - 1 - back] == b[m - 1 - back])
		back++;
	return most ? (double)(front + back) / (double)most : 0;
}
