/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler in a program that has the library itself: weights, threads that
 * nobody announces, those that are too short, the host's own use of the
 * signal, children, a ledger that is truncated.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tare/control.h>
#include <tare/read/profile.h>

#include "check.h"
#include "record/monitor.h"
#include "record/sampler/sampler.h"
#include "scene.h"
#include "read/view.h"
#include "record/sampler.h"

static volatile uint64_t sink;
static volatile sig_atomic_t n_host;

static double own_cpu_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static __attribute__((noinline)) void spin(double ms)
{
	double end = own_cpu_ms() + ms;

	while (own_cpu_ms() < end)
		for (int i = 0; i < 10000; i++)
			TR_STORE(sink, TR_LOAD(sink) * 3 + 1);
}

static double process_ms(void)
{
	struct rusage used;

	(void)getrusage(RUSAGE_SELF, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

static void start_sampling(const char *rate)
{
	const char *const options[] = { "sample", "true", "sample_rate", rate,
					NULL };

	scene_start(options);
}

/*
 * How many samples there are is the kernel's affair: it looks at a timer ten
 * milliseconds apart at worst, if the thread has a processor just then. What
 * they weigh is not, with what was used since the last one.
 */
static tare_sampling sampling_now(void)
{
	tare_sampling s = { 0 };
	tare_view *view;

	tr_sampler_flush();
	view = scene_view();
	if (view)
		s = *tare_view_sampling(view);
	tare_view_close(view);
	return s;
}

/* ---- weights ----------------------------------------------------------- */

static void play_weights(const char *rate)
{
	tare_sampling s;
	double before, used;

	start_sampling(rate);
	before = process_ms();
	spin(600);
	used = process_ms() - before;
	s = sampling_now();
	CHECK(s.was_on);
	CHECK(s.samples > 20);
	CHECK_NEAR(s.weight_ns / 1e6, used, 40);
	CHECK_NEAR(s.whole_share, 1, 0.05);
	CHECK(s.cost_ns > 0);
	CHECK_INT(s.lost, 0);
	CHECK_NEAR(s.asked_hz, strcmp(rate, "250") == 0 ? 250 : 1000, 0.1);
}

static void play_250(void)
{
	play_weights("250");
}

static void play_1000(void)
{
	play_weights("1000");
}

TEST(weights_are_the_cpu_time)
{
	CHECK(scene_play(play_250));
}

TEST(weights_are_the_cpu_time_also_at_rates_above_the_tick)
{
	CHECK(scene_play(play_1000));
}

/* ---- threads ----------------------------------------------------------- */

static void *long_thread(void *arg)
{
	spin(*(double *)arg);
	return NULL;
}

static void *announced_thread(void *arg)
{
	tr_sampler_thread_begins((const void *)(uintptr_t)announced_thread);
	spin(*(double *)arg);
	tr_sampler_thread_ends();
	return NULL;
}

static void play_threads(void)
{
	pthread_t thread[4];
	double ms = 300, before;
	tare_sampling s;

	start_sampling("250");
	before = process_ms();
	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, long_thread, &ms),
			  0);
	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	s = sampling_now();
	CHECK(s.threads >= 5); /* a sanitizer has one of its own */
	CHECK_NEAR(s.weight_ns / 1e6, process_ms() - before, 60);
}

TEST(threads_that_nobody_announces_are_found)
{
	CHECK(scene_play(play_threads));
}

static void play_short(void)
{
	pthread_t thread;
	double ms = 1.5, before;
	tare_sampling s;

	start_sampling("100");
	before = process_ms();
	for (int i = 0; i < 60; i++) {
		CHECK_INT(pthread_create(&thread, NULL, announced_thread, &ms),
			  0);
		CHECK_INT(pthread_join(thread, NULL), 0);
	}
	s = sampling_now();
	CHECK(TR_LOAD(tr_sampler->threads) >= 61);
	CHECK((s.weight_ns + s.short_ns) / 1e6 > 80);
	CHECK((s.weight_ns + s.short_ns) / 1e6 < process_ms() - before + 5);
}

TEST(time_of_threads_too_short_for_a_sample_is_not_lost)
{
	CHECK(scene_play(play_short));
}

static void play_never(void)
{
	double before = process_ms();
	tare_sampling s;
	sigset_t ours;

	start_sampling("250");
	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, SIGURG);
	CHECK_INT(pthread_sigmask(SIG_BLOCK, &ours, NULL), 0);
	spin(60);
	tr_sampler_settle();
	tr_sampler_stop();
	s = sampling_now();
	CHECK(s.samples < 5); /* before it was blocked */
	CHECK(s.weight_ns / 1e6 >= 50);
	CHECK(s.weight_ns / 1e6 <= process_ms() - before + 5);
}

TEST(the_first_thread_is_booked_where_it_ends_without_a_sample)
{
	CHECK(scene_play(play_never));
}

