/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that uses the made-up GPU of cuda_stand_in.c.
 *
 * usage: gpu_program WHAT [STEPS]
 *
 * Prints what it did, by its own count and clock, as KEY VALUE lines.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tare/step.h>
#include <tare/tare.h>

#include "cuda_stand_in.h"

#define KERNEL_NS 400000u
#define SMALL_NS 2000u
#define NAME_64K 65536u

static int (*init)(unsigned);
static __typeof__(stand_in_launch) *launch, *launch_driver;
static __typeof__(stand_in_copy) *copy;
static __typeof__(stand_in_set) *set;
static __typeof__(stand_in_wait) *wait_for_gpu;
static __typeof__(stand_in_jump) *jump;
static __typeof__(stand_in_drift) *drift;

static uint64_t kernels, copies, kernel_ns;

static void *find(void *library, const char *name)
{
	void *at = dlsym(library, name);

	if (!at) {
		(void)fprintf(stderr, "no '%s'\n", name);
		exit(1);
	}
	return at;
}

#define FIND(variable, name) \
	(*(void **)&(variable) = find(library, name))

static void load(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library) {
		(void)fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	FIND(init, "cuInit");
	FIND(launch, "stand_in_launch");
	FIND(launch_driver, "stand_in_launch_driver");
	FIND(copy, "stand_in_copy");
	FIND(set, "stand_in_set");
	FIND(wait_for_gpu, "stand_in_wait");
	FIND(jump, "stand_in_jump");
	FIND(drift, "stand_in_drift");
	(void)init(0);
}

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void sleep_ms(double ms)
{
	struct timespec wait = { .tv_sec = (time_t)(ms / 1e3) };

	wait.tv_nsec = (long)((ms - (double)wait.tv_sec * 1e3) * 1e6);
	while (nanosleep(&wait, &wait))
		;
}

static void spin_ms(double ms)
{
	int64_t until = now_ns() + (int64_t)(ms * 1e6);

	while (now_ns() < until)
		;
}

static void kernel(const char *name, uint64_t ns, uint32_t stream)
{
	kernels++;
	kernel_ns += ns;
	(void)launch(name, ns, stream);
}

static __attribute__((noinline)) void forward(void)
{
	TARE_SCOPE("forward");
	kernel("_ZN2at6native6linearIfEEvPT_i", KERNEL_NS, 0);
	kernel("_ZN2at6native4reluEPf", KERNEL_NS / 2, 0);
}

static __attribute__((noinline)) void backward(void)
{
	TARE_SCOPE("backward");
	kernel("linear_backward", KERNEL_NS, 0);
}

static void optimizer(void)
{
	TARE_SCOPE("optimizer");
	kernel("adam", KERNEL_NS / 4, 0);
}

/* What the loader, and what the program between two steps, take. */
struct shape {
	double data_sleep_ms, data_spin_ms, code_ms;
	unsigned small; /* kernels of SMALL_NS */
	bool waits, is_small;
};

/* Own measurements: of the loader, of waiting, and between launches. */
static double data_ms, wait_ms, short_ms, long_ms;

static void load_data(const struct shape *shape)
{
	int64_t from = now_ns();
	TARE_SCOPE("data");

	if (shape->data_sleep_ms > 0)
		sleep_ms(shape->data_sleep_ms);
	if (shape->data_spin_ms > 0)
		spin_ms(shape->data_spin_ms);
	data_ms += (double)(now_ns() - from) / 1e6;
}

static void step(const struct shape *shape)
{
	TARE_SCOPE("step");
	if (shape->data_sleep_ms > 0 || shape->data_spin_ms > 0)
		load_data(shape);
	copies++;
	(void)copy(1, 4096, 5000, 0, 0);
	if (!shape->is_small) {
		forward();
		backward();
		optimizer();
	}
	for (unsigned i = 0; i < shape->small; i++) {
		int64_t from = now_ns();
		double ms;

		kernel("small", SMALL_NS, 0);
		spin_ms(0.05);
		ms = (double)(now_ns() - from) / 1e6;
		*(ms < 0.2 ? &short_ms : &long_ms) += ms - SMALL_NS / 1e6;
	}
	if (shape->waits) {
		int64_t from = now_ns();

		copies++;
		(void)copy(2, 4, 2000, 0, 1);
		wait_ms += (double)(now_ns() - from) / 1e6;
	}
	if (shape->code_ms > 0)
		spin_ms(shape->code_ms);
	tare_step_named("train", 32);
}

