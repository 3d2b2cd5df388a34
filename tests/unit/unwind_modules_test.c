/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules that come, go, come back and vanish while stacks are walked, and
 * what a child has of them.
 */
#include "check.h"

#include "record/unwind/list.h"
#include "unwind/seen.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- modules that come and go ------------------------------------------ */

static void *open_guest(chain_fn *ret_call)
{
	char path[512];
	const char *folder = getenv("TARE_TEST_BUILD");
	void *guest, *symbol;

	(void)snprintf(path, sizeof(path), "%s/unwind_guest.so",
		       folder ? folder : "tests");
	guest = dlopen(path, RTLD_NOW);
	if (!CHECK(guest != NULL)) {
		printf("# %s\n", dlerror());
		return NULL;
	}
	symbol = dlsym(guest, "chain_guest");
	memcpy(ret_call, &symbol, sizeof(symbol));
	return guest;
}

TEST(a_module_that_comes_back_keeps_its_number)
{
	uint32_t number = UINT32_MAX;
	uint64_t from = 0;
	struct seen seen;
	chain_fn call;

	for (int i = 0; i < 5; i++) {
		void *guest = open_guest(&call);

		if (!guest)
			return;
		seen_came = seen_gone = 0;
		seen_look();
		CHECK_INT(seen_came, 1);
		CHECK(strstr(seen_path[seen_last_came], "unwind_guest.so"));
		CHECK(seen_path[seen_last_came][0] == '/');
		/* To the same place, as a rule. */
		if (seen_last_from == from)
			CHECK_INT(seen_last_came, number);
		else
			CHECK(seen_last_came != number);
		from = seen_last_from;
		number = seen_last_came;
		(void)call(9, seen_walk_and_compare, &seen);
		CHECK_INT(seen.frame[1].module, number);
		CHECK_INT(dlclose(guest), 0);
		seen_look();
		CHECK_INT(seen_gone, 1);
		CHECK_INT(seen_last_gone, number);
	}
}

static uint32_t is_over;

