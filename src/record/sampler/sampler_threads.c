/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the sampler: a table by thread id.
 *
 * A thread is followed from its start if it is announced (by the preloaded
 * library, in pthread_create), else from when it is seen in /proc/self/task.
 * That folder is read only if the kernel's number of threads differs from the
 * known one, and with only a buffer on the stack: all of this may run in a
 * signal handler.
 */
#include "record/sampler/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first thread, often the only one, is in the first page. */
static uint32_t followed_place(uint32_t thread, uint32_t i)
{
	uint32_t nth = thread - TR_LOAD(tr_sampler->pid);

	return (nth * 2654435769u + i) & (tr_sampler->size - 1);
}

struct tr_followed *tr_followed_find(uint32_t thread)
{
	for (uint32_t i = 0; i < tr_sampler->size; i++) {
		struct tr_followed *followed =
			&tr_sampler->followed[followed_place(thread, i)];
		uint32_t there = TR_ACQUIRE(followed->thread);

		if (there == thread)
			return followed;
		if (!there)
			return NULL;
	}
	return NULL;
}

/* Has it announced its end? It is still listed then, for a moment. */
static bool has_ended(uint32_t thread)
{
	for (uint32_t i = 0; i < tr_sampler->size; i++) {
		const struct tr_followed *followed =
			&tr_sampler->followed[followed_place(thread, i)];
		uint32_t there = TR_ACQUIRE(followed->thread);

		if (there >= TR_FOLLOWED_ENDING &&
		    TR_LOAD(followed->was) == thread)
			return true;
		if (!there)
			return false;
	}
	return false;
}

/* Claims a free place for the thread, to be filled. */
static struct tr_followed *claim_followed(uint32_t thread)
{
	for (uint32_t i = 0; i < tr_sampler->size; i++) {
		struct tr_followed *followed =
			&tr_sampler->followed[followed_place(thread, i)];
		uint32_t there = TR_ACQUIRE(followed->thread);

		while ((!there || there == TR_FOLLOWED_GONE) &&
		       !TR_SWAP(followed->thread, &there, thread))
			;
		if (there == thread)
			return NULL;
		if (!there || there == TR_FOLLOWED_GONE)
			return followed;
	}
	return NULL;
}

/*
 * All CPU time of a new thread is counted. A thread that existed before the
 * sampler cannot have used more since then than the time that has passed.
 */
static uint64_t first_time(uint32_t thread)
{
	uint64_t now = tr_sample_clock_ns(thread);
	int64_t most = tr_monotonic_ns() - tr_sampler->start_ns;

	if (tr_sampler->clock == TR_SAMPLING_WALL || most < 0)
		return now;
	return now > (uint64_t)most ? now - (uint64_t)most : 0;
}

/* Frees the place. */
static void take_out(struct tr_followed *followed, uint32_t thread)
{
	tr_sample_clock_disarm(followed);
	tr_sampler_rest(followed, thread);
	(void)TR_ADD(tr_sampler->live, -1u);
	TR_STORE(followed->state, TR_FOLLOWED_FILLING);
	TR_PUBLISH(followed->thread, TR_FOLLOWED_GONE);
}

/*
 * A claimed place can be found: the thread, or the sampler, may end before the
 * timer exists that they would delete.
 */
struct tr_followed *tr_followed_add(uint32_t thread, uint64_t start)
{
	struct tr_followed *followed = claim_followed(thread);
	bool is_armed;

	if (!followed) {
		if (!tr_followed_find(thread))
			(void)TR_ADD(tr_sampler->unfollowed, 1);
		return NULL;
	}
	TR_STORE(followed->stack, 0);
	TR_STORE(followed->start, start);
	TR_STORE(followed->kept_ns, 0);
	TR_STORE(followed->is_held, 0);
	TR_STORE(followed->began_ns, first_time(thread));
	TR_STORE(followed->last_ns, TR_LOAD(followed->began_ns));
	is_armed = tr_sample_clock_arm(followed, thread);
	(void)TR_ADD(tr_sampler->live, 1);
	(void)TR_ADD(*(is_armed ? &tr_sampler->threads :
				  &tr_sampler->unfollowed), 1);
	if (!tr_followed_become(followed, TR_FOLLOWED_FILLING,
				TR_FOLLOWED_READY)) {
		take_out(followed, thread);
		return NULL;
	}
	if (is_armed && __atomic_load_n(&tr_sampler->on, __ATOMIC_SEQ_CST))
		return followed;
	tr_followed_remove(followed, thread);
	return NULL;
}

