/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module: which modules are loaded, and where their code is.
 *
 * The dynamic linker is asked outside of signal handlers, since it takes a
 * lock. In handlers, and in children, it is asked about single addresses in a
 * way without a lock, or the kernel if libc has no such way.
 *
 * The result is a sorted array, which replaces the previous one atomically. A
 * search increments a count while it runs; a replaced array is freed when no
 * search is running. Searches are rare: rules are cached.
 */
#include "record/unwind/list.h"

#include "record/unwind/reach.h"
#include "record/unwind/rule.h"

#include <pthread.h>
#include <unistd.h>

struct codes {
	struct codes *older; /* replaced earlier, and not freed yet */
	size_t bytes;
	uint32_t n;
	struct tr_code code[];
};

/* In memory that a fork wipes: the other threads are gone then. */
struct counts {
	uint32_t readers;
	uint32_t looking; /* pid of the thread that looks */
};

static struct counts *counts;
static bool counts_wiped;
static struct codes *codes;
uint32_t tr_unwind_generation;
static uint32_t is_wanted;
#define TR_MISSED 64u
static uint64_t missed[TR_MISSED]; /* addresses that were in no module */
static uint32_t n_missed;
static uint64_t seen_adds, seen_subs; /* of the dynamic linker */

/* ---- searching --------------------------------------------------------- */

static const struct tr_code *enter_and_search(uint64_t address)
{
	const struct codes *now;
	uint32_t low = 0, high;

	if (!TR_LIKELY(__atomic_load_n(&counts, __ATOMIC_ACQUIRE)))
		return NULL;
	/* Sequentially consistent with the exchange of `codes`. */
	(void)__atomic_fetch_add(&counts->readers, 1, __ATOMIC_SEQ_CST);
	now = __atomic_load_n(&codes, __ATOMIC_SEQ_CST);
	high = now ? now->n : 0;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (now->code[middle].to <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (now && low < now->n && now->code[low].from <= address)
		return &now->code[low];
	return NULL;
}

const struct tr_code *tr_code_enter(uint64_t address)
{
	const struct tr_code *code = enter_and_search(address);

	if (!code)
		tr_code_miss(address);
	return code;
}

void tr_code_miss(uint64_t address)
{
	uint32_t n = __atomic_fetch_add(&n_missed, 1, __ATOMIC_RELAXED);

	__atomic_store_n(&missed[n % TR_MISSED], address, __ATOMIC_RELAXED);
	__atomic_store_n(&is_wanted, 1, __ATOMIC_RELAXED);
}

void tr_code_leave(void)
{
	if (__atomic_load_n(&counts, __ATOMIC_ACQUIRE))
		(void)__atomic_fetch_sub(&counts->readers, 1,
					 __ATOMIC_SEQ_CST);
}

uint32_t tr_unwind_module_of(uint64_t address)
{
	const struct tr_code *code = tr_code_enter(address);
	uint32_t module = code ? code->module : TR_UNWIND_NO_MODULE;

	tr_code_leave();
	return module;
}

uint32_t tr_code_generation(void)
{
	return __atomic_load_n(&tr_unwind_generation, __ATOMIC_SEQ_CST);
}

bool tr_unwind_wants_look(void)
{
	return __atomic_load_n(&is_wanted, __ATOMIC_RELAXED);
}

/* ---- the array for searches -------------------------------------------- */

static void codes_sort(struct codes *now)
{
	for (uint32_t i = 1; i < now->n; i++) {
		struct tr_code code = now->code[i];
		uint32_t at = i;

		for (; at && now->code[at - 1].from > code.from; at--)
			now->code[at] = now->code[at - 1];
		now->code[at] = code;
	}
}

/* Keeps the old ranges, except where a new module is. */
static void codes_keep(struct codes *now, const struct tr_list *list)
{
	for (uint32_t i = 0; codes && i < codes->n; i++) {
		const struct tr_code *code = &codes->code[i];

		if (!tr_list_has(list, code->from, code->to))
			now->code[now->n++] = *code;
	}
}

static struct codes *codes_make(const struct tr_list *list, bool is_more)
{
	uint32_t most = list->n_codes + (is_more && codes ? codes->n : 0);
	size_t bytes = sizeof(struct codes) + most * sizeof(struct tr_code);
	struct codes *now = tr_memory_map(bytes);

	if (!now)
		return NULL;
	now->bytes = bytes;
	if (is_more)
		codes_keep(now, list);
	for (uint32_t i = 0; i < list->n; i++) {
		const struct tr_listed *from = &list->at[i];

		for (uint32_t k = 0; k < from->n_codes; k++) {
			struct tr_code *to = &now->code[now->n++];

			*to = list->code[from->first_code + k];
			to->module = from->number;
			to->table = from->table;
			to->read_from = from->is_staying ? from->read_from : 0;
			to->read_to = from->is_staying ? from->read_to : 0;
		}
	}
	codes_sort(now);
	return now;
}

static void codes_replace(struct codes *now)
{
	struct codes *before = codes;

	now->older = before;
	/* Sequentially consistent with searches that count themselves. */
	__atomic_store_n(&codes, now, __ATOMIC_SEQ_CST);
	if (!counts_wiped ||
	    __atomic_load_n(&counts->readers, __ATOMIC_SEQ_CST))
		return;
	now->older = NULL;
	while (before) {
		struct codes *older = before->older;

		tr_memory_unmap(before, before->bytes);
		before = older;
	}
}

/* First the generation: a thread that makes a rule now checks it again. */
static void forget_rules(void)
{
	(void)__atomic_fetch_add(&tr_unwind_generation, 1, __ATOMIC_SEQ_CST);
	tr_rules_forget();
}

/* ---- all modules ------------------------------------------------------- */

static int count_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct tr_list *list = arg;

	(void)size;
	list->adds = info->dlpi_adds;
	list->subs = info->dlpi_subs;
	tr_list_count(list, info);
	/* Nothing changed since the last look: stop. */
	return list->adds && seen_adds == list->adds &&
	       seen_subs == list->subs;
}

