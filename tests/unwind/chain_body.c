/* SPDX-License-Identifier: Apache-2.0 */
/* CHAIN_NAME is the name of the function that this file defines. */
#include "chain.h"

#include <alloca.h>
#include <string.h>

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define LOCAL(name) PASTE(CHAIN_NAME, name)

#define NOTE() \
	(chain_at[chain_n++] = (uint64_t)(uintptr_t) \
		 __builtin_extract_return_addr(__builtin_return_address(0)))
/* Something after the call: no tail call. */
#define KEEP(x) __asm__ volatile("" : : "r"(x) : "memory")

int CHAIN_NAME(unsigned depth, chain_end end, void *arg);

/* Small and fixed. */
__attribute__((noinline)) static int LOCAL(small)(unsigned depth,
						  chain_end end, void *arg)
{
	int sum;

	NOTE();
	sum = CHAIN_NAME(depth, end, arg) + 1;
	KEEP(sum);
	chain_n--;
	return sum;
}

/* A frame that grows while it runs. */
__attribute__((noinline)) static int LOCAL(growing)(unsigned depth,
						    chain_end end, void *arg)
{
	volatile char *room;
	int sum;

	NOTE();
	room = alloca(16 + depth * 24);
	room[0] = (char)depth;
	sum = CHAIN_NAME(depth, end, arg) + room[0];
	KEEP(sum);
	chain_n--;
	return sum;
}

/* All registers that a function has to save. */
__attribute__((noinline)) static int LOCAL(saving)(unsigned depth,
						   chain_end end, void *arg)
{
	int sum;

	NOTE();
#if defined(__x86_64__)
	__asm__ volatile("" : : : "rbx", "r12", "r13", "r14", "r15");
#elif defined(__aarch64__)
	__asm__ volatile("" : : : "x19", "x20", "x21", "x22", "x23", "x24");
#endif
	sum = CHAIN_NAME(depth, end, arg) + 2;
	KEEP(sum);
	chain_n--;
	return sum;
}

/* Many pages. */
__attribute__((noinline)) static int LOCAL(large)(unsigned depth,
						  chain_end end, void *arg)
{
	volatile char room[40000];
	int sum;

	NOTE();
	room[depth] = (char)depth;
	sum = CHAIN_NAME(depth, end, arg) + room[depth];
	KEEP(sum);
	chain_n--;
	return sum;
}

/* A variable that wants more alignment than the stack has. */
__attribute__((noinline)) static int LOCAL(aligned)(unsigned depth,
						    chain_end end, void *arg)
{
	_Alignas(128) volatile char room[128];
	int sum;

	NOTE();
	room[depth % 128] = (char)depth;
	KEEP(&room[0]);
	sum = CHAIN_NAME(depth, end, arg) + room[depth % 128];
	KEEP(sum);
	chain_n--;
	return sum;
}

__attribute__((noinline, visibility("default"))) int
CHAIN_NAME(unsigned depth, chain_end end, void *arg)
{
	static int (*const kinds[])(unsigned, chain_end, void *) = {
		LOCAL(small), LOCAL(growing), LOCAL(saving), LOCAL(large),
		LOCAL(aligned),
	};
	int sum = 0;

	NOTE();
	if (depth == 0)
		end(arg);
	else
		sum = kinds[depth % 5](depth - 1, end, arg);
	KEEP(sum);
	chain_n--;
	return sum;
}
