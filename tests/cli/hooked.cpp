/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions and constructors, counted by the program. */
#include <cstdint>
#include <cstdio>
#include <stdexcept>

#define NOINLINE __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

static uint64_t n_risky, n_tries, n_guard, n_after;
static volatile uint64_t sink;

namespace shop {

struct guard {
	NOINLINE guard() { n_guard++; }
	NOINLINE ~guard() { sink = sink + 1; }
};

NOINLINE void risky(int depth)
{
	n_risky++;
	guard g;
	if (depth == 0)
		throw std::runtime_error("no");
	risky(depth - 1);
	sink = sink + 1;
}

NOINLINE void after()
{
	n_after++;
}

NOINLINE void tries(int i)
{
	n_tries++;
	try {
		risky(i % 5);
	} catch (const std::exception &) {
		after();
	}
	after();
}

} /* namespace shop */

UNSEEN int main()
{
	for (int i = 0; i < 300; i++)
		shop::tries(i);
	std::printf("shop::risky(int) %llu\nshop::tries(int) %llu\n"
		    "shop::guard::guard() %llu\nshop::after() %llu\n",
		    (unsigned long long)n_risky, (unsigned long long)n_tries,
		    (unsigned long long)n_guard, (unsigned long long)n_after);
}
