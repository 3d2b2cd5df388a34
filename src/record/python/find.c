/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find: is there an interpreter in this process, and is it one whose memory
 * can be read?
 *
 * The interpreter is in the program (Debian's python3) or in libpython, which
 * the program was linked with or loads later. Both export the symbols that are
 * needed here. What is not known exactly is not read: an unknown version or
 * another build is refused, and the ledger says so.
 */
#include "record/python/python.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#define TYPE_DEALLOC 48u   /* tp_dealloc of a type */
#define RUNTIME_VERSION 8u /* in _Py_DebugOffsets */
#define RUNTIME_FREE_THREADED 16u

struct tr_python tr_python;

/* ---- which one --------------------------------------------------------- */

/* "3.11.2 (main, ...": the only source before 3.11. */
static uint32_t version_of_text(const char *text)
{
	uint32_t part[2] = { 0, 0 };

	for (int i = 0; i < 2; i++) {
		for (; *text >= '0' && *text <= '9'; text++)
			part[i] = part[i] * 10 + (uint32_t)(*text - '0');
		if (*text != '.')
			return 0;
		text++;
	}
	return part[0] << 8 | part[1];
}

static uint32_t version_of(const struct tr_python_object *object)
{
	uint64_t at = tr_python_symbol(object, "Py_Version");
	const char *(*text)(void);

	if (at) /* of 4 significant bytes */
		return *(const uint32_t *)(uintptr_t)at >> 16;
	at = tr_python_symbol(object, "Py_GetVersion");
	if (!at)
		return 0;
	text = (const char *(*)(void))(uintptr_t)at;
	return version_of_text(text());
}

/* Only with Py_REF_DEBUG: objects then have other heads. */
static bool is_debug(const struct tr_python_object *object)
{
	return tr_python_symbol(object, "_Py_NegativeRefcount") ||
	       tr_python_symbol(object, "_Py_RefTotal");
}

/* From 3.13 on the interpreter says it itself. */
static bool is_free_threaded(const struct tr_python_object *object,
			     uint32_t version)
{
	uint64_t at = tr_python_symbol(object, "_PyRuntime");
	const char *runtime = (const void *)(uintptr_t)at;

	if (version < 0x30d || !at || memcmp(runtime, "xdebugpy", 8) != 0)
		return false;
	return *(const uint64_t *)(const void *)
		(runtime + RUNTIME_FREE_THREADED) != 0;
}

static enum tr_python_refusal
refusal_of(const struct tr_python_object *object, uint32_t version)
{
	if (version >> 8 != 3 || !tr_python_layout_of(version & 255))
		return TR_PYTHON_UNKNOWN_VERSION;
	if (is_debug(object))
		return TR_PYTHON_IS_DEBUG;
	if (is_free_threaded(object, version))
		return TR_PYTHON_IS_FREE_THREADED;
	return TR_PYTHON_TAKEN;
}

/* ---- its memory -------------------------------------------------------- */

static void code_dealloc(void *code)
{
	tr_python_wait();
	tr_python_code_gone((uint64_t)(uintptr_t)code);
	tr_python.dealloc(code);
}

/*
 * Addresses of freed code objects are reused all the time; without this a
 * function would get the name of another. The type is a static one, which the
 * interpreter itself never changes after its start.
 */
static bool wrap_dealloc(uint64_t code_type)
{
	void (**place)(void *) = (void *)(uintptr_t)(code_type + TYPE_DEALLOC);
	void (*before)(void *) = __atomic_load_n(place, __ATOMIC_RELAXED);

	if (!before)
		return false;
	if (before == code_dealloc)
		return true;
	tr_python.dealloc = before;
	__atomic_store_n(place, code_dealloc, __ATOMIC_RELEASE);
	return true;
}

static void connect_memory(const struct tr_python_object *object)
{
	uint64_t get = tr_python_symbol(object, "PyMem_GetAllocator");
	uint64_t set = tr_python_symbol(object, "PyMem_SetAllocator");
	uint64_t is_initialized = tr_python_symbol(object, "Py_IsInitialized");
	uint64_t has_lock = tr_python_symbol(object, "PyGILState_Check");
	struct tr_python_memory *memory = &tr_python.memory;

	if (!get || !set || !is_initialized || !has_lock)
		return;
	memory->get = (void (*)(int, struct tr_python_allocator *))
		(uintptr_t)get;
	memory->set = (void (*)(int, const struct tr_python_allocator *))
		(uintptr_t)set;
	memory->is_initialized = (int (*)(void))(uintptr_t)is_initialized;
	memory->has_lock = (int (*)(void))(uintptr_t)has_lock;
}

static bool connect(const struct tr_python_object *object)
{
	uint64_t state = tr_python_symbol(object,
					  "PyGILState_GetThisThreadState");
	uint64_t ends = tr_python_symbol(object, "_Py_IsFinalizing");
	uint64_t type = tr_python_symbol(object, "PyCode_Type");

	if (!ends)
		ends = tr_python_symbol(object, "Py_IsFinalizing");
	if (!state || !ends || !type || !tr_python_code_init() ||
	    !wrap_dealloc(type))
		return false;
	tr_python.state = (void *(*)(void))(uintptr_t)state;
	tr_python.is_finalizing = (int (*)(void))(uintptr_t)ends;
	tr_python.code_type = type;
	connect_memory(object);
	tr_python.object = *object;
	return true;
}

static void take(const struct tr_python_object *object)
{
	uint32_t version = version_of(object);
	enum tr_python_refusal refusal = refusal_of(object, version);

	if (refusal == TR_PYTHON_TAKEN && !connect(object))
		refusal = TR_PYTHON_NOT_FOUND;
	tr_python.refused = refusal;
	TR_STORE(tr_python.version, version);
	if (refusal == TR_PYTHON_TAKEN)
		/* Release: all else is written before. */
		TR_PUBLISH(tr_python.layout,
			   tr_python_layout_of(version & 255));
	tr_python_opened();
}

static bool has_interpreter(const struct tr_python_object *object)
{
	return tr_python_symbol(object, "PyGILState_GetThisThreadState");
}

bool tr_python_is_known(void)
{
	return TR_ACQUIRE(tr_python.layout) != NULL;
}

void tr_python_opened(void)
{
	struct tr_python_state *state;

	if (!TR_LOAD(tr_python.version) || !tr_ledger_is_open())
		return;
	state = &tr_ledger->header->python;
	TR_STORE(state->refused, tr_python.refused);
	TR_PUBLISH(state->version, tr_python.version);
}

/* ---- where it is ------------------------------------------------------- */

static bool is_libpython(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return path && strncmp(slash ? slash + 1 : path, "libpython", 9) == 0;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	bool *is_first = arg;
	bool is_program = *is_first;
	struct tr_python_object object;

	(void)size;
	*is_first = false;
	if (!is_program && !is_libpython(info->dlpi_name))
		return 0;
	if (!tr_python_object_of(info->dlpi_addr, info->dlpi_phdr,
				 info->dlpi_phnum, &object) ||
	    !has_interpreter(&object))
		return 0;
	take(&object);
	return 1;
}

void tr_python_find(void)
{
	bool is_first = true;

	if (!TR_LOAD(tr_python.version))
		(void)dl_iterate_phdr(look_at, &is_first);
}

/* The head of a file begins at its lowest address, unless it is a program. */
void tr_python_came(const char *path, uint64_t base)
{
	const Elf64_Ehdr *head = (const void *)(uintptr_t)base;
	struct tr_python_object object;

	if (TR_LOAD(tr_python.version) || !base || !is_libpython(path) ||
	    !tr_unwind_can_read(base) ||
	    memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
		return;
	if (tr_python_object_of(base, (const char *)head + head->e_phoff,
				head->e_phnum, &object) &&
	    has_interpreter(&object))
		take(&object);
}
