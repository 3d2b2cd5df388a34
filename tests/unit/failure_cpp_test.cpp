/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a failure says when an exception leaves a scope: its own words, of
 * whatever class it is, whichever way it was thrown.
 */
#include <tare/tare.h>
#include <tare/read/view.h>

#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

extern "C" {
#include "check.h"
#include "scene.h"
}

struct own_error : std::logic_error {
	using std::logic_error::logic_error;
};

struct cargo {
	virtual ~cargo() = default;
	int weight = 1;
};

/* Not at the beginning of the object, and by a virtual base. */
struct mixed_error : cargo, virtual std::runtime_error {
	mixed_error() : std::runtime_error("mixed")
	{
	}
};

struct virtual_error : virtual std::exception {
	const char *what() const noexcept override
	{
		return "by a virtual base";
	}
};

struct hidden_error : private std::exception {
};

template <typename T> static void fail(const T &thrown)
{
	try {
		TARE_OPERATION("thrown");
		throw thrown;
	} catch (...) {
	}
}

/* The records say these, one after the other. */
static void expect(const char *const *wanted, size_t n_wanted)
{
	tare_view *view = scene_view();
	const tare_record *records = nullptr;
	size_t n = 0;

	CHECK_INT(tare_view_records(view, nullptr, &records, &n), 0);
	CHECK_INT(n, n_wanted);
	for (size_t i = 0; i < n && i < n_wanted; i++)
		CHECK_STR(records[i].error, wanted[i]);
	tare_view_close(view);
}

#define EXPECT(wanted) expect(wanted, sizeof(wanted) / sizeof(wanted[0]))

static const char *const none[] = { nullptr };

static void play_classes()
{
	static const char *const wanted[] = {
		"no such photo", "own words", "mixed", "by a virtual base",
		"hidden_error", "int", "double", "just a text",
	};

	scene_start(none);
	fail(std::runtime_error("no such photo"));
	fail(own_error("own words"));
	fail(mixed_error());
	fail(virtual_error());
	fail(hidden_error());
	fail(7);
	fail(1.5);
	fail<const char *>("just a text");
	EXPECT(wanted);
}

TEST(a_failure_says_what_the_exception_says)
{
	scene_play(play_classes);
}

/* Throws and catches one of its own while another one is under way. */
struct restless {
	~restless()
	{
		try {
			TARE_OPERATION("inside");
			throw std::runtime_error("of a destructor");
		} catch (...) {
		}
	}
};

static void rethrow()
{
	TARE_OPERATION("outer");
	try {
		TARE_OPERATION("inner");
		throw std::runtime_error("twice");
	} catch (...) {
		throw;
	}
}

static void nest()
{
	TARE_OPERATION("nested");
	try {
		throw std::runtime_error("cause");
	} catch (...) {
		std::throw_with_nested(std::logic_error("effect"));
	}
}

static void carry()
{
	TARE_OPERATION("carried");
	std::rethrow_exception(
		std::make_exception_ptr(std::range_error("by a pointer")));
}

static void overlap()
{
	TARE_OPERATION("around");
	restless inside;
	throw own_error("around it");
}

static void exact()
{
	TARE_SCOPE("scope");
	throw own_error("of a scope");
}

static void try_all(void (*const *calls)(), size_t n)
{
	for (size_t i = 0; i < n; i++) {
		try {
			calls[i]();
			CHECK(false);
		} catch (...) {
		}
	}
}

static void play_ways()
{
	static void (*const calls[])() = { rethrow, nest, carry, overlap,
					   exact };
	static const char *const wanted[] = {
		"twice", "twice", "effect", "by a pointer",
		"around it", "of a destructor", "of a scope",
	};

	scene_start(none);
	try_all(calls, sizeof(calls) / sizeof(calls[0]));
	EXPECT(wanted);
}

TEST(whichever_way_it_is_thrown)
{
	scene_play(play_ways);
}

/* Caught inside, it is no failure of the scope around it. */
static void play_caught()
{
	static const char *const wanted[] = { "", "int" };

	scene_start(none);
	{
		TARE_OPERATION("calm");
		try {
			throw std::runtime_error("caught");
		} catch (...) {
		}
	}
	fail(1);
	EXPECT(wanted);
}

TEST(one_that_is_caught_inside_is_no_failure)
{
	scene_play(play_caught);
}
