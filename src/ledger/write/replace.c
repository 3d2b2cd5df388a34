/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replace: a new ledger in place of one that was truncated.
 *
 * Runs in the SIGBUS handler of the thread that accessed the missing page. The
 * new file is prepared in a second mapping and then mapped over the first in
 * one step, so that other threads go from the old content to a complete new
 * one. Their tracks keep their places and start from zero; all sites register
 * again. The old file is not changed: its readers find what lies before the
 * cut.
 */
#include "ledger/write.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void tr_ledger_save(void)
{
	memcpy(&tr_ledger->saved_header, tr_ledger->header,
	       sizeof(tr_ledger->saved_header));
	memcpy(tr_ledger->saved_meta, tr_ledger->base + TR_META_AT,
	       TR_META_BYTES);
}

/* Beside the old one: TIME-PID.tare, TIME+1-PID.tare, TIME+2-PID.tare ... */
static bool path_beside(char *path, size_t size)
{
	const char *old = tr_ledger->path, *pid = strrchr(old, '-');
	const char *name = strrchr(old, '/'), *time_end;
	int n;

	if (!pid || !name || pid < name)
		return false;
	time_end = memchr(name, '+', (size_t)(pid - name));
	if (!time_end)
		time_end = pid;
	n = snprintf(path, size, "%.*s+%u%s", (int)(time_end - old), old,
		     tr_ledger->replaced + 1, pid);
	return n > 0 && (size_t)n < size;
}

/* Without a name while it is filled: no process can truncate it by name. */
static int create_nameless(const char *path)
{
	char folder[sizeof(tr_ledger->path)];

	(void)snprintf(folder, sizeof(folder), "%.*s",
		       (int)(strrchr(path, '/') - path), path);
	return open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
}