static void play_full(void)
{
	start_sampling("250");
	tr_monitor_stop();
	for (uint32_t i = 0; i < tr_sampler->size; i++) {
		uint32_t none = 0;

		(void)__atomic_compare_exchange_n(
			&tr_sampler->followed[i].thread, &none,
			UINT32_MAX - 1, false, __ATOMIC_RELAXED,
			__ATOMIC_RELAXED);
	}
	CHECK(!tr_followed_add(12345678, 0));
	CHECK_INT(TR_LOAD(tr_sampler->unfollowed), 1);
}

TEST(a_full_table_of_threads_is_counted)
{
	CHECK(scene_play(play_full));
}

/* ---- who takes a thread out, and puts one in --------------------------- */

struct guest {
	pthread_t thread;
	struct tr_followed *followed;
	uint32_t id;
	uint32_t may_end;
};

static void *guest_thread(void *arg)
{
	struct guest *guest = arg;

	tr_sampler_thread_begins((const void *)(uintptr_t)guest_thread);
	guest->id = tr_thread_id();
	TR_PUBLISH(guest->followed, tr_followed_find(guest->id));
	while (!TR_ACQUIRE(guest->may_end))
		(void)usleep(1000);
	tr_sampler_thread_ends();
	return NULL;
}

static void begin_guest(struct guest *guest)
{
	*guest = (struct guest){ .id = 0 };
	CHECK_INT(pthread_create(&guest->thread, NULL, guest_thread, guest),
		  0);
	while (!TR_ACQUIRE(guest->followed))
		(void)usleep(1000);
}

static void end_guest(struct guest *guest)
{
	TR_PUBLISH(guest->may_end, 1);
	CHECK_INT(pthread_join(guest->thread, NULL), 0);
}

/* A look may find a thread dead that has just said so itself. */
static void play_twice(void)
{
	struct guest one, two;
	uint32_t live;

	start_sampling("250");
	tr_monitor_stop();
	live = TR_LOAD(tr_sampler->live);
	begin_guest(&one);
	CHECK_INT(TR_LOAD(tr_sampler->live), live + 1);
	end_guest(&one);
	CHECK_INT(TR_LOAD(tr_sampler->live), live);
	tr_followed_remove(one.followed, one.id);
	CHECK_INT(TR_LOAD(tr_sampler->live), live);
	CHECK(sampling_now().weight_ns < process_ms() * 1e6);
	/* And another one may be in its place. */
	begin_guest(&two);
	tr_followed_remove(two.followed, one.id);
	CHECK_INT(TR_LOAD(tr_sampler->live), live + 1);
	CHECK(tr_followed_find(two.id) == two.followed);
	CHECK(TR_LOAD(two.followed->timer));
	end_guest(&two);
	CHECK_INT(TR_LOAD(tr_sampler->live), live);
}

TEST(a_thread_is_taken_out_once)
{
	CHECK(scene_play(play_twice));
}

#define CROWD 7
#define CROWD_PLACES 8u

static void *come_and_go(void *arg)
{
	uint32_t id = tr_thread_id(), *failed = arg;

	for (int i = 0; i < 20000; i++) {
		struct tr_followed *self = tr_followed_add(id, 0);

		if (!self || TR_LOAD(self->state) != TR_FOLLOWED_READY)
			(void)TR_ADD(*failed, 1);
		if (self)
			tr_followed_remove(self, id);
	}
	return NULL;
}

/* So few places that they meet all the time. */
static void play_crowd(void)
{
	pthread_t thread[CROWD];
	uint32_t failed = 0, live;

	start_sampling("250");
	tr_monitor_stop();
	tr_sampler_thread_ends();
	tr_sampler->size = CROWD_PLACES;
	live = TR_LOAD(tr_sampler->live);
	for (int i = 0; i < CROWD; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, come_and_go,
					 &failed), 0);
	for (int i = 0; i < CROWD; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	CHECK_INT(failed, 0);
	CHECK_INT(TR_LOAD(tr_sampler->live), live);
	CHECK_INT(TR_LOAD(tr_sampler->unfollowed), 0);
}

TEST(threads_that_come_at_once_all_get_a_place)
{
	CHECK(scene_play(play_crowd));
}

static uint32_t guest_id;

static void *take_guests_out(void *arg)
{
	uint32_t id = TR_LOAD(guest_id);

	while (!TR_ACQUIRE(*(uint32_t *)arg)) {
		struct tr_followed *guest = tr_followed_find(id);

		if (guest)
			tr_followed_remove(guest, id);
	}
	return NULL;
}

static bool has_timer(const struct tr_followed *followed)
{
	return TR_LOAD(followed->timer) || TR_LOAD(followed->event);
}

/* A thread may end while a look that found it puts it in. */
static void play_overtaken(void)
{
	uint32_t live, is_over = 0, n = 0;
	struct tr_followed *place;
	pthread_t thread;

	start_sampling("250");
	tr_monitor_stop();
	TR_STORE(guest_id, tr_thread_id());
	place = tr_followed_find(guest_id);
	tr_sampler_thread_ends();
	live = TR_LOAD(tr_sampler->live);
	CHECK_INT(pthread_create(&thread, NULL, take_guests_out, &is_over), 0);
	for (int i = 0; i < 5000; i++) {
		n += !tr_followed_add(guest_id, 0);
		while (TR_ACQUIRE(place->thread) != TR_FOLLOWED_GONE)
			(void)sched_yield();
		if (!CHECK(!has_timer(place)))
			break;
	}
	TR_PUBLISH(is_over, 1);
	CHECK_INT(pthread_join(thread, NULL), 0);
	printf("# %u of 5000 were overtaken\n", n);
	CHECK_INT(TR_LOAD(tr_sampler->live), live);
	CHECK_INT(TR_LOAD(tr_sampler->unfollowed), 0);
}

