/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounting: produced = stored + aggregated + lost + cleared, whatever a
 * program does with its probes and however tight its limits are. A model of
 * the stack of open scopes says what must be repaired and what was ended in
 * vain.
 */
#include "scratch.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"

#define THREADS 4u
#define STEPS 400000u
#define MOST_OPEN 40u
#define NAMES 8u
#define EXTRA_NAMES 300u /* more than there is room for */

/* What a thread asked of the library, and what must have come of it. */
struct produced {
	_Alignas(64) uint64_t scopes; /* begun, and durations */
	uint64_t refused;	      /* of these, begun without a frame */
	uint64_t failed, items, records;
	uint64_t values, gauges, counts, parts, wholes;
	uint64_t repairs, strays;
};

struct shared {
	struct produced of[THREADS];
	void *given[THREADS]; /* a frame of another thread, to be ended */
	uint32_t quiet; /* threads that wait at the half */
	uint32_t go_on;
	char path[512];
};

static struct shared *shared;

struct frame {
	tare_scope scope;
	bool noted, failed;
};

/* A thread of the test, with the library's stack as it should be. */
struct model {
	struct produced *done;
	uint64_t random;
	unsigned index, open;
	struct frame stack[MOST_OPEN + 8];
	tare_scope stale;
};

static unsigned roll(struct model *m, unsigned n)
{
	return (unsigned)(scratch_random(&m->random) >> 33) % n;
}

/* Mostly one of a few names, now and then one of many. */
static tare_site *any_site(struct model *m, enum tare_kind kind)
{
	char name[32];

	if (roll(m, 40))
		(void)snprintf(name, sizeof(name), "name.%u", roll(m, NAMES));
	else
		(void)snprintf(name, sizeof(name), "extra.%u",
			       roll(m, EXTRA_NAMES));
	return tare_site_get(kind, TARE_TYPE_CUSTOM, name, NULL, NULL);
}

/* ---- scopes ------------------------------------------------------------ */

static void push(struct model *m, tare_scope scope)
{
	m->done->scopes++;
	if (scope.frame)
		m->stack[m->open++] = (struct frame){ scope, false, false };
	else
		m->done->refused++;
}

/* Ends what has this handle, and repairs what lies above it. */
static void end(struct model *m, tare_scope scope)
{
	unsigned at = m->open;

	if (roll(m, 2))
		tare_scope_end(scope);
	else
		tare_scope_end_exact(scope);
	if (!scope.frame)
		return;
	while (at > 0 && m->stack[at - 1].scope.frame != scope.frame)
		at--;
	if (at == 0) {
		m->done->strays++;
		return;
	}
	m->done->repairs += m->open - at;
	m->done->failed += m->stack[at - 1].failed;
	m->done->records += m->stack[at - 1].noted;
	m->stale = scope;
	m->open = at - 1;
}

static void begin(struct model *m)
{
	if (m->open < MOST_OPEN)
		push(m, tare_scope_begin(any_site(m, TARE_KIND_SCOPE)));
}

static void end_any(struct model *m)
{
	if (m->open)
		end(m, m->stack[roll(m, 8) ? m->open - 1 :
					     roll(m, m->open)].scope);
}

static void end_all(struct model *m)
{
	if (m->open)
		end(m, m->stack[0].scope);
}

/* A handle that was ended before; its place may be taken by another. */
static void end_again(struct model *m)
{
	if (m->stale.frame)
		end(m, m->stale);
}

static int leave_early(struct model *m, bool early)
{
	/* clang-format off */
	TARE_SCOPE_AS(one, "line.one"); TARE_SCOPE_AS(two, "line.two");
	/* clang-format on */

	m->done->scopes += 2;
	m->done->refused += !one.frame + !two.frame;
	if (early)
		return 1;
	{
		TARE_SCOPE_AS(three, "line.three");
		m->done->scopes++;
		m->done->refused += !three.frame;
	}
	return 0;
}

static void recurse(struct model *m, unsigned depth)
{
	TARE_SCOPE_AS(level, "deep");

	m->done->scopes++;
	m->done->refused += !level.frame;
	if (depth)
		recurse(m, depth - 1);
}

/* Out of two scopes that nobody ends: the next end below repairs them. */
static __attribute__((noinline)) void jump(struct model *m, jmp_buf *to)
{
	TARE_SCOPE_AS(one, "jump.one");
	TARE_SCOPE_AS(two, "jump.two");

	push(m, one);
	push(m, two);
	longjmp(*to, 1);
}

static __attribute__((noinline)) void jump_over(struct model *m)
{
	jmp_buf to;

	if (m->open < MOST_OPEN && setjmp(to) == 0)
		jump(m, &to);
}

