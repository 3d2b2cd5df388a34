/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that allocates in many ways, counts itself what it did, and
 * prints it: what the table must say. It knows nothing of tare, and prints by
 * write(2), which allocates nothing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc_paths.h"

/* In memory that the test may share, to be read after a kill. */
struct counts {
	uint64_t allocs, bytes, frees, freed;
};

static struct counts own;
static struct counts *counts = &own;

static void add(uint64_t *n, uint64_t more)
{
	(void)__atomic_fetch_add(n, more, __ATOMIC_RELAXED);
}

static void *came(void *block, size_t n)
{
	if (block) {
		add(&counts->allocs, 1);
		add(&counts->bytes, n);
	}
	return block;
}

static void goes(size_t n)
{
	add(&counts->frees, 1);
	add(&counts->freed, n);
}

static void say(void)
{
	char text[200];
	int n = snprintf(text, sizeof(text), "%llu %llu %llu %llu\n",
			 (unsigned long long)counts->allocs,
			 (unsigned long long)counts->bytes,
			 (unsigned long long)counts->frees,
			 (unsigned long long)counts->freed);

	if (write(STDOUT_FILENO, text, (size_t)n) != n)
		_exit(1);
}

/* ---- all functions ----------------------------------------------------- */

static volatile size_t zero, huge = SIZE_MAX / 2;

static void resize(void **block, size_t from, size_t to)
{
	void *moved = realloc(*block, to);

	if (!moved && to)
		_exit(2);
	goes(from);
	if (moved)
		(void)came(moved, to);
	*block = moved;
}

static void family(void)
{
	void *block = came(malloc(100), 100), *other = NULL;

	resize(&block, 100, 200);
	resize(&block, 200, 50);
	resize(&block, 50, 100000);
	if (realloc(block, huge))
		_exit(3);
	resize(&block, 100000, zero);
	block = came(realloc(NULL, 77), 77);
	other = reallocarray(block, 10, 20);
	goes(77);
	(void)came(other, 200);
	if (reallocarray(other, huge, 4) || calloc(huge, 4) || malloc(huge))
		_exit(4);
	free(other);
	goes(200);
	free(NULL);
	block = came(calloc(3, 7), 21);
	free(block);
	goes(21);
	if (posix_memalign(&block, 3, 10) != EINVAL ||
	    posix_memalign(&block, 256, 1000))
		_exit(5);
	(void)came(block, 1000);
	if ((uintptr_t)block % 256)
		_exit(6);
	free(block);
	goes(1000);
	(void)came(aligned_alloc(64, 128), 128);
	(void)came(memalign(128, 300), 300);
	(void)came(valloc(500), 500);
	(void)came(pvalloc(600), 600);
	(void)came(malloc(zero), 0);
	block = came(strdup("twelve bytes"), 13);
	if (malloc_usable_size(block) < 13)
		_exit(7);
	free(block);
	goes(13);
	/* Freed right after, twice; and once after another. */
	free(came(malloc(1), 1));
	goes(1);
}

/* ---- threads ----------------------------------------------------------- */

#define THREADS 8
#define SLOTS 512u

static size_t *slots[SLOTS];
static unsigned rounds = 50000;

static void put(unsigned slot, size_t *block)
{
	size_t *old = __atomic_exchange_n(&slots[slot], block,
					  __ATOMIC_ACQ_REL);

	if (!old)
		return;
	goes(*old);
	free(old);
}

static void *hammer(void *arg)
{
	uint64_t x = (uintptr_t)arg * 7919 + 13;

	for (unsigned i = 0; i < rounds; i++) {
		size_t n, *block;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		n = 8 + (x >> 20) % 700;
		block = came(i % 3 ? malloc(n) : calloc(1, n), n);
		if (!block)
			_exit(2);
		*block = n;
		put((unsigned)(x % SLOTS), block);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, hammer, (void *)(i + 1)))
			_exit(3);
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
}

/* Many that live for a moment, so that others take over their caches. */
static void many_threads(void)
{
	rounds = 20;
	for (int i = 0; i < 60; i++)
		threads();
}