TEST(a_thread_taken_out_while_it_is_put_in_leaves_no_timer)
{
	CHECK(scene_play(play_overtaken));
}

/* The sampler is off before the place is filled. */
static void play_off_meanwhile(void)
{
	struct tr_followed *place;

	start_sampling("250");
	tr_monitor_stop();
	place = tr_followed_find(tr_thread_id());
	CHECK(has_timer(place));
	tr_sampler_stop();
	CHECK(!tr_followed_add(tr_thread_id(), 0));
	CHECK(!has_timer(place));
	CHECK(!tr_followed_find(tr_thread_id()));
}

TEST(a_thread_put_in_after_the_end_has_no_timer)
{
	CHECK(scene_play(play_off_meanwhile));
}

static void play_seen_before(void)
{
	struct guest one;
	uint32_t id = tr_thread_id();

	start_sampling("250");
	tr_monitor_stop();
	CHECK(tr_followed_find(id)); /* with no function */
	tr_sampler_thread_begins((const void *)(uintptr_t)guest_thread);
	CHECK(tr_followed_find(id)->start == (uintptr_t)guest_thread);
	begin_guest(&one);
	CHECK(one.followed->start == (uintptr_t)guest_thread);
	end_guest(&one);
}

TEST(a_thread_that_was_seen_before_it_ran_has_its_function)
{
	CHECK(scene_play(play_seen_before));
}

/* ---- the host's signal ------------------------------------------------- */

static void on_urgent(int number)
{
	CHECK_INT(number, SIGURG);
	n_host++;
}

static void play_host(void)
{
	struct sigaction mine = { .sa_handler = on_urgent }, before;

	start_sampling("250");
	CHECK_INT(tr_sampler_signal(), SIGURG);
	tr_sampler_action(SIGURG, &mine, &before);
	CHECK(before.sa_handler == SIG_DFL);
	spin(50);
	CHECK_INT(n_host, 0);
	errno = 17;
	CHECK_INT(raise(SIGURG), 0);
	CHECK_INT(n_host, 1);
	CHECK_INT(errno, 17);
	mine.sa_flags = (int)SA_RESETHAND;
	tr_sampler_action(SIGURG, &mine, NULL);
	(void)raise(SIGURG);
	(void)raise(SIGURG);
	CHECK_INT(n_host, 2);
	tr_sampler_action(SIGURG, NULL, &before);
	CHECK(before.sa_handler == SIG_DFL);
}

TEST(the_host_gets_its_own_signals_and_none_of_ours)
{
	CHECK(scene_play(play_host));
}

static void play_stop(void)
{
	tare_sampling s;

	start_sampling("250");
	spin(60);
	tr_sampler_stop();
	s = sampling_now();
	CHECK(s.samples > 0);
	spin(60);
	CHECK_INT(tr_sampler_signal(), 0);
	CHECK_NEAR((double)sampling_now().samples, (double)s.samples, 1);
}

TEST(no_sample_comes_after_the_end)
{
	CHECK(scene_play(play_stop));
}

/* ---- children, damage -------------------------------------------------- */

/* One that puts signals off, and brings them where SIGBUS is blocked. */
#if defined(__SANITIZE_THREAD__)
#define PUTS_SIGNALS_OFF 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PUTS_SIGNALS_OFF 1
#endif
#endif
#ifndef PUTS_SIGNALS_OFF
#define PUTS_SIGNALS_OFF 0
#endif

static void play_fork(void)
{
	int status = 0;
	pid_t pid;

	start_sampling("250");
	spin(40);
	pid = fork();
	if (pid == 0) {
		tare_sampling s;

		spin(100);
		s = sampling_now();
		_exit(s.samples > 0 && s.weight_ns > 80e6 &&
				      s.weight_ns / 1e6 < process_ms() + 20 ?
			      0 :
			      1);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(sampling_now().weight_ns / 1e6 < process_ms() + 20);
}

TEST(a_child_has_samples_of_its_own)
{
	if (!scene_fork_wipes() || PUTS_SIGNALS_OFF)
		SKIP("no forks that wipe, or signals that come late");
	CHECK(scene_play(play_fork));
}

static void play_truncated(void)
{
	start_sampling("1000");
	spin(50);
	CHECK_INT(truncate(tare_ledger_path(), 4096), 0);
	spin(100);
	CHECK_INT(truncate(tare_ledger_path(), 100), 0);
	spin(1500); /* an anchor a second finds it out */
	CHECK(sampling_now().samples > 10);
}

TEST(a_truncated_ledger_does_no_harm)
{
	if (PUTS_SIGNALS_OFF)
		SKIP("signals come late");
	CHECK(scene_play(play_truncated));
}
