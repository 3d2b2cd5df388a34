/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Title: "[thread worker-*]", the name that a program gave to a thread, as the
 * outermost function of its stacks.
 *
 * Before 3.14 the interpreter keeps such names to itself. They are read when a
 * thread is created: its creator holds the interpreter's lock and is in
 * threading.Thread.start(), so that the public calls of the interpreter may be
 * used. Digits become "*": the threads of a pool are one.
 *
 * Titles are kept forever, since a report is made when threads are gone. They
 * are few: threads beyond the last place have none.
 */
#include "record/python/python.h"

#include <string.h>

#define TITLES 256u
#define LETTERS 64u
#define NAME_MOST 200u /* bytes */
#define OBJECT_TYPE 8u

/* Calls of the interpreter; all or none are there. */
static struct {
	uint64_t locals;   /* PyEval_GetLocals, borrowed */
	uint64_t item;	   /* PyDict_GetItemString, borrowed */
	uint64_t attribute; /* PyObject_GetAttrString */
	uint64_t release;  /* Py_DecRef */
	uint64_t fetch, restore; /* of the error */
	uint64_t text_type; /* &PyUnicode_Type */
	bool is_there, is_looked_for;
} calls;

struct title {
	uint32_t letter[LETTERS];
	struct tr_python_text text;
};

static struct title titles[TITLES]; /* the first is none */
static uint32_t n_titles = 1;
static bool is_busy;

static __thread uint32_t own_title
#if !defined(TARE_TLS_DYNAMIC)
	__attribute__((tls_model("initial-exec")))
#endif
	;

static bool is_text(const struct tr_python_text *text, const char *word)
{
	size_t n = strlen(word);

	return text->width == 1 && text->n >= n &&
	       memcmp((const char *)(uintptr_t)text->at + text->n - n, word,
		      n) == 0;
}

/* Is the innermost function threading.Thread.start()? */
static bool is_starting(struct tr_python_pages *pages)
{
	const struct tr_python_layout *layout = tr_python.layout;
	struct tr_python_text name, file;
	struct tr_python_top top;
	uint64_t code, at;

	if (!tr_python_find_top(&top) ||
	    !tr_python_load(pages, top.frame + layout->frame_code, &code))
		return false;
	code &= ~UINT64_C(3); /* 3.14: of a tagged reference */
	return tr_python_load(pages, code + layout->code_name, &at) &&
	       tr_python_text_of(pages, at, NAME_MOST, &name) &&
	       tr_python_load(pages, code + layout->code_file, &at) &&
	       tr_python_text_of(pages, at, NAME_MOST, &file) &&
	       (is_text(&name, "Thread.start") ||
		(layout->minor == 10 && is_text(&name, "start"))) &&
	       is_text(&file, "threading.py");
}

static uint32_t keep(const struct tr_python_text *name)
{
	struct title *title = &titles[n_titles];

	tr_python_text_title(name, title->letter, LETTERS, &title->text);
	for (uint32_t i = 1; i < n_titles; i++)
		if (titles[i].text.n == title->text.n &&
		    !memcmp(titles[i].letter, title->letter,
			    title->text.n * sizeof(title->letter[0])))
			return i;
	if (n_titles == TITLES - 1)
		return 0;
	return n_titles++;
}

static uint64_t find(const char *name)
{
	uint64_t at = tr_python_symbol(&tr_python.object, name);

	calls.is_there &= at != 0;
	return at;
}

static bool has_calls(void)
{
	if (calls.is_looked_for)
		return calls.is_there;
	calls.is_there = true;
	calls.locals = find("PyEval_GetLocals");
	calls.item = find("PyDict_GetItemString");
	calls.attribute = find("PyObject_GetAttrString");
	calls.release = find("Py_DecRef");
	calls.fetch = find("PyErr_Fetch");
	calls.restore = find("PyErr_Restore");
	calls.text_type = find("PyUnicode_Type");
	calls.is_looked_for = true;
	return calls.is_there;
}

#define CALL(type, at) ((type)(uintptr_t)(at))

typedef void *(*locals_call)(void);
typedef void *(*look_call)(void *object, const char *name);
typedef void (*release_call)(void *object);
typedef void (*fetch_call)(void **type, void **value, void **trace);
typedef void (*restore_call)(void *type, void *value, void *trace);

/* The name of `self`, a thread that starts. The lock of the interpreter. */
static uint32_t title_of_self(struct tr_python_pages *pages)
{
	void *locals = CALL(locals_call, calls.locals)();
	void *self = locals ?
			     CALL(look_call, calls.item)(locals, "self") : NULL;
	void *name = self ? CALL(look_call, calls.attribute)(self, "_name") :
			    NULL;
	uint64_t at = (uint64_t)(uintptr_t)name, type;
	struct tr_python_text text;
	uint32_t title = 0;

	if (!name)
		return 0;
	if (tr_python_load(pages, at + OBJECT_TYPE, &type) &&
	    type == calls.text_type &&
	    tr_python_text_of(pages, at, NAME_MOST, &text))
		title = keep(&text);
	CALL(release_call, calls.release)(name);
	return title;
}

uint32_t tr_python_title_new(void)
{
	struct tr_python_pages pages = { .next = 0 };
	void *error[3];
	uint32_t title = 0;

	if (!TR_ACQUIRE(tr_python.layout) || !tr_python.memory.has_lock ||
	    tr_python.is_finalizing() || !tr_python.state() ||
	    !tr_python.memory.has_lock() || !is_starting(&pages) ||
	    __atomic_exchange_n(&is_busy, true, __ATOMIC_ACQUIRE))
		return 0;
	if (has_calls()) {
		CALL(fetch_call, calls.fetch)(&error[0], &error[1], &error[2]);
		title = title_of_self(&pages);
		CALL(restore_call, calls.restore)(error[0], error[1], error[2]);
	}
	__atomic_store_n(&is_busy, false, __ATOMIC_RELEASE);
	return title;
}

static uint32_t title_row(void)
{
	const struct title *title = &titles[own_title];

	return own_title ? tr_python_text_row(&title->text) : 0;
}

void tr_python_title_set(uint32_t title)
{
	own_title = title;
	if (title)
		TR_STORE(tr_python.title_row, title_row);
}
