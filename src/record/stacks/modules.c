/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: the ledger's list of what was mapped, so that readers find names.
 *
 * A module's row is its number in record/unwind. A child's ledger, or one that
 * replaces a truncated one, gets the rows of all present modules.
 */

#include <errno.h>
#include <string.h>

#include "record/python.h"
#include "record/stacks.h"

#define TR_MODULE_PATH 4095u

/* The ledger that has the rows. Written by the thread that lists modules. */
static uint32_t told_pid, told_replaced;
/* Where each path is stored: a child has its parent's strings. */
static uint32_t path_at[TR_MAX_MODULES];

static uint32_t copy_path(uint32_t number, const char *path)
{
	const struct tr_region *texts = &tr_ledger->region[TR_REGION_STRINGS];
	uint32_t off = path_at[number];

	if (off && off + strlen(path) < texts->off + TR_LOAD(texts->used) &&
	    strcmp(tr_string_at(off), path) == 0)
		return off;
	path_at[number] = tr_string_copy(path, TR_MODULE_PATH);
	return path_at[number];
}

/* The row; makes it and all before it valid. NULL: there is no room. */
static struct tr_module *row_at(uint32_t number)
{
	struct tr_region *rows = &tr_ledger->region[TR_REGION_MODULES];
	uint64_t end = (number + UINT64_C(1)) * sizeof(struct tr_module);
	uint64_t used = TR_LOAD(rows->used);

	if (number >= TR_MAX_MODULES ||
	    (end > used && !tr_region_take(TR_REGION_MODULES, end - used)))
		return NULL;
	return (void *)(tr_ledger->base + rows->off + end -
			sizeof(struct tr_module));
}

static void module_came(uint32_t number,
			const struct tr_unwind_module *module)
{
	struct tr_module *row = row_at(number);

	tr_python_came(module->path, module->bias);
	if (!row)
		return;
	TR_STORE(row->from, module->from);
	TR_STORE(row->to, module->to);
	TR_STORE(row->bias, module->bias);
	TR_STORE(row->path, copy_path(number, module->path));
	TR_STORE(row->id_bytes, module->id_bytes);
	memcpy(row->id, module->id, sizeof(row->id));
	if (!TR_LOAD(row->came))
		TR_STORE(row->came, tr_ledger_ticks());
	TR_STORE(row->gone, 0);
	TR_PUBLISH(row->ready, 1);
}

static void module_gone(uint32_t number)
{
	struct tr_module *row = row_at(number);

	if (row)
		TR_STORE(row->gone, tr_ledger_ticks());
}

static bool has_whole_list(void)
{
	return TR_LOAD(told_pid) == tr_ledger->pid &&
	       TR_LOAD(told_replaced) == TR_LOAD(tr_ledger->replaced);
}

static void modules_tell(struct tr_unwind_watch watch)
{
	uint32_t replaced;

	if (!tr_ledger_is_open())
		return;
	replaced = TR_LOAD(tr_ledger->replaced);
	watch.came = module_came;
	watch.gone = module_gone;
	watch.is_all = !has_whole_list();
	if (watch.is_known_only && !watch.is_all)
		return;
	if (!tr_unwind_look(&watch))
		return;
	TR_STORE(told_replaced, replaced);
	TR_STORE(told_pid, tr_ledger->pid);
}

void tr_modules_look(void)
{
	modules_tell((struct tr_unwind_watch){ .is_all = false });
}

void tr_modules_repeat(void)
{
	modules_tell((struct tr_unwind_watch){ .is_known_only = true });
}

#define TR_LEARN_NS INT64_C(1000000)
#define TR_LEARN_MOST_NS INT64_C(2000000000)

bool tr_modules_look_here(void)
{
	static int64_t due_ns, wait_ns;
	uint32_t before = TR_ACQUIRE(tr_unwind_generation);
	int64_t now = tr_monotonic_ns(), due = TR_LOAD(due_ns), wait;
	int saved = errno;

	if (!tr_ledger || (now < due && has_whole_list()))
		return false;
	modules_tell((struct tr_unwind_watch){ .is_lock_free = true });
	errno = saved;
	if (TR_ACQUIRE(tr_unwind_generation) != before) {
		TR_STORE(wait_ns, 0);
		return true;
	}
	wait = 2 * TR_LOAD(wait_ns);
	if (wait < TR_LEARN_NS)
		wait = TR_LEARN_NS;
	if (wait > TR_LEARN_MOST_NS)
		wait = TR_LEARN_MOST_NS;
	TR_STORE(wait_ns, wait);
	TR_STORE(due_ns, now + wait);
	return false;
}

void tr_modules_learn(void)
{
	struct tr_unwind_watch watch = { .came = NULL };

	(void)tr_unwind_look(&watch);
}

bool tr_modules_prepare(void)
{
	return tr_unwind_prepare();
}

/* Is the address in a present module? */
static bool is_module_known(uint64_t address)
{
	const struct tr_region *rows = &tr_ledger->region[TR_REGION_MODULES];
	uint64_t n = TR_LOAD(rows->used) / sizeof(struct tr_module);
	const struct tr_module *row = (void *)(tr_ledger->base + rows->off);

	for (uint64_t i = 0; i < n; i++)
		if (TR_ACQUIRE(row[i].ready) && !TR_LOAD(row[i].gone) &&
		    address >= TR_LOAD(row[i].from) &&
		    address < TR_LOAD(row[i].to))
			return true;
	return false;
}

void tr_modules_know(uint64_t address)
{
	if (is_module_known(address))
		return;
	(void)tr_unwind_module_of(address); /* notes that it is missing */
	(void)tr_modules_look_here();
}