/* ---- other threads, fibers --------------------------------------------- */

static void give_away(struct model *m)
{
	void *frame = m->open ? m->stack[roll(m, m->open)].scope.frame : NULL;

	if (frame)
		__atomic_store_n(&shared->given[(m->index + 1) % THREADS],
				 frame, __ATOMIC_RELEASE);
}

static void end_given(struct model *m)
{
	void *frame = __atomic_exchange_n(&shared->given[m->index], NULL,
					  __ATOMIC_ACQ_REL);

	if (frame)
		end(m, (tare_scope){ frame });
}

static void step(struct model *m);

static void switch_fiber(struct model *m)
{
	struct frame saved[MOST_OPEN + 8];
	unsigned open = m->open;
	tare_fiber fiber;

	memcpy(saved, m->stack, sizeof(saved));
	tare_fiber_save(&fiber);
	m->open = 0;
	for (unsigned i = roll(m, 20); i > 0; i--)
		step(m);
	if (roll(m, 4))
		end_all(m);
	/* With nothing to put back, what is open stays open. */
	tare_fiber_restore(&fiber);
	if (!open)
		return;
	m->done->repairs += m->open;
	m->open = open;
	memcpy(m->stack, saved, sizeof(saved));
}

/* ---- all the rest ------------------------------------------------------ */

static void note(struct model *m)
{
	static const char text[] = "a text that takes its place on the stage "
				   "until there is none left for more of it";

	if (!m->open)
		return;
	m->stack[m->open - 1].noted = true;
	switch (roll(m, 4)) {
	case 0:
		tare_fail("did not work");
		m->stack[m->open - 1].failed = true;
		break;
	case 1:
		tare_attr_int("int", (int64_t)m->random);
		break;
	case 2:
		tare_attr_double("double", 1.5);
		break;
	default:
		tare_attr_str("text", text);
	}
}

static void count_items(struct model *m)
{
	tare_items(3);
	m->done->items += m->open ? 3 : 0;
}

static void observe(struct model *m)
{
	static const double special[] = { 0, -1, -2.5, NAN, INFINITY, 1e300,
					  5e-324, -1e-300 };
	double value = roll(m, 4) ? roll(m, 1000) : special[roll(m, 8)];

	if (roll(m, 4)) {
		tare_value_observe(any_site(m, TARE_KIND_VALUE), value);
		m->done->values++;
	} else {
		tare_gauge_set(any_site(m, TARE_KIND_GAUGE), value);
		m->done->gauges++;
	}
}

static void count(struct model *m)
{
	if (roll(m, 4)) {
		tare_counter_add(any_site(m, TARE_KIND_COUNTER), 3);
		m->done->counts += 3;
	} else {
		tare_ratio_add(any_site(m, TARE_KIND_RATIO), 1, 2);
		m->done->parts += 1;
		m->done->wholes += 2;
	}
}

/* Beyond the limits it is counted, without its time and its record. */
static void record_duration(struct model *m)
{
	bool fails = roll(m, 4) == 0;
	tare_site *site = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					"duration", NULL, NULL);

	if (m->open)
		return; /* its path would be another one each time */
	tare_duration_record(site, 1000, fails ? "failed" : NULL);
	m->done->scopes++;
	m->done->failed += fails;
	m->done->records++;
}

static void step(struct model *m)
{
	switch (roll(m, 32)) {
	case 0:
		end_again(m);
		break;
	case 1:
		(void)leave_early(m, roll(m, 2));
		break;
	case 2:
		jump_over(m);
		break;
	case 3:
		give_away(m);
		break;
	case 4:
		end_given(m);
		break;
	case 5:
		if (roll(m, 8) == 0)
			recurse(m, roll(m, 30));
		break;
	case 6:
		if (m->open < MOST_OPEN / 2)
			switch_fiber(m);
		break;
	case 7:
		record_duration(m);
		break;
	case 8:
	case 9:
		note(m);
		break;
	case 10:
		count_items(m);
		break;
	case 11:
	case 12:
	case 13:
		observe(m);
		break;
	case 14:
	case 15:
		count(m);
		break;
	case 16:
	case 17:
		if (roll(m, 8) == 0)
			end_all(m);
		break;
	default:
		if (roll(m, 2))
			begin(m);
		else
			end_any(m);
	}
}

static void *live(void *arg)
{
	unsigned steps = scratch_times(STEPS);
	struct model m = { .index = (unsigned)(uintptr_t)arg };

	m.random = m.index * 7919 + 1;
	m.done = &shared->of[m.index];
	record_duration(&m); /* before the tree is full */
	for (unsigned i = 0; i < steps; i++) {
		step(&m);
		if (i != steps / 2)
			continue;
		__atomic_fetch_add(&shared->quiet, 1, __ATOMIC_RELEASE);
		while (!READ(shared->go_on))
			(void)usleep(100);
	}
	end_all(&m);
	return NULL;
}