void tr_followed_remove(struct tr_followed *followed, uint32_t thread)
{
	uint32_t there = thread;

	if (!TR_SWAP(followed->thread, &there, TR_FOLLOWED_ENDING))
		return;
	TR_STORE(followed->was, thread);
	/* The thread that still fills the place removes it. */
	if (!tr_followed_become(followed, TR_FOLLOWED_FILLING,
				TR_FOLLOWED_LEFT))
		take_out(followed, thread);
}

bool tr_followed_sent(const struct tr_followed *followed, const void *info)
{
	const siginfo_t *sent = info;

	if (sent->si_code == SI_TIMER)
		return sent->si_value.sival_ptr == (void *)tr_sampler;
	return followed && TR_LOAD(followed->event) && sent->si_code > 0 &&
	       sent->si_fd == TR_LOAD(followed->event) - 1;
}

/* ---- looking ----------------------------------------------------------- */

struct task_entry {
	uint64_t ino;
	int64_t off;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

/* The library's own threads have fixed names. */
static bool is_own_task(uint32_t thread)
{
	char path[64], name[16] = "";

	(void)snprintf(path, sizeof(path), "/proc/self/task/%u/comm", thread);
	return tr_file_read(path, name, sizeof(name) - 1) > 5 &&
	       strncmp(name, "tare-", 5) == 0;
}

struct task_list {
	uint32_t own;
	uint32_t n;
	uint32_t unknown[TR_SUSPECTS];
};

/*
 * If threads announce themselves, an unknown one may be about to do so. So it
 * must be seen twice.
 */
static bool is_seen_again(struct task_list *list, uint32_t thread)
{
	if (tr_sampler->has_monitor_thread)
		return true;
	for (uint32_t i = 0; i < TR_SUSPECTS; i++)
		if (TR_LOAD(tr_sampler->suspect[i]) == thread)
			return true;
	if (list->n < TR_SUSPECTS)
		list->unknown[list->n++] = thread;
	return false;
}

static void see_task(const char *name, struct task_list *list)
{
	uint32_t thread = 0;

	for (; *name >= '0' && *name <= '9'; name++)
		thread = thread * 10 + (uint32_t)(*name - '0');
	if (!thread || *name || tr_followed_find(thread) || has_ended(thread))
		return;
	if (is_own_task(thread))
		list->own++;
	else if (is_seen_again(list, thread))
		(void)tr_followed_add(thread, 0);
}

static void see_tasks(int fd)
{
	struct task_list list = { .n = 0 };
	_Alignas(8) char buffer[1024];
	long n;

	while ((n = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < n;) {
			const struct task_entry *entry =
				(const void *)(buffer + at);

			see_task(entry->name, &list);
			at += entry->bytes;
		}
	TR_STORE(tr_sampler->own, list.own);
	for (uint32_t i = 0; i < TR_SUSPECTS; i++)
		TR_STORE(tr_sampler->suspect[i], list.unknown[i]);
}

/* Removes threads that ended unseen. */
static void see_gone(void)
{
	for (uint32_t i = 0; i < tr_sampler->size; i++) {
		struct tr_followed *followed = &tr_sampler->followed[i];
		uint32_t thread = TR_ACQUIRE(followed->thread);

		if (thread && thread < TR_FOLLOWED_ENDING &&
		    !tr_thread_alive((uint32_t)getpid(), thread))
			tr_followed_remove(followed, thread);
	}
}

void tr_followed_look(void)
{
	uint32_t known = TR_LOAD(tr_sampler->live) + TR_LOAD(tr_sampler->own);
	int saved = errno, fd;
	struct stat st;

	/* The link count is the number of threads plus two. */
	if (stat("/proc/self/task", &st) || st.st_nlink == known + 2)
		goto done;
	see_gone();
	fd = tr_file_open("/proc/self/task", O_RDONLY | O_DIRECTORY, 0);
	if (fd >= 0) {
		see_tasks(fd);
		(void)close(fd);
	}
done:
	errno = saved;
}
