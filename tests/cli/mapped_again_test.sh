#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Code of a file that the program maps itself, as Node does with its built-in
# functions: the dynamic linker does not know that part.
. "$(dirname "$0")/expect.sh"
needs_names

cat >again.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* It calls nothing and uses no data: it runs anywhere. */
__attribute__((noinline, aligned(4096))) long copied(long n)
{
	volatile long x = 1;

	for (long i = 0; i < n; i++)
		x = x * 3 + i;
	return x;
}

static long offset; /* of copied(), in the file */

static int find(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t at = (uint64_t)(uintptr_t)copied - info->dlpi_addr;

	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && at >= p->p_vaddr &&
		    at < p->p_vaddr + p->p_filesz)
			offset = (long)(at - p->p_vaddr + p->p_offset);
	}
	return 1;
}

int main(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	long (*call)(long), n = 0;
	void *at;

	dl_iterate_phdr(find, NULL);
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, offset);
	if (at == MAP_FAILED)
		return 1;
	*(void **)(void *)&call = at;
	for (int i = 0; i < 60; i++)
		n += call(3000000);
	return n == 1;
}
END
$CC -g -O1 -o again again.c

expect_status 0 "$TARE" run --json=run.json -- ./again
expect_json "$(cat run.json)" "sum(f['own_ns']
	for f in d['report']['samples']['functions']
	if f['function'] == 'copied') > .8 *
	d['report']['samples']['weight_ns']" True \
	"samples in the second mapping have the function's name"
expect_has_not "$err" "unknown" "and no code is unknown"
finish