static int list_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct tr_list *list = arg;

	(void)size;
	list->adds = info->dlpi_adds;
	list->subs = info->dlpi_subs;
	return !tr_list_add(list, info);
}

static bool use_list(struct tr_list *list, const struct tr_unwind_watch *watch)
{
	struct codes *now;

	tr_module_table_compare(list, watch);
	now = codes_make(list, false);
	if (now)
		codes_replace(now);
	tr_module_table_gone(NULL, watch);
	forget_rules();
	tr_list_close(list);
	return now != NULL;
}

static void look_again(const struct tr_unwind_watch *watch)
{
	struct tr_list list = { .n = 0 };

	__atomic_store_n(&is_wanted, 0, __ATOMIC_RELAXED);
	if (dl_iterate_phdr(count_one, &list) || !tr_list_open(&list))
		return;
	(void)dl_iterate_phdr(list_one, &list);
	tr_list_settle(&list);
	if (use_list(&list, watch)) {
		seen_adds = list.adds;
		seen_subs = list.subs;
	}
}

/* ---- without the dynamic linker's lock --------------------------------- */

static void look_at_maps(const struct tr_unwind_watch *watch)
{
	struct tr_list list = { .n = 0 };

	__atomic_store_n(&is_wanted, 0, __ATOMIC_RELAXED);
	tr_maps_iterate(count_one, &list);
	if (!list.most || !tr_list_open(&list))
		return;
	tr_maps_iterate(list_one, &list);
	if (tr_module_table_is_all(&list))
		tr_list_close(&list);
	else
		(void)use_list(&list, watch);
}

static bool add_found(uint64_t address, const struct tr_unwind_watch *watch)
{
	struct tr_list list = { .n = 0 };
	struct codes *now = NULL;

	tr_find_describe(address, count_one, &list);
	if (!list.most || !tr_list_open(&list))
		return false;
	tr_find_describe(address, list_one, &list);
	/* It may be gone meanwhile; and not all of it is code. */
	if (tr_list_has(&list, address, address + 1)) {
		tr_module_table_compare(&list, watch);
		now = codes_make(&list, true);
		if (now)
			codes_replace(now);
		tr_module_table_gone(&list, watch);
	}
	tr_list_close(&list);
	return now != NULL;
}

/* Is it in no module, or in another one than the array says? */
static bool is_missing(uint64_t address)
{
	const struct tr_code *code = enter_and_search(address);
	struct tr_found found;
	bool is_missing = tr_find(address, &found) &&
			  (!code || code->table != found.table);

	tr_code_leave();
	return is_missing;
}

/* Is it in no module, and the dynamic linker does not know it either? */
static bool is_unknown(uint64_t address)
{
	const struct tr_code *code = enter_and_search(address);
	struct tr_found found;
	bool is_unknown = !code && !tr_find(address, &found);

	tr_code_leave();
	return is_unknown;
}

/* Code of a file that the program has mapped itself. */
static bool add_again(const uint64_t *address, uint32_t n,
		      const struct tr_unwind_watch *watch)
{
	struct tr_list list = { .n = 0 };
	struct codes *now;

	tr_maps_again(address, n, count_one, &list);
	if (!list.most || !tr_list_open(&list))
		return false;
	tr_maps_again(address, n, list_one, &list);
	tr_module_table_compare(&list, watch);
	now = codes_make(&list, true);
	if (now)
		codes_replace(now);
	tr_list_close(&list);
	return now != NULL;
}

