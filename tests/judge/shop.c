/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders handled by two threads: price, stock, receipt. PLANT_LOCK holds the
 * lock of the stock while the price is computed, which needs no lock.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define ORDERS 3000u
#define GOODS 64u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t stock[GOODS];

static NOINLINE uint64_t compute_price(uint32_t order)
{
	uint64_t x = order + 1;

	for (int i = 0; i < 30000; i++)
		x = x * 6364136223846793005u + order;
	return x >> 40;
}

static NOINLINE void take_from_stock(uint32_t order)
{
	stock[order % GOODS]++;
}

static NOINLINE uint64_t handle_order(uint32_t order)
{
	uint64_t price;

#ifdef PLANT_LOCK
	pthread_mutex_lock(&lock);
	price = compute_price(order);
#else
	price = compute_price(order);
	pthread_mutex_lock(&lock);
#endif
	take_from_stock(order);
	pthread_mutex_unlock(&lock);
	return price;
}

static void *clerk(void *arg)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ORDERS; i++)
		sum += handle_order(i);
	*(uint64_t *)arg = sum;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	uint64_t sums[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, clerk, &sums[i]))
			return 1;
	for (int i = 0; i < 2; i++)
		(void)pthread_join(threads[i], NULL);
	printf("%llu\n", (unsigned long long)(sums[0] + sums[1]));
	return 0;
}
