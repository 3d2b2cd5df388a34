/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A C++ program whose stacks have about 60 frames, through virtual calls and
 * closures. It computes at the bottom of them and, for a short time each, on
 * the way there, so that its samples have many different stacks.
 */
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace {

std::uint64_t compute(std::uint64_t x, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		x = x * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

struct Node {
	virtual ~Node() = default;
	virtual std::uint64_t run(std::uint64_t x) const = 0;
};

struct Leaf : Node {
	std::uint64_t run(std::uint64_t x) const override
	{
		return compute(x, 50000);
	}
};

/* Three frames: run(), the invoker of std::function, the closure's body. */
struct Step : Node {
	explicit Step(std::unique_ptr<Node> n) : next(std::move(n)) {}

	std::uint64_t run(std::uint64_t x) const override
	{
		std::function<std::uint64_t()> call = [this, x] {
			return body(x) + 1;
		};

		return call() + 1;
	}

	__attribute__((noinline)) std::uint64_t body(std::uint64_t x) const
	{
		return next->run(compute(x, 1000)) + 1;
	}

	std::unique_ptr<Node> next;
};

} /* namespace */

int main()
{
	std::unique_ptr<Node> top = std::make_unique<Leaf>();
	std::uint64_t sum = 0;

	for (int i = 0; i < 20; i++)
		top = std::make_unique<Step>(std::move(top));
	for (int i = 0; i < 40000; i++)
		sum += top->run(sum | 1);
	return sum == 0;
}
