/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What measuring a training costs: an epoch with six phases, four values and
 * its samples, in us; the minimum of many short samples.
 *
 *	all	CSV file, events and ledger
 *	csv	only the CSV file, measuring off
 *	ledger	only the ledger
 *	off	none of them: only breakdown and times
 *
 * And `share`, in %: what it adds to an epoch of the sequential GCN of
 * examples/gcn, see training_share.c; on Cora, if TARE_CORA is its folder,
 * else on a generated graph of its size.
 */

#include <tare/tare.h>

#include "bench.h"
#include "training.h"

static tare_training *training;

static void epoch(uint64_t number)
{
	static const char *const names[] = { "forward", "communication",
					     "backward", "communication",
					     "update", "clip" };
	double x = bench_random[number % 65536] / 65536.;

	(void)tare_epoch_begin(training);
	for (unsigned i = 0; i < 6; i++) {
		TARE_PHASE(training, names[i]);
		BENCH_OPAQUE(i);
	}
	tare_training_samples(training, 2708);
	(void)tare_training_value(training, "loss", 1 / (x + 1));
	(void)tare_training_value(training, "train_acc", x);
	(void)tare_training_value(training, "val_f1", x / 3);
	(void)tare_training_value(training, "test_f1", x / 7);
	(void)tare_epoch_end(training, NULL);
}

static void epochs(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		epoch(i);
}

static void measure(const char *name, const char *results, const char *events)
{
	tare_training_options options = { .struct_size = sizeof(options),
					  .results = results,
					  .events = events };
	struct bench_case cases[] = {
		{ name, epochs, 50, 0 },
		{ BENCH_PAIR, bench_pair, 0, 0 },
	};

	if (tare_training_open(&options, &training))
		bench_fail(name, "cannot be opened");
	bench_run(cases, 2, bench_is_quick() ? 100 : 1000);
	bench_report(name, cases[0].best_ns / 1e3, "us",
		     cases[0].best_ns / cases[1].best_ns, BENCH_PAIR);
	if (tare_training_close(training))
		bench_fail(name, "was not written");
}

static void run_all(void)
{
	measure("all", bench_dir(), bench_dir());
}

static void run_csv(void)
{
	measure("csv", bench_dir(), "");
}

static void run_ledger(void)
{
	measure("ledger", "", "");
}

static void run_off(void)
{
	measure("off", "", "");
}

/* In a tight loop the governor would reduce measuring. */
#define NOT_GOVERNED "TARE_AUTO_DISABLE_ON_SLOW=false"

const struct bench_part bench_parts[] = {
	{ "all", run_all, { "TARE=on", NOT_GOVERNED, NULL } },
	{ "csv", run_csv, { "TARE=0", NULL } },
	{ "ledger", run_ledger, { "TARE=on", NOT_GOVERNED, NULL } },
	{ "off", run_off, { "TARE=0", NULL } },
	{ "share", bench_training_share, { "TARE=on", NULL } },
	{ NULL, NULL, { NULL } },
};
