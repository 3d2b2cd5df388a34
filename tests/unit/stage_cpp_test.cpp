/* SPDX-License-Identifier: Apache-2.0 */
/* Stages in C++: macros, callables, ranges; exceptions that leave them. */
#define TARE_PIPELINE "cpp"

#include <tare/read/pipeline.h>
#include <tare/tare.h>

#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
#include "check.h"
#include "scene.h"
}

static const int64_t ms = 1000000;

static void start()
{
	static const char *const options[] = { nullptr };

	scene_clock();
	scene_start(options);
	scene_pass_ns(ms);
}

/* Rows of all pipelines, and the view that their names are in. */
struct stages : std::vector<tare_stage_stats> {
	tare_view *view = scene_view();

	stages()
	{
		const tare_pipeline *lines = nullptr;
		size_t n = 0;

		CHECK_INT(tare_view_pipelines(view, 0, &lines, &n), 0);
		for (size_t i = 0; i < n; i++)
			insert(end(), lines[i].stages,
			       lines[i].stages + lines[i].n_stages);
	}
	stages(const stages &) = delete;
	stages &operator=(const stages &) = delete;
	~stages()
	{
		tare_view_close(view);
	}
};

static stages stages_now()
{
	return stages();
}

static void check_stage(const std::vector<tare_stage_stats> &rows,
			const char *name, uint64_t in, uint64_t out,
			uint64_t failures, double own_ms)
{
	for (const tare_stage_stats &s : rows) {
		if (std::strcmp(s.name, name) != 0)
			continue;
		CHECK_INT(s.in, in);
		CHECK_INT(s.out, out);
		CHECK_INT(s.failures, failures);
		CHECK_NEAR(s.own_ns, own_ms * 1e6, 1000);
		return;
	}
	CHECK_STR("no such stage", name);
}

/* ---- macros ------------------------------------------------------------ */

static bool parse(const std::string &text)
{
	TARE_STAGE("parse");
	scene_pass_ns(ms);
	return TARE_STAGE_PASS(std::stoi(text) >= 0);
}

static void play_macros()
{
	int failed = 0;

	start();
	for (const char *text : { "1", "-2", "x", "3" }) {
		try {
			(void)parse(text);
		} catch (const std::invalid_argument &) {
			failed++;
		}
	}
	CHECK_INT(failed, 1);
	check_stage(stages_now(), "parse", 4, 2, 1, 4);
}

TEST(an_exception_fails_a_stage_and_drops_its_record)
{
	scene_play(play_macros);
}

/* ---- callables --------------------------------------------------------- */

static void play_push()
{
	int sum = 0;

	start();
	auto add = tare::push_stage("add", [&](int x) {
		scene_pass_ns(2 * ms);
		sum += x;
	});
	auto keep = tare::push_stage("keep", [&](int x) {
		scene_pass_ns(ms);
		if (x == 9)
			throw std::runtime_error("nine");
		if (x % 2 == 0)
			add(x);
		return x % 2 == 0;
	});
	for (int i = 0; i < 10; i++) {
		try {
			CHECK_INT(keep(i), i % 2 == 0);
		} catch (const std::runtime_error &) {
			CHECK_INT(i, 9);
		}
	}
	CHECK_INT(sum, 20);
	auto rows = stages_now();
	check_stage(rows, "keep", 10, 5, 1, 10);
	check_stage(rows, "add", 5, 5, 0, 10);
}

TEST(callables_are_called_as_stages)
{
	scene_play(play_push);
}

static void play_pull()
{
	int n = 0, seen = 0;

	start();
	auto next = tare::pull_stage("count", [&]() -> std::optional<int> {
		scene_pass_ns(ms);
		if (n == 6)
			return std::nullopt;
		return n++;
	});
	auto odd = tare::pull_stage("odd", [&]() -> std::optional<int> {
		while (auto x = next()) {
			scene_pass_ns(ms);
			if (*x % 2)
				return x;
		}
		return std::nullopt;
	});
	while (auto x = odd()) {
		CHECK_INT(*x % 2, 1);
		seen++;
	}
	CHECK_INT(seen, 3);
	auto rows = stages_now();
	check_stage(rows, "count", 0, 6, 0, 7);
	check_stage(rows, "odd", 6, 3, 0, 6);
	/* A value that is 0 is a record, too. */
	auto zero = tare::push_stage("zero", [](int x) { return x * 0; });
	CHECK_INT(zero(5), 0);
	check_stage(stages_now(), "zero", 1, 1, 0, 0);
}

TEST(callables_are_asked_as_stages)
{
	scene_play(play_pull);
}

/* ---- ranges ------------------------------------------------------------ */

static void play_range()
{
	std::vector<int> numbers{ 1, 2, 3, 4 };
	int sum = 0;

	start();
	auto range = tare::pulled("numbers", numbers, "cpp");
	for (int &x : range) {
		scene_pass_ns(3 * ms);
		sum += x;
		x = 0;
	}
	CHECK_INT(sum, 10);
	CHECK_INT(numbers[3], 0);
	auto rows = stages_now();
	check_stage(rows, "numbers", 0, 4, 0, 0);
	CHECK_NEAR(rows[0].downstream_ns, 12e6, 1e5);
}

TEST(a_range_is_a_stage)
{
	scene_play(play_range);
}