/* Adds the modules of addresses that were in none. */
static void look_at_missed(const struct tr_unwind_watch *watch)
{
	static uint64_t unknown[TR_MISSED]; /* stacks of handlers are small */
	uint32_t n_unknown = 0;
	bool is_any = false;

	__atomic_store_n(&is_wanted, 0, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < TR_MISSED; i++) {
		uint64_t address = __atomic_exchange_n(&missed[i], 0,
						       __ATOMIC_RELAXED);

		if (address && is_missing(address))
			is_any |= add_found(address, watch);
		else if (address && is_unknown(address))
			unknown[n_unknown++] = address;
	}
	if (n_unknown)
		is_any |= add_again(unknown, n_unknown, watch);
	if (is_any)
		forget_rules();
}

/* In a handler, of a process that has not asked the dynamic linker yet. */
static void look_at_all(const struct tr_unwind_watch *watch)
{
	struct tr_list list = { .n = 0 };

	tr_find_each(count_one, &list);
	if (!list.most || !tr_list_open(&list))
		return;
	tr_find_each(list_one, &list);
	tr_list_settle(&list);
	(void)use_list(&list, watch);
}

static void look_here(const struct tr_unwind_watch *watch)
{
	if (tr_find_is_able())
		look_at_missed(watch);
	else
		look_at_maps(watch);
}

/* ---- looking ----------------------------------------------------------- */

/*
 * A child that is forked while another thread asks the dynamic linker inherits
 * a lock that is held for ever, and blocks on it when it throws an exception.
 * So a fork waits for the look to end, but not for long: the forking thread
 * may hold that lock itself.
 */
static __thread bool is_fork_holding /* between the two */
#if !defined(TARE_TLS_DYNAMIC)
	__attribute__((tls_model("initial-exec")))
#endif
	;

static void before_fork(void)
{
	for (int i = 0; counts && i < 200; i++) {
		if (tr_process_try_lock(&counts->looking)) {
			is_fork_holding = true;
			return;
		}
		(void)usleep(50);
	}
}

static void after_fork(void)
{
	if (is_fork_holding) {
		is_fork_holding = false;
		tr_process_unlock(&counts->looking);
	}
}

/* Not in a signal handler. */
static void watch_forks(void)
{
	static bool is_done; /* any thread, whichever looks first */

	/* Relaxed: what is registered uses atomics of its own. */
	if (!__atomic_load_n(&is_done, __ATOMIC_RELAXED) &&
	    !__atomic_exchange_n(&is_done, true, __ATOMIC_RELAXED))
		(void)pthread_atfork(before_fork, after_fork, after_fork);
}

/* False: another thread is in it, or there is no memory. */
static bool look_init(void)
{
	static uint32_t beginning; /* pid of the thread that is in it */
	struct counts *mine = __atomic_load_n(&counts, __ATOMIC_ACQUIRE);

	if (mine || !tr_process_try_lock(&beginning))
		return mine;
	if (!counts && tr_module_table_init() && tr_rules_init()) {
		mine = tr_memory_map_wiped(sizeof(*mine), &counts_wiped);
		tr_reach_init();
		__atomic_store_n(&counts, mine, __ATOMIC_RELEASE);
	}
	tr_process_unlock(&beginning);
	return counts;
}

/*
 * In a forked child a lock of the dynamic linker may be held for ever, by a
 * thread of the parent that was loading a module.
 */
static bool may_ask(void)
{
	static pid_t first; /* any thread; the first that asks */
	pid_t found = 0;

	return TR_SWAP(first, &found, getpid()) || found == getpid();
}

bool tr_unwind_prepare(void)
{
	if (!tr_find_is_able())
		return false;
	watch_forks();
	return may_ask();
}

bool tr_unwind_look(const struct tr_unwind_watch *watch)
{
	if (!watch->is_known_only && !watch->is_lock_free)
		watch_forks();
	if (!look_init() || !tr_process_try_lock(&counts->looking))
		return false;
	if (watch->is_all)
		tr_module_table_report(watch);
	if (watch->is_known_only && !codes && tr_find_is_able())
		look_at_all(watch);
	if (!watch->is_known_only && !watch->is_lock_free && may_ask())
		look_again(watch);
	else if (!watch->is_known_only && tr_unwind_wants_look())
		look_here(watch);
	tr_process_unlock(&counts->looking);
	return true;
}