/* Others are still at it when main returns. */
static void threads_at_exit(void)
{
	pthread_t thread;

	rounds = 100000000;
	for (uintptr_t i = 0; i < 4; i++)
		if (pthread_create(&thread, NULL, hammer, (void *)(i + 1)))
			_exit(3);
	while (__atomic_load_n(&counts->allocs, __ATOMIC_RELAXED) < 20000)
		(void)sched_yield();
}

/* ---- handlers ---------------------------------------------------------- */

static void *in_handler[4];
static volatile sig_atomic_t handled;

/* Needs an allocator that may be called here: alloc_bump. */
static void on_alarm(int number)
{
	unsigned i = (unsigned)handled % 4;

	(void)number;
	if (in_handler[i]) {
		goes(48);
		free(in_handler[i]);
	}
	in_handler[i] = came(malloc(48), 48);
	handled = handled + 1;
}

static void signals(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval often = { { 0, 100 }, { 0, 100 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	(void)came(malloc(8), 8); /* tracking starts: not yet, please */
	(void)sigaction(SIGALRM, &action, NULL);
	(void)setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 500) {
		void *block = came(malloc(32), 32);

		goes(32);
		free(block);
	}
	(void)setitimer(ITIMER_REAL, &never, NULL);
}

/* ---- fork -------------------------------------------------------------- */

/* Prints the child's own counts, then the parent's. */
static void forks(void)
{
	void *from_parent = came(malloc(1000), 1000);
	void *block;
	pid_t child;
	int status;

	child = fork();
	if (child == 0) {
		own = (struct counts){ 0 };
		block = came(malloc(123), 123);
		(void)came(calloc(2, 50), 100);
		free(block);
		goes(123);
		free(from_parent); /* not its own: counted as foreign */
		say();
		exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		_exit(2);
}

/* ---- scarcity ---------------------------------------------------------- */

static void out_of_memory(void)
{
	struct rlimit limit = { 700u << 20, 700u << 20 };
	void *last = NULL;

	if (setrlimit(RLIMIT_AS, &limit))
		_exit(2);
	/* Until there is no more, in a list. */
	for (;;) {
		void **block = came(malloc(300000), 300000);

		if (!block)
			break;
		*block = last;
		last = block;
	}
	for (int i = 0; i < 10; i++)
		if (malloc(1u << 30))
			_exit(3);
	while (last) {
		void *next = *(void **)last;

		goes(300000);
		free(last);
		last = next;
	}
}

static void many_blocks(void)
{
	const char *text = getenv("HOST_BLOCKS");
	size_t n = text ? strtoull(text, NULL, 10) : 1000000;
	void **blocks = mmap(NULL, n * sizeof(*blocks), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (blocks == MAP_FAILED)
		_exit(2);
	for (size_t i = 0; i < n; i++)
		blocks[i] = came(malloc(16), 16);
	for (size_t i = 0; i < n; i += 2) {
		goes(16);
		free(blocks[i]);
	}
}

/* Goes on until it is killed; the counts are in a file that others see. */
static void until_killed(const char *path)
{
	int fd = open(path, O_RDWR);

	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		_exit(2);
	rounds = 2000000000;
	threads();
}

/* ---- mappings, libraries ----------------------------------------------- */

static char *map(size_t n)
{
	return mmap(NULL, n, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* That of a file is not counted, wherever it goes. */
static void move_file(void)
{
	int fd = memfd_create("file", 0);
	char *at;

	if (fd < 0 || ftruncate(fd, 4096))
		_exit(2);
	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	at = mremap(at, 4096, 9 * 4096, MREMAP_MAYMOVE);
	if (at == MAP_FAILED || munmap(at, 9 * 4096) || close(fd))
		_exit(2);
}

static void mappings(void)
{
	char *at = came(map(10 * 4096), 10 * 4096), *moved;

	(void)munmap(at, 4096);		    /* its beginning */
	(void)munmap(at + 9 * 4096, 4096);  /* its end */
	(void)munmap(at + 4 * 4096, 4096);  /* its middle: two are left */
	add(&counts->freed, 3 * 4096);
	(void)munmap(at, 10 * 4096);
	goes(7 * 4096);
	at = came(map(4096), 4096);
	moved = mremap(at, 4096, 5 * 4096, MREMAP_MAYMOVE);
	goes(4096);
	(void)came(moved, 5 * 4096);
	(void)mmap(NULL, 1u << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	move_file();
}

static void plugin(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void *(*allocate)(size_t n);

	if (!library)
		_exit(2);
	*(void **)(void *)&allocate = dlsym(library, "plugin_allocate");
	if (!allocate)
		_exit(3);
	for (int i = 0; i < 3; i++)
		(void)came(allocate(4321), 4321);
	if (dlclose(library))
		_exit(4);
}

/* ---- what a program may say itself ------------------------------------- */

static void *find(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found)
		_exit(2);
	return found;
}

static void tags(void)
{
	void *(*tag)(const char *name);
	int (*note)(void *tag, const void *block, size_t bytes);
	int (*gone)(void *tag, const void *block);
	int (*snapshot)(const char *name);
	void *small, *large;

	*(void **)(void *)&tag = find("tare_alloc_tag");
	*(void **)(void *)&note = find("tare_alloc_note");
	*(void **)(void *)&gone = find("tare_free_note");
	*(void **)(void *)&snapshot = find("tare_alloc_snapshot");
	small = tag("pool.small");
	large = tag("pool.large");
	if (tag("pool.small") != small || small == large)
		_exit(3);
	(void)came(malloc(1000), 1000);
	/* The same number in both: two blocks. */
	if (note(small, (void *)1, 10) || note(large, (void *)1, 5000) ||
	    note(small, (void *)2, 20) || snapshot("first") ||
	    gone(small, (void *)1) || !gone(small, (void *)99))
		_exit(4);
	(void)came(malloc(500), 500);
	if (snapshot("second"))
		_exit(5);
}

/* ---- ways to the same allocation --------------------------------------- */

/*
 * All allocate in one function, under frames of the same size and of others:
 * the size of a block tells its way.
 */
static void go(uint32_t code, size_t size);

__attribute__((noinline)) static void allocate(size_t size)
{
	void *block = came(malloc(size), size);

	goes(size);
	free(block);
}

#define WAY(name, work) \
	__attribute__((noinline)) static void name(uint32_t code, size_t size) \
	{ \
		work; \
		go(code, size); \
		__asm__ volatile("" ::: "memory"); /* no tail call */ \
	}

static volatile uint32_t some = 1;

static void use(void *memory)
{
	__asm__ volatile("" : : "r"(memory) : "memory");
}

WAY(way_0, (void)0)
WAY(way_1, (void)0)
WAY(way_2, char place[200]; use(place))
/* A frame of any size, found by its frame pointer. */
WAY(way_3, use(__builtin_alloca(16 * (1 + some++ % 9))))

static void go(uint32_t code, size_t size)
{
	static void (*const ways[])(uint32_t, size_t) = { way_0, way_1, way_2,
							  way_3 };

	if (code == 1)
		allocate(size);
	else
		ways[code & 3](code >> 2, size);
}

static void paths(void)
{
	uint64_t state = 88172645463325252u;

	for (int i = 0; i < PATH_ROUNDS; i++) {
		uint32_t code = path_next(&state);

		go(code, code);
	}
}

/* A known amount, for samples: 40,000 blocks of 5,000 bytes. */
static void amount(void)
{
	for (int i = 0; i < 40000; i++) {
		void *block = came(malloc(5000), 5000);

		if (i % 2) {
			goes(5000);
			free(block);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenes[] = {
		{ "family", family },
		{ "threads", threads },
		{ "many_threads", many_threads },
		{ "threads_at_exit", threads_at_exit },
		{ "signals", signals },
		{ "forks", forks },
		{ "out_of_memory", out_of_memory },
		{ "many_blocks", many_blocks },
		{ "mappings", mappings },
		{ "tags", tags },
		{ "amount", amount },
		{ "paths", paths },
	};

	if (argc < 2)
		return 9;
	if (strcmp(argv[1], "plugin") == 0 && argc > 2) {
		plugin(argv[2]);
	} else if (strcmp(argv[1], "until_killed") == 0 && argc > 2) {
		until_killed(argv[2]);
	} else {
		for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++)
			if (strcmp(argv[1], scenes[i].name) == 0)
				scenes[i].run();
	}
	say();
	return 0;
}