static void *walk_on(void *arg)
{
	unsigned long *walks = arg;
	struct seen seen;

	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		for (unsigned depth = 0; depth < 8; depth++) {
			(void)chain_bare(depth, seen_walk, &seen);
			CHECK(seen.is_whole);
		}
		__atomic_fetch_add(walks, 8, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Another thread walks, also through the tables that are being replaced. */
TEST(modules_come_and_go_while_others_walk)
{
	unsigned long walks = 0, before;
	struct seen seen;
	pthread_t thread;
	chain_fn call;
	void *guest;

	is_over = 0;
	CHECK_INT(pthread_create(&thread, NULL, walk_on, &walks), 0);
	for (int i = 0; i < 200; i++) {
		guest = open_guest(&call);
		if (!guest)
			break;
		seen_look();
		(void)call(3, seen_walk, &seen);
		(void)dlclose(guest);
		seen_look();
		before = __atomic_load_n(&walks, __ATOMIC_RELAXED);
		while (__atomic_load_n(&walks, __ATOMIC_RELAXED) == before)
			(void)usleep(10);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	CHECK_INT(pthread_join(thread, NULL), 0);
}

/* The tables say what is not there any more; nobody has looked since. */
TEST(a_module_may_vanish_unnoticed)
{
	struct tr_unwind_at at;
	struct seen seen;
	chain_fn call;
	void *guest = open_guest(&call);

	if (!guest)
		return;
	seen_look();
	tr_unwind_here(&at);
	memcpy(&at.pc, &call, sizeof(call));
	at.is_return = false;
	CHECK_INT(dlclose(guest), 0);
	/* Addresses that no cache has. */
	for (int i = 0; i < 64; i++) {
		at.pc++;
		seen.n = tr_unwind(&at, seen.frame, SEEN_MOST, &seen.is_whole);
		CHECK(seen.n >= 1);
	}
	seen_look();
}

/* Nobody has looked: the walk goes on, and its frames have no number. */
TEST(a_module_that_is_new_is_walked_through)
{
	struct seen seen;
	chain_fn call;
	void *guest;

	if (!tr_find_is_able())
		SKIP("this libc cannot say");
	guest = open_guest(&call);
	if (!guest)
		return;
	CHECK(!tr_unwind_wants_look());
	(void)call(9, seen_walk_and_compare, &seen);
	CHECK_INT(seen.frame[1].module, TR_UNWIND_NO_MODULE);
	CHECK(tr_unwind_wants_look());
	seen_look();
	CHECK(!tr_unwind_wants_look());
	(void)call(9, seen_walk_and_compare, &seen);
	CHECK_INT(seen.frame[1].module, seen_last_came);
	CHECK(!tr_unwind_wants_look());
	CHECK_INT(dlclose(guest), 0);
	seen_look();
}

static void look_lock_free(void)
{
	struct tr_unwind_watch watch = { .is_lock_free = true };

	CHECK(tr_unwind_look(&watch));
}

/* As a handler does it: the frames have their module at once. */
TEST(a_look_without_a_lock_finds_what_is_wanted)
{
	uint32_t before, number;
	struct seen seen;
	chain_fn call;
	void *guest;

	guest = open_guest(&call);
	if (!guest)
		return;
	(void)call(9, seen_walk, &seen);
	CHECK(tr_unwind_wants_look());
	look_lock_free();
	CHECK(!tr_unwind_wants_look());
	(void)call(9, seen_walk_and_compare, &seen);
	number = seen.frame[1].module;
	CHECK(number != TR_UNWIND_NO_MODULE);
	/* An address in none, and one in data: no look changes anything. */
	before = tr_unwind_generation;
	CHECK_INT(tr_unwind_module_of(1), TR_UNWIND_NO_MODULE);
	CHECK_INT(tr_unwind_module_of((uint64_t)(uintptr_t)&seen_came),
		  TR_UNWIND_NO_MODULE);
	look_lock_free();
	CHECK_INT(tr_unwind_generation, before);
	seen_look();
	(void)call(9, seen_walk_and_compare, &seen);
	CHECK_INT(seen.frame[1].module, number);
	CHECK_INT(dlclose(guest), 0);
	seen_look();
}

struct biases {
	uint64_t bias[256];
	unsigned n;
};

static int note_bias(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct biases *biases = arg;

	(void)size;
	if (biases->n < 256)
		biases->bias[biases->n++] = info->dlpi_addr;
	return 0;
}

/* For a libc that cannot be asked: the same list. */
TEST(the_kernel_lists_the_same_modules)
{
	struct biases linker = { .n = 0 }, kernel = { .n = 0 };

	(void)dl_iterate_phdr(note_bias, &linker);
	tr_maps_iterate(note_bias, &kernel);
	CHECK(linker.n > 2);
	for (unsigned i = 0; i < linker.n; i++) {
		unsigned n = 0;

		for (unsigned k = 0; k < kernel.n; k++)
			n += kernel.bias[k] == linker.bias[i];
		CHECK_INT(n, 1);
	}
}

/* A name that only means something in one folder. */
TEST(a_modules_path_is_the_whole_one)
{
	const char *folder = getenv("TARE_TEST_BUILD");
	char before[512];
	void *guest;

	if (!folder || !CHECK(getcwd(before, sizeof(before))) ||
	    !CHECK_INT(chdir(folder), 0))
		return;
	guest = dlopen("./unwind_guest.so", RTLD_NOW);
	CHECK_INT(chdir("/"), 0);
	if (CHECK(guest != NULL)) {
		seen_look();
		CHECK(seen_path[seen_last_came][0] == '/');
		CHECK(strstr(seen_path[seen_last_came], "/unwind_guest.so"));
		CHECK_INT(dlclose(guest), 0);
		seen_look();
	}
	CHECK_INT(chdir(before), 0);
}

/* ---- children ---------------------------------------------------------- */

static void *look_on(void *arg)
{
	struct tr_unwind_watch watch = { .is_all = true };
	chain_fn call;

	(void)arg;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		void *guest = open_guest(&call);

		(void)tr_unwind_look(&watch);
		if (guest)
			(void)dlclose(guest);
		(void)tr_unwind_look(&watch);
	}
	return NULL;
}

/* In a child nobody waits for what a thread of its parent held. */
TEST(children_of_a_process_that_looks_can_look)
{
	pthread_t thread;

	if (HAS_TSAN)
		SKIP("the thread sanitizer wants no threads around a fork");
	(void)fflush(stdout);
	is_over = 0;
	CHECK_INT(pthread_create(&thread, NULL, look_on, NULL), 0);
	for (int i = 0; i < 200; i++) {
		pid_t child = fork();
		int status = -1;

		if (child == 0) {
			struct tr_unwind_watch watch = { .is_all = true };

			(void)alarm(20);
			_exit(!tr_unwind_look(&watch));
		}
		CHECK(waitpid(child, &status, 0) == child);
		if (!CHECK_INT(status, 0))
			break;
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	CHECK_INT(pthread_join(thread, NULL), 0);
	seen_look();
}

/* In a child, where the dynamic linker is not asked. */
static void load_in_child(void)
{
	struct seen seen;
	chain_fn call;

	if (!open_guest(&call))
		return;
	seen_came = 0;
	seen_look();
	CHECK_INT(seen_came, 0);
	(void)call(9, seen_walk_and_compare, &seen);
	CHECK(tr_unwind_wants_look());
	seen_look();
	CHECK_INT(seen_came, 1);
	CHECK(strstr(seen_path[seen_last_came], "/unwind_guest.so"));
	(void)call(9, seen_walk_and_compare, &seen);
	CHECK_INT(seen.frame[1].module, seen_last_came);
	CHECK(!tr_unwind_wants_look());
}

TEST(a_child_finds_what_it_loads)
{
	int status = -1;
	pid_t child;

	if (!tr_find_is_able())
		SKIP("this libc cannot say");
	(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		unsigned before = check_failures();

		load_in_child();
		(void)fflush(stdout);
		_exit(check_failures() > before);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
}

TEST(a_child_walks_as_its_parent)
{
	int status = -1;
	struct seen seen;
	pid_t child;

	(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		unsigned before = check_failures();

		(void)chain_bare(12, seen_walk_and_compare, &seen);
		seen_look();
		(void)chain_framed(12, seen_walk_and_compare, &seen);
		(void)fflush(stdout);
		_exit(check_failures() > before);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
}
