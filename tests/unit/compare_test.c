/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons: who is the baseline, what is a repeat, figures and notes. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "read/judge.h"

#define ALL_COLUMNS 0x3ffu

static tare_comparison *c;
static const tare_compared *result;

static void begin(void)
{
	CHECK_INT(tare_comparison_new(&c), 0);
	result = NULL;
}

static void end(void)
{
	tare_comparison_free(c);
	c = NULL;
}

/* A run of so many equal epochs. */
static void add(const char *config, uint32_t workers, size_t epochs,
		double seconds)
{
	tare_run_row *rows = calloc(epochs + 1, sizeof(*rows));
	tare_compare_source source = {
		.struct_size = sizeof(source), .config = config,
		.workers = workers, .rows = rows, .n_rows = epochs,
		.columns = ALL_COLUMNS, .comm_share = NAN,
	};

	for (size_t i = 0; rows && i < epochs; i++)
		rows[i] = (tare_run_row){
			.epoch = i + 1, .total_time = seconds,
			.forward_time = seconds / 2,
			.backward_time = seconds / 4,
			.comm_time = workers > 1 ? seconds / 8 : 0,
			.update_time = seconds / 8,
			.loss = 1. / (double)(i + 1),
			.train_acc = 0.5, .val_f1 = (double)i / 10,
			.test_f1 = 0.25, .peak_memory_mb = (double)(i + 10),
		};
	CHECK_INT(tare_comparison_add(c, &source), 0);
	free(rows);
}

static bool compare_with(const tare_compare_options *options)
{
	return CHECK_INT(tare_compare(c, options, &result), 0);
}

static bool has_note(const char *part)
{
	for (size_t i = 0; i < result->n_notes; i++)
		if (strstr(result->notes[i], part))
			return true;
	return false;
}

TEST(speedup_is_the_baselines_time_by_the_others)
{
	begin();
	add("mpi_4", 4, 10, 0.5);
	add("sequential", 1, 10, 1);
	if (compare_with(NULL)) {
		const tare_compared_config *mpi = &result->configs[1];

		CHECK_STR(result->configs[result->baseline].name,
			  "sequential");
		CHECK_STR(mpi->name, "mpi_4");
		CHECK_STR(mpi->family, "mpi");
		CHECK_NEAR(mpi->speedup.mean, 2, 1e-12);
		CHECK_NEAR(mpi->efficiency.mean, 0.5, 1e-12);
		/* (1/2 - 1/4) / (1 - 1/4) */
		CHECK_NEAR(mpi->serial.mean, 1. / 3, 1e-12);
		CHECK_NEAR(mpi->comm_share.mean, 0.125, 1e-12);
		CHECK(isnan(mpi->speedup.low));
		CHECK(isnan(result->configs[0].serial.mean));
		CHECK_INT(result->n_fits, 1);
		CHECK_NEAR(result->fits[0].serial, 1. / 3, 1e-12);
		CHECK(isnan(result->fits[0].error));
		CHECK_NEAR(result->fits[0].most, 3, 1e-9);
		CHECK(strstr(result->summary, "2.00 x as fast"));
	}
	end();
}

TEST(speedup_and_cost_of_communication_are_functions)
{
	CHECK_NEAR(tare_speedup(12, 4), 3, 0);
	CHECK_NEAR(tare_speedup(1, 2), 0.5, 0);
	CHECK(isnan(tare_speedup(1, 0)) && isnan(tare_speedup(0, 1)));
	CHECK(isnan(tare_speedup(NAN, 1)) && isnan(tare_speedup(1, -1)));
	CHECK(isnan(tare_speedup(HUGE_VAL, 1)));
	CHECK_NEAR(tare_communication_cost(0.39, 1), 39, 1e-12);
	CHECK_NEAR(tare_communication_cost(0, 2), 0, 0);
	CHECK(isnan(tare_communication_cost(1, 0)));
	CHECK(isnan(tare_communication_cost(NAN, 1)));
	CHECK(isnan(tare_communication_cost(-1, 1)));
}

