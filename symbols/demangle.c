/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as people write them: C++, and both forms of Rust's names. A name
 * without its compiler's additions ("foo.constprop.0", "foo@@VERSION") goes to
 * the demangler, which is libiberty (iberty.c), or the C++ run-time library
 * where the build has no libiberty (runtime_names.c).
 */
#include "parts.h"
#include "symbols.h"

#include <string.h>

#define NAME_MOST 8192u	     /* longer names would take too long */
#define READABLE_MOST 16384u /* of names that multiply what they repeat */

/* "17h", 16 digits, "E": the end of a name in Rust's older form. */
#define HASH_LENGTH 20u

static bool is_rust_hash(const char *at)
{
	return strncmp(at, "17h", 3) == 0 &&
	       strspn(at + 3, "0123456789abcdef") == 16 && at[19] == 'E';
}

/*
 * "_ZN4core3fmt..17h0123456789abcdefE.llvm.7": the dots before the hash
 * belong to the name. NULL: not such a name.
 */
static const char *rust_end(const char *name)
{
	const char *at = strncmp(name, "_ZN", 3) == 0 ? name : NULL;

	while (at && (at = strstr(at + 1, "17h")))
		if (is_rust_hash(at) &&
		    (!at[HASH_LENGTH] || at[HASH_LENGTH] == '.'))
			return at + HASH_LENGTH;
	return NULL;
}

/* "foo.constprop.0", "_ZN3fooEv.part.1": compiler-made clones of foo. */
static size_t length_without_clones(const char *name)
{
	const char *dot = name[0] == '.' ? NULL : strchr(name, '.');
	const char *end = rust_end(name);

	if (end)
		return (size_t)(end - name);
	return dot ? (size_t)(dot - name) : strlen(name);
}

/* "memcpy@@GLIBC_2.14" */
static size_t length_without_version(const char *name)
{
	const char *at = name[0] == '@' ? NULL : strchr(name, '@');

	return at ? (size_t)(at - name) : strlen(name);
}

/* "_ZN3fooEv", "___Z3foov_block_invoke", "_RNvC4rock3spin" */
bool is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "___Z", 4) == 0 ||
	       (strncmp(name, "_R", 2) == 0 && name[2] >= 'A' &&
		name[2] <= 'Z');
}

const char *demangle(struct texts *texts, const char *name)
{
	char plain[NAME_MOST], readable[READABLE_MOST];
	size_t len = is_mangled(name) ? length_without_clones(name) :
					length_without_version(name);
	bool is_cut = len >= sizeof(plain);

	if (is_cut)
		len = sizeof(plain) - 1;
	memcpy(plain, name, len);
	plain[len] = '\0';
	if (is_mangled(name) && !is_cut &&
	    demangled(plain, readable, sizeof(readable)))
		return texts_keep(texts, readable);
	return texts_keep(texts, plain);
}

bool symbols_demangle(const char *name, char *ret, size_t size)
{
	return strlen(name) < NAME_MOST && is_mangled(name) &&
	       demangled(name, ret, size);
}