static void train(const struct shape *shape, unsigned steps)
{
	int64_t from;

	load();
	from = now_ns();
	for (unsigned i = 0; i < steps; i++)
		step(shape);
	(void)wait_for_gpu();
	printf("steps %u\nspan_ms %.3f\ndata_ms %.3f\nwait_ms %.3f\n", steps,
	       (double)(now_ns() - from) / 1e6, data_ms, wait_ms);
	printf("short_ms %.3f\nlong_ms %.3f\n", short_ms, long_ms);
}

/* ---- bad input --------------------------------------------------------- */

static void use_long_name(unsigned steps)
{
	static char name[NAME_64K + 1];

	load();
	memset(name, 'k', NAME_64K);
	for (unsigned i = 0; i < steps; i++) {
		name[NAME_64K - 1] = (char)('a' + i % 3); /* they differ */
		kernel(name, 1000, i % 2);
	}
	kernel("", 1000, 0);
	(void)set(100, 500, 1);
	(void)launch_driver("by_driver", 1000, 2);
	kernels++;
	(void)wait_for_gpu();
}

static void run_and_die(unsigned steps)
{
	load();
	for (unsigned i = 0; i < steps; i++)
		kernel("killed", 10000, 0);
	(void)wait_for_gpu();
	printf("kernels %llu\n", (unsigned long long)kernels);
	(void)fflush(stdout);
	sleep_ms(2500); /* the recorder asks each second */
	(void)raise(SIGKILL);
}

static void let_clock_jump(unsigned steps)
{
	load();
	drift(40);
	for (unsigned i = 0; i < steps; i++) {
		kernel("before", 10000, 0);
		sleep_ms(1);
	}
	(void)wait_for_gpu();
	sleep_ms(1500);
	jump(-INT64_C(700000000));
	sleep_ms(1500);
	for (unsigned i = 0; i < steps; i++) {
		kernel("after", 10000, 0);
		sleep_ms(1);
	}
	sleep_ms(800);
}

static void let_steal(void)
{
	void (*steal)(void);
	void *library;

	load();
	kernel("mine", 1000, 0);
	library = dlopen(getenv("TARE_CUPTI"), RTLD_NOW);
	if (!library)
		exit(1);
	*(void **)&steal = find(library, "stand_in_steal");
	steal();
	for (unsigned i = 0; i < 10; i++)
		kernel("theirs", 1000, 0);
	(void)wait_for_gpu();
}

/* Turns of steps.c: kernels in scheduled steps only. */
static void schedule(unsigned steps)
{
	const tare_trace_plan plan = { .struct_size = sizeof(plan),
				       .wait = 3, .warm_up = 1, .record = 2 };
	const struct shape shape = { .small = 4 };

	if (tare_trace_schedule(&plan))
		exit(1);
	load();
	for (unsigned i = 0; i < steps; i++)
		step(&shape);
	(void)wait_for_gpu();
}

static const struct {
	const char *name;
	struct shape shape;
} shapes[] = {
	{ "loader", { .data_sleep_ms = 3 } },
	{ "item", { .waits = true } },
	{ "launch", { .small = 60, .is_small = true } },
	{ "collate", { .data_spin_ms = 3 } },
	{ "code", { .code_ms = 4, .waits = true } },
	{ "busy", { .small = 0 } },
};

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "busy";
	unsigned steps = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
	bool is_known = true;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (strcmp(shapes[i].name, what) == 0)
			train(&shapes[i].shape, steps);
	if (strcmp(what, "name") == 0)
		use_long_name(steps);
	else if (strcmp(what, "kill") == 0)
		run_and_die(steps);
	else if (strcmp(what, "jump") == 0)
		let_clock_jump(steps);
	else if (strcmp(what, "steal") == 0)
		let_steal();
	else if (strcmp(what, "schedule") == 0)
		schedule(steps);
	else
		is_known = false;
	printf("kernels %llu\ncopies %llu\nkernel_ns %llu\n",
	       (unsigned long long)kernels, (unsigned long long)copies,
	       (unsigned long long)kernel_ns);
	return is_known || data_ms > 0 || kernels ? 0 : 1;
}