TEST(an_exact_law_is_found_without_an_error)
{
	begin();
	add("sequential", 1, 3, 1);
	for (unsigned p = 2; p <= 16; p *= 2) {
		char name[16];

		(void)snprintf(name, sizeof(name), "spark_%u", p);
		add(name, 0, 3, 0.1 + 0.9 / p);
	}
	if (compare_with(NULL)) {
		CHECK_INT(result->n_fits, 1);
		CHECK_INT(result->fits[0].n_points, 4);
		CHECK_NEAR(result->fits[0].serial, 0.1, 1e-12);
		CHECK_NEAR(result->fits[0].error, 0, 1e-12);
		CHECK_NEAR(result->fits[0].residual, 0, 1e-12);
		CHECK_NEAR(result->fits[0].most, 10, 1e-9);
		CHECK_INT(result->configs[4].workers, 16);
	}
	end();
}

TEST(repeats_have_an_interval)
{
	begin();
	for (int i = 0; i < 3; i++) {
		add("sequential", 1, 1, 10 + i);
		add("mpi_2", 2, 1, 5 + i);
	}
	if (compare_with(NULL)) {
		const tare_estimate *time =
			&result->configs[0].time[TARE_TIME_TOTAL];

		CHECK_INT(result->n_configs, 2);
		CHECK_INT(result->configs[0].n_runs, 3);
		CHECK_NEAR(time->mean, 11, 1e-12);
		/* t of 2 degrees x 1 / root 3 */
		CHECK_NEAR(time->high - 11, 4.302652729749464 / sqrt(3), 1e-9);
		CHECK_NEAR(result->configs[1].speedup.mean, 11. / 6, 1e-12);
		CHECK(result->configs[1].speedup.low > 1);
		CHECK(result->configs[1].serial.low <
		      result->configs[1].serial.high);
		CHECK(isnan(result->configs[0].speedup.low));
	}
	end();
}

TEST(the_baseline_can_be_chosen_and_else_has_fewest_workers)
{
	tare_compare_options options = { .struct_size = sizeof(options) };

	begin();
	add("mpi_4", 4, 2, 1);
	add("mpi_2", 2, 2, 2);
	if (compare_with(NULL)) {
		CHECK_STR(result->configs[result->baseline].name, "mpi_2");
		/* Twice the workers, twice the speed. */
		CHECK_NEAR(result->configs[1].efficiency.mean, 1, 1e-12);
		CHECK_NEAR(result->configs[1].serial.mean, 0, 1e-12);
		CHECK(has_note("has 2 workers"));
	}
	options.baseline = "mpi_4";
	if (compare_with(&options)) {
		CHECK_STR(result->configs[result->baseline].name, "mpi_4");
		CHECK_NEAR(result->configs[0].speedup.mean, 0.5, 1e-12);
	}
	options.baseline = "nobody";
	CHECK_INT(tare_compare(c, &options, &result), TARE_ENOENT);
	end();
}

TEST(other_numbers_of_epochs_are_compared_by_epoch)
{
	tare_compare_options options = { .struct_size = sizeof(options) };

	begin();
	add("sequential", 1, 100, 1);
	add("mpi_2", 2, 10, 0.5);
	if (compare_with(NULL)) {
		CHECK_INT(result->by, TARE_COMPARE_BY_EPOCH);
		CHECK_NEAR(result->configs[1].speedup.mean, 2, 1e-12);
		CHECK_NEAR(result->configs[1].speedup_of[TARE_TIME_TOTAL].mean,
			   20, 1e-9);
		CHECK(has_note("compared per epoch"));
	}
	options.by = TARE_COMPARE_BY_TOTAL;
	if (compare_with(&options)) {
		CHECK_NEAR(result->configs[1].speedup.mean, 20, 1e-9);
		CHECK(has_note("not of the same work"));
	}
	end();
}