static bool give_name(int fd, const char *path)
{
	char self[40];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

static void fill_header(struct tr_header *header)
{
	*header = tr_ledger->saved_header;
	memcpy(header->region, tr_ledger->region, sizeof(header->region));
	header->real_bytes = tr_ledger->real_bytes;
	memset(&header->lost, 0, sizeof(header->lost));
	header->lost.damage = tr_ledger->replaced + 1;
	header->anchor_count = 0;
	header->window_used = 0;
	header->block_count = tr_ledger->block_count;
	tr_ledger->block_base = 0;
	tr_ledger->rings_used = 0;
	header->records_taken = 0;
	header->records_trimmed = 0;
	tr_anchor_take(&header->start, tr_ledger->counter_clock);
}

static uint32_t count_threads(void)
{
	uint32_t n = 0;

	while (n < tr_max_threads && tr_threads[n].own_track)
		n++;
	return n;
}

/*
 * Regions keep their length, with zeros as content. Places are never allocated
 * again, so a thread in the middle of an update can only write to places that
 * no other thread reads.
 */
static bool reserve_regions(char *base)
{
	for (int i = 0; i < TR_REGIONS; i++) {
		const struct tr_region *region = &tr_ledger->region[i];

		if (i != TR_REGION_ARENA && region->real &&
		    tr_memory_reserve(base + region->off, region->real))
			return false;
	}
	return true;
}

static bool fill(char *base)
{
	uint32_t n = count_threads(), *dir;

	if (tr_memory_reserve(base, 2 * TR_PAGE) || !reserve_regions(base))
		return false;
	fill_header((void *)base);
	memcpy(base + TR_META_AT, tr_ledger->saved_meta, TR_META_BYTES);
	tr_sites_fill(base);
	dir = (void *)(base + tr_ledger->region[TR_REGION_TRACKS].off);
	for (uint32_t i = 0; i < n; i++) {
		if (!tr_track_rebuild(&tr_threads[i], base))
			return false;
		dir[i] = (uint32_t)((char *)tr_threads[i].own_track -
				    tr_threads[i].base);
	}
	return true;
}

static bool replace_by(int fd, const char *path, bool nameless)
{
	uint64_t bytes = tr_ledger->map_bytes;
	char *fresh = MAP_FAILED;
	bool done;

	if (ftruncate(fd, (off_t)bytes) == 0)
		fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			     fd, 0);
	if (fresh != MAP_FAILED)
		tr_memory_no_readahead(fresh, bytes);
	done = fresh != MAP_FAILED && fill(fresh) &&
	       (!nameless || give_name(fd, path)) &&
	       mmap(tr_ledger->base, bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
	if (done)
		tr_memory_no_readahead(tr_ledger->base, bytes);
	for (uint32_t i = 0; done && i < count_threads(); i++)
		tr_track_forget(&tr_threads[i]);
	TR_STORE(tr_ledger->retry_at, 0);
	if (fresh != MAP_FAILED)
		(void)munmap(fresh, bytes);
	return done;
}

static bool replace(bool nameless)
{
	char path[sizeof(tr_ledger->path)];
	bool done;
	int fd;

	if (!path_beside(path, sizeof(path)))
		return false;
	fd = nameless ? create_nameless(path) :
			open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC |
				   O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	done = replace_by(fd, path, nameless);
	(void)close(fd);
	if (done)
		memcpy(tr_ledger->path, path, sizeof(path));
	else
		(void)unlink(path);
	return done;
}

/* Blocks signals while it is held: a handler's probe might wait for it, too. */
static void lock(sigset_t *ret_mask)
{
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigdelset(&all, SIGBUS);
	(void)pthread_sigmask(SIG_BLOCK, &all, ret_mask);
	while (__atomic_exchange_n(&tr_ledger->replacing, 1,
				   __ATOMIC_ACQUIRE))
		(void)sched_yield();
}

static void unlock(const sigset_t *mask)
{
	__atomic_store_n(&tr_ledger->replacing, 0, __ATOMIC_RELEASE);
	(void)pthread_sigmask(SIG_SETMASK, mask, NULL);
}

static bool replace_locked(void)
{
	/* Some file systems have no unnamed files. */
	if (!replace(true) && !replace(false))
		return false;
	TR_STORE(tr_ledger->replaced, tr_ledger->replaced + 1);
	tr_control_bump(tr_ledger->control);
	return true;
}

bool tr_ledger_replace(void)
{
	uint32_t seen = TR_LOAD(tr_ledger->replaced);
	int saved = errno;
	sigset_t mask;
	bool done;

	lock(&mask);
	done = TR_LOAD(tr_ledger->replaced) != seen || replace_locked();
	unlock(&mask);
	errno = saved;
	return done;
}

void tr_ledger_watch(void)
{
	int saved = errno;
	struct stat st;
	sigset_t mask;

	if (!tr_ledger->saved_header.base_address)
		return; /* not complete yet */
	lock(&mask);
	if (stat(tr_ledger->path, &st) == 0 &&
	    (uint64_t)st.st_size < tr_ledger->map_bytes)
		(void)replace_locked();
	unlock(&mask);
	errno = saved;
}

static bool is_whole(const struct tr_thread *thread)
{
	const struct tr_track *track = thread->own_track;
	uint32_t root = TR_LOAD(track->root);

	return TR_LOAD(tr_ledger->header->magic) == TR_MAGIC &&
	       TR_LOAD(track->magic) == TR_TRACK_MAGIC && root &&
	       tr_node_at(thread, root)->parent == root;
}

/* A cut inside a page causes zeros without a signal. */
void tr_ledger_heal(struct tr_thread *thread)
{
	struct tr_track *track = thread->own_track;

	if (TR_LIKELY(is_whole(thread) && TR_LOAD(track->current)))
		return;
	/* Until it is complete, no process can truncate it on purpose. */
	if (!is_whole(thread) && tr_ledger->saved_header.base_address)
		(void)tr_ledger_replace();
	/* Leaves a scope that was open when the ledger was replaced. */
	if (!TR_LOAD(track->current))
		TR_STORE(track->current, TR_LOAD(track->root));
}
