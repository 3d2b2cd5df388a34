#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Threads that are shorter than the time between two samples.
. "$(dirname "$0")/expect.sh"

# SERIAL ms in the first thread, then LEFT threads of 0.5 ms and RIGHT of 2.5.
cat >threads.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static volatile double sink;

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void burn(double ms)
{
	double until = cpu_ms() + ms, x = 0;

	while (cpu_ms() < until)
		for (int i = 1; i < 20000; i++)
			x += 1.0 / i;
	sink = x;
}

__attribute__((noinline)) void serial(double ms)
{
	burn(ms);
	sink = ms;
}

__attribute__((noinline)) void *left(void *arg)
{
	burn(.5);
	sink = 1;
	return arg;
}

__attribute__((noinline)) void *right(void *arg)
{
	burn(2.5);
	sink = 1;
	return arg;
}

int main(int argc, char **argv)
{
	int n[2] = { atoi(argv[2]), atoi(argv[3]) };
	pthread_t thread;

	(void)argc;
	serial(atoi(argv[1]));
	for (int i = 0; i < n[0] || i < n[1] * 5; i++) {
		pthread_create(&thread, NULL, left, NULL);
		pthread_join(thread, NULL);
		if (i % 5 || i >= n[1] * 5)
			continue;
		pthread_create(&thread, NULL, right, NULL);
		pthread_join(thread, NULL);
	}
	return 0;
}
END
$CC -g -O1 -o threads threads.c -pthread

# Shares of all CPU time of the process; FUNCTION's total.
total() {
	echo "next((f['total_ns']
		for f in d['report']['samples']['functions']
		if f['function'] == '$1'), 0) /
		d['report']['samples']['cpu_ns']"
}

# All of the time is in functions, or said to be in none.
expect_whole() {
	expect_json "$(cat run.json)" \
		"abs(sum(f['own_ns']
		for f in d['report']['samples']['functions']) -
		d['report']['samples']['weight_ns']) < 1e6" True \
		"$1: the functions have all of the samples' time"
	expect_json "$(cat run.json)" \
		"0 <= 1 - (d['report']['samples']['weight_ns'] +
		d['report']['samples']['short_ns']) /
		d['report']['samples']['cpu_ns'] < .15" True \
		"$1: the rest is that of threads without a sample"
}

for rate in 250 1000; do
	expect_status 0 "$TARE" run --rate $rate --json=run.json -- \
		./threads 60 600 60
	expect_whole "$rate Hz"
	expect_json "$(cat run.json)" ".06 < $(total serial) < .25" True \
		"$rate Hz: 60 of 510 ms are the first thread's"
	expect_json "$(cat run.json)" \
		".35 < $(total left) < .75 and .15 < $(total right) < .45" \
		True "$rate Hz: 300 ms of threads of 0.5 ms, 150 of 2.5"
	expect_status 0 "$TARE" report
	expect_has "$out" "left  threads.c" "$rate Hz: the short report"
done

# Without a sample, a row tells it, and what to type. One of 40 such
# runs has a sample of a thread; ten of them in a row do not.
for try in {1..10}; do
	expect_status 0 "$TARE" run --rate 1 --json=run.json -- \
		./threads 60 50 0
	grep -q "not measured: threads" <<<"$err" && break
done
expect_whole "1 Hz"
expect_has "$err" "[not measured: threads that ended before a sample]" \
	"a row has the time"
expect_has "$err" "--rate 4000' takes more" "and what to type"
expect_status 0 "$TARE" report functions
expect_has "$out" "[not measured: threads that ended before a sample]" \
	"tare report functions: the same row"
finish