TEST(targets_are_reached_between_two_epochs)
{
	tare_compare_options options = { .struct_size = sizeof(options),
					 .target_loss = 0.4,
					 .target_f1 = 0.15 };

	begin();
	add("sequential", 1, 10, 1);
	add("mpi_2", 2, 1, 1);
	if (compare_with(&options)) {
		/* Losses 1, 1/2, 1/3: 0.4 is 0.6 of the way to the third. */
		CHECK_NEAR(result->configs[0].to_loss.mean, 2.6, 1e-12);
		CHECK_NEAR(result->configs[0].to_f1.mean, 2.5, 1e-12);
		CHECK(isnan(result->configs[1].to_loss.mean));
		CHECK_INT(result->configs[1].to_loss.n, 0);
		CHECK(has_note("not reached by mpi_2"));
	}
	end();
}

TEST(no_time_is_no_speedup)
{
	begin();
	add("sequential", 1, 3, 0);
	add("mpi_2", 2, 3, 1);
	if (compare_with(NULL)) {
		CHECK(isnan(result->configs[1].speedup.mean));
		CHECK(!result->has_common);
		CHECK_INT(result->n_fits, 0);
		CHECK(has_note("nothing in common"));
		CHECK(has_note("sequential has no time"));
	}
	end();
}

TEST(one_configuration_is_a_table_without_speedup)
{
	begin();
	add("sequential", 1, 3, 1);
	if (compare_with(NULL)) {
		CHECK_INT(result->n_configs, 1);
		CHECK_NEAR(result->configs[0].time[TARE_TIME_TOTAL].mean, 3,
			   1e-12);
		CHECK(strstr(result->summary, "nothing to compare it with"));
		CHECK_INT(result->n_notes, 0);
	}
	end();
	begin();
	CHECK_INT(tare_compare(c, NULL, &result), TARE_ENOENT);
	end();
}

TEST(one_name_on_several_workers_is_a_family)
{
	begin();
	add("gcn", 1, 3, 1);
	add("gcn", 2, 3, 0.6);
	add("gcn", 4, 3, 0.4);
	if (compare_with(NULL)) {
		CHECK_INT(result->n_configs, 3);
		CHECK_STR(result->configs[1].name, "gcn (2)");
		CHECK_INT(result->n_fits, 1);
		CHECK_INT(result->fits[0].n_points, 2);
		CHECK_STR(result->fits[0].family, "gcn");
	}
	end();
}

TEST(missing_columns_are_not_known)
{
	tare_run_row row = { .epoch = 1, .total_time = 2, .loss = 5 };
	tare_compare_source source = { .struct_size = sizeof(source),
				       .config = "x", .rows = &row,
				       .n_rows = 1, .columns = 1,
				       .comm_share = NAN };

	begin();
	CHECK_INT(tare_comparison_add(c, &source), 0);
	if (compare_with(NULL)) {
		CHECK(isnan(result->configs[0].loss.mean));
		CHECK(isnan(result->configs[0].comm_share.mean));
		CHECK(isnan(result->configs[0].time[TARE_TIME_OTHER].mean));
		CHECK_NEAR(result->configs[0].time[TARE_TIME_EPOCH].mean, 2,
			   0);
	}
	end();
}

TEST(bad_arguments_are_refused)
{
	tare_compare_source source = { .struct_size = 1, .config = "x" };
	tare_compare_options options = { .struct_size = sizeof(options),
					 .by = 99 };
	char text[1];

	begin();
	CHECK_INT(tare_comparison_add(c, &source), TARE_EINVAL);
	CHECK_INT(tare_comparison_add(c, NULL), TARE_EINVAL);
	CHECK_INT(tare_comparison_add_file(c, NULL, NULL), TARE_EINVAL);
	CHECK_INT(tare_comparison_add_file(c, "/no/such", NULL), TARE_ENOENT);
	CHECK_INT(tare_comparison_add_view(c, NULL), TARE_EINVAL);
	add("x", 1, 1, 1);
	CHECK_INT(tare_compare(c, &options, &result), TARE_EINVAL);
	/* Nothing is written before it is compared. */
	CHECK_INT(tare_comparison_write(c, TARE_COMPARED_CSV,
					(tare_write_fn)0, text), TARE_EINVAL);
	end();
	tare_comparison_free(NULL);
}
