/* SPDX-License-Identifier: Apache-2.0 */
/* Remote: changes options of another process, through its control page. */
#include "ledger/runs.h"

#include "base/text.h"
#include "ledger/layout.h"
#include "read/control.h"
#include "read/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct page {
	struct tr_control *control;
	int fd; /* locked: one process at a time changes the page */
};

/* A change takes microseconds: a lock held for a second is not released. */
#define LOCK_TRIES 200
#define LOCK_PAUSE_NS 5000000

/* Bounded: another process can hold the lock for as long as it wants. */
static int lock(int fd)
{
	static const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return TARE_EIO;
		(void)nanosleep(&pause, NULL);
	}
	return TARE_EBUSY;
}

static int map_open_page(struct page *page)
{
	struct stat st;
	int err;

	if (fstat(page->fd, &st) ||
	    st.st_size < (off_t)sizeof(*page->control))
		return TARE_EFORMAT;
	err = lock(page->fd);
	if (err)
		return err;
	page->control = mmap(NULL, sizeof(*page->control),
			     PROT_READ | PROT_WRITE, MAP_SHARED, page->fd, 0);
	return page->control == MAP_FAILED ? TARE_ENOMEM : 0;
}

static int map_page(const char *path, struct page *page)
{
	int err;

	page->fd = tr_file_open_regular(path, O_RDWR);
	if (page->fd < 0)
		return errno == EACCES || errno == EPERM ? TARE_EPERM :
							   TARE_ENOENT;
	err = map_open_page(page);
	if (err)
		(void)close(page->fd);
	return err;
}

static void unmap_page(struct page *page)
{
	(void)munmap(page->control, sizeof(*page->control));
	(void)close(page->fd);
}

static int open_page(int64_t pid, struct page *page)
{
	char path[600], proc[32];
	int err;

	(void)snprintf(proc, sizeof(proc), "/proc/%lld", (long long)pid);
	if (pid <= 0 || access(proc, F_OK))
		return TARE_EDEAD;
	err = tr_runs_of_process(pid, ".ctl", path, sizeof(path));
	if (err)
		return err == TARE_ENOENT ? TARE_EOFF : err;
	err = map_page(path, page);
	if (err)
		return err;
	if (page->control->magic != TR_CONTROL_MAGIC ||
	    page->control->major != TR_CONTROL_MAJOR) {
		unmap_page(page);
		return TARE_EFORMAT;
	}
	return 0;
}

TARE_API int tare_remote_enable(int64_t pid, bool on)
{
	struct page page;
	int err = open_page(pid, &page);

	if (err)
		return err;
	TR_STORE(page.control->enabled, on);
	tr_control_bump(page.control);
	unmap_page(&page);
	return 0;
}

/* Counts starts and stops, odd for a start, so that each call is noticed. */
TARE_API int tare_remote_monitor(int64_t pid, bool on)
{
	char text[24] = "";
	uint64_t n = 0;
	struct page page;
	int err = open_page(pid, &page);

	if (err)
		return err;
	if (TR_LOAD(page.control->enabled)) {
		if (tr_control_get(page.control, "monitoring", text,
				   sizeof(text)))
			(void)tr_parse_u64(text, &n);
		n += 1 + ((n & 1) == on);
		(void)tr_u64_text(text, n & UINT32_MAX);
		err = tr_control_set(page.control, "monitoring", text);
		tr_control_bump(page.control);
	} else {
		err = TARE_EOFF;
	}
	unmap_page(&page);
	return err;
}

TARE_API int tare_remote_set(int64_t pid, const char *name, const char *value)
{
	const tare_option *option = name ? tr_option_find(name) : NULL;
	struct tr_config scratch;
	struct page page;
	int err;

	if (!option)
		return TARE_ENOENT;
	if (!option->live)
		return TARE_EINVAL;
	tr_config_defaults(&scratch);
	err = tr_config_set(&scratch, name, value);
	if (!err)
		err = open_page(pid, &page);
	if (err)
		return err;
	err = tr_control_set(page.control, name, value);
	if (!err && strcmp(name, "enable_metrics") == 0)
		TR_STORE(page.control->enabled, scratch.enable_metrics);
	if (!err && strcmp(name, "enable_performance_monitoring") == 0)
		TR_STORE(page.control->enabled,
			 scratch.enable_performance_monitoring);
	tr_control_bump(page.control);
	unmap_page(&page);
	return err;
}

TARE_API int tare_remote_clear(int64_t pid)
{
	char path[600];
	struct page page;
	int err = open_page(pid, &page);

	if (err)
		return err;
	err = tr_runs_of_process(pid, ".tare", path, sizeof(path));
	if (!err)
		err = tr_runs_clear(path);
	unmap_page(&page);
	return err;
}

TARE_API int tare_remote_is_enabled(int64_t pid, bool *ret_on)
{
	struct page page;
	int err = ret_on ? open_page(pid, &page) : TARE_EINVAL;

	if (err)
		return err;
	*ret_on = TR_LOAD(page.control->enabled) != 0;
	unmap_page(&page);
	return 0;
}

int tr_remote_monitored(int64_t pid, uint32_t *ret_parts)
{
	struct page page;
	int err = open_page(pid, &page);

	if (err)
		return err;
	*ret_parts = TR_LOAD(page.control->enabled) ?
			     TR_LOAD(page.control->monitored) :
			     0;
	unmap_page(&page);
	return 0;
}

/* The options at the process's start: its ledger has those that differ. */
static void start_values(int64_t pid, struct tr_config *config)
{
	char path[600], meta[TR_META_BYTES], *line, *end;
	struct tr_header header;

	tr_config_defaults(config);
	if (tr_runs_of_process(pid, ".tare", path, sizeof(path)) ||
	    tr_runs_peek(path, &header, meta))
		return;
	line = strstr(meta, "\nconfig=");
	for (line = line ? line + 8 : NULL; line && *line; line = end) {
		char *value = strchr(line, '=');

		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (!value)
			continue;
		*value = '\0';
		(void)tr_config_set(config, line, value + 1);
	}
}

TARE_API int tare_remote_get(int64_t pid, const char *name, char *value,
			     size_t size)
{
	struct tr_config config;
	char text[TR_CONFIG_STRING];
	struct page page;
	int err;

	if (!name || !value || !tr_option_find(name))
		return name && value ? TARE_ENOENT : TARE_EINVAL;
	err = open_page(pid, &page);
	if (err)
		return err;
	start_values(pid, &config);
	if (tr_control_get(page.control, name, text, sizeof(text)))
		(void)tr_config_set(&config, name, text);
	/* However it was switched on: TARE, `tare run`, `tare ctl`, a call. */
	config.enable_metrics = TR_LOAD(page.control->enabled) != 0;
	config.enable_performance_monitoring &= config.enable_metrics;
	unmap_page(&page);
	return tr_config_get(&config, name, value, size);
}
