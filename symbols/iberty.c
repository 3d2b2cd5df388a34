/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles with libiberty's two functions that write through a call: it
 * bounds the text, and leaves by a jump when the text is full. A short hostile
 * name may stand for a text of any length, and would be written for hours.
 * Neither function holds anything while it calls, except a buffer of a
 * non-ASCII identifier in Rust.
 *
 * libiberty bounds its recursion (2,048 levels, Rust 1,024), but has an array
 * on the stack whose size is the number of templates times the number of
 * references to parameters: names where this is too large stay as they are.
 *
 * The two functions are declared here because libiberty's headers, unlike the
 * code behind these functions, are under the GPL.
 */
#include "parts.h"

#include <setjmp.h>
#include <string.h>

#define WITH_PARAMETERS 3 /* DMGL_PARAMS | DMGL_ANSI */
#define SCOPES_MOST 65536u /* 16 bytes of stack each */

typedef void (*write_fn)(const char *text, size_t len, void *arg);

int cplus_demangle_v3_callback(const char *name, int options, write_fn write,
			       void *arg);
int rust_demangle_callback(const char *name, int options, write_fn write,
			   void *arg);

struct bounded {
	char *text;
	size_t n, size;
	jmp_buf full;
};

static void add(const char *text, size_t len, void *arg)
{
	struct bounded *to = arg;
	size_t room = to->size - 1 - to->n;
	size_t n = len < room ? len : room;

	memcpy(to->text + to->n, text, n);
	to->n += n;
	if (n < len)
		longjmp(to->full, 1);
}

static size_t count(const char *text, const char *of)
{
	size_t n = 0;

	for (; (text = strpbrk(text, of)); text++)
		n++;
	return n;
}

bool demangled(const char *name, char *ret, size_t size)
{
	struct bounded to = { .text = ret, .size = size };
	bool is_done;

	if (count(name, "I") * count(name, "RO") > SCOPES_MOST)
		return false;
	if (setjmp(to.full)) {
		memcpy(ret + size - 4, "...", 4);
		return true;
	}
	is_done = rust_demangle_callback(name, WITH_PARAMETERS, add, &to);
	if (!is_done) {
		to.n = 0;
		is_done = cplus_demangle_v3_callback(name, WITH_PARAMETERS, add,
						     &to);
	}
	ret[to.n] = '\0';
	return is_done && to.n > 0;
}
