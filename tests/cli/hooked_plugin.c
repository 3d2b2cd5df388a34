/* SPDX-License-Identifier: Apache-2.0 */
/* To be built with -finstrument-functions, loaded and unloaded. */
#include <stdint.h>

uint64_t plugin_work(unsigned n);

__attribute__((noinline)) static uint64_t plugin_step(uint64_t x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 7 + 1;
}

uint64_t plugin_work(unsigned n)
{
	uint64_t x = n;

	while (n--)
		x = plugin_step(x);
	return x;
}