/* ---- a run ------------------------------------------------------------- */

struct mode {
	const char *const options[20];
	bool clear; /* in the middle, while all threads wait */
};

static void be_lively(void *arg)
{
	const struct mode *mode = arg;
	pthread_t thread[THREADS];

	scratch_start(mode->options);
	strcpy(shared->path, tare_ledger_path());
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, live, (void *)i))
			_exit(98);
	while (READ(shared->quiet) < THREADS)
		(void)usleep(100);
	if (mode->clear && tare_clear())
		_exit(97);
	__atomic_store_n(&shared->go_on, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
}

static struct produced sum_of_produced(void)
{
	struct produced sum = { 0 };

	for (unsigned i = 0; i < THREADS; i++) {
		const struct produced *p = &shared->of[i];

		sum.scopes += p->scopes;
		sum.refused += p->refused;
		sum.failed += p->failed;
		sum.items += p->items;
		sum.records += p->records;
		sum.values += p->values;
		sum.gauges += p->gauges;
		sum.counts += p->counts;
		sum.parts += p->parts;
		sum.wholes += p->wholes;
		sum.repairs += p->repairs;
		sum.strays += p->strays;
	}
	return sum;
}

static void check_rows(const struct scratch_reading *r,
		       const struct produced *sum)
{
	uint64_t failed = 0, items = 0, parts = 0;

	for (size_t i = 0; i < r->n; i++) {
		failed += r->rows[i].failures;
		items += r->rows[i].items;
		if (r->rows[i].kind == TARE_KIND_RATIO)
			parts += (uint64_t)(r->rows[i].last *
						    (double)r->rows[i].count +
					    0.5);
	}
	CHECK_INT(failed, sum->failed);
	CHECK_INT(items, sum->items);
	CHECK_INT(scratch_count(r, TARE_KIND_SCOPE), sum->scopes);
	CHECK_INT(scratch_count(r, TARE_KIND_VALUE), sum->values);
	CHECK_INT(scratch_count(r, TARE_KIND_GAUGE), sum->gauges);
	CHECK_INT(scratch_count(r, TARE_KIND_COUNTER), sum->counts);
	CHECK_INT(scratch_count(r, TARE_KIND_RATIO), sum->wholes);
	CHECK_INT(parts, sum->parts);
}

static void check_health(const struct scratch_reading *r,
			 const struct produced *sum)
{
	const tare_health *health = tare_view_health(r->view);

	CHECK_INT(health->repairs, sum->repairs);
	CHECK_INT(health->stray_ends, sum->strays);
	CHECK_INT(health->overflow_nodes, sum->refused);
	CHECK_INT(health->lost, 0);
	CHECK_INT(health->clock_steps, 0);
	CHECK_INT(health->events + health->cleared,
		  sum->scopes + sum->values + sum->gauges);
	printf("# %llu scopes, %llu refused, %llu repaired, %llu strays, "
	       "%llu cleared\n",
	       (unsigned long long)sum->scopes,
	       (unsigned long long)sum->refused,
	       (unsigned long long)sum->repairs,
	       (unsigned long long)sum->strays,
	       (unsigned long long)health->cleared);
}

static void run(const struct mode *mode)
{
	struct produced sum;
	struct scratch_reading r;

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	if (scratch_run(be_lively, (void *)(uintptr_t)mode, 200) &&
	    scratch_read(shared->path, &r)) {
		sum = sum_of_produced();
		if (!mode->clear)
			check_rows(&r, &sum);
		check_health(&r, &sum);
		scratch_close(&r);
	}
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}

TEST(every_call_is_accounted_for)
{
	run(&(struct mode){ { NULL }, false });
}

TEST(every_call_is_accounted_for_in_tight_limits)
{
	run(&(struct mode){ { "max_sites", "16", "max_nodes", "40",
			      "max_depth", "8", NULL },
			    false });
}

TEST(every_call_is_accounted_for_with_the_slow_clock)
{
	run(&(struct mode){ { "clock", "monotonic", "max_nodes", "100", NULL },
			    false });
}

TEST(every_call_is_accounted_for_beside_a_trace)
{
	run(&(struct mode){ { "trace", "true", "trace_events", "64",
			      "trace_mode", "discard", "keep_values", "4",
			      "keep_kinds", "all",
			      "max_depth", "12", NULL },
			    false });
}

TEST(what_was_cleared_is_accounted_for)
{
	run(&(struct mode){ { "max_nodes", "200", NULL }, true });
}
