/* SPDX-License-Identifier: Apache-2.0 */
/* fib(35) and 2,000 recursions 2,000 deep: 33.9 million calls. */
#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

NOINLINE static unsigned long fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOINLINE static unsigned long deep(unsigned n)
{
	return n ? deep(n - 1) + n : 0;
}

int main(int argc, char **argv)
{
	(void)argv;
	sink += fib(argc > 1 ? 20 : 35); /* any argument: a small run */
	for (int i = 0; i < 2000; i++)
		sink += deep(1999);
	return 0;
}
