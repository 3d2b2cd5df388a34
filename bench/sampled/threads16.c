/* SPDX-License-Identifier: Apache-2.0 */
/* 16 threads that compute. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define THREADS 16
#define STEPS 180000000u

static void *compute(void *arg)
{
	uint64_t x = 1;

	for (unsigned i = 0; i < STEPS; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x ? arg : NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, compute, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
	return 0;
}
