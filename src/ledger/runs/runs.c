/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: the ledgers of this user, live and finished. */
#include "ledger/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* ---- folders and files ------------------------------------------------- */

static const struct tr_config *given;

void tr_runs_use(const struct tr_config *config)
{
	given = config;
}

const struct tr_config *tr_runs_config(void)
{
	static struct tr_config loaded;

	if (!given) {
		tr_config_load(&loaded, NULL, NULL);
		given = &loaded;
	}
	return given;
}

int tr_runs_folders(char *live, char *runs, size_t size)
{
	const char *dir = tr_runs_config()->dir;
	int err = tr_dir_live(dir, live, size);
	int other = tr_dir_runs(dir, runs, size);

	return err ? err : other;
}

void tr_runs_refused(char *path, size_t size)
{
	const char *dir = tr_runs_config()->dir;

	if (tr_dir_live(dir, path, size) == 0 &&
	    tr_dir_runs(dir, path, size) == 0)
		path[0] = '\0';
}

int tr_runs_peek(const char *path, struct tr_header *header,
		 char meta[TR_META_BYTES])
{
	int fd = tr_file_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
	struct stat st;
	int err = TARE_EFORMAT;

	if (fd < 0)
		return errno == ENOENT ? TARE_ENOENT : TARE_EIO;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		err = tr_header_read(fd, header);
	/* The fields used here are at the same place in all majors. */
	if (err == TARE_EVERSION)
		err = 0;
	if (!err && !tr_file_read_at(fd, meta, TR_META_BYTES, TR_META_AT))
		err = TARE_EFORMAT;
	(void)close(fd);
	meta[TR_META_BYTES - 1] = '\0';
	return err ? TARE_EFORMAT : 0;
}

void tr_meta_value(const char *meta, const char *key, char *out, size_t size)
{
	size_t len = strlen(key), n;

	out[0] = '\0';
	for (const char *line = meta; line && *line;
	     line = strchr(line, '\n'), line += line ? 1 : 0) {
		if (strncmp(line, key, len) != 0 || line[len] != '=')
			continue;
		n = strcspn(line + len + 1, "\n");
		if (n >= size)
			n = size - 1;
		memcpy(out, line + len + 1, n);
		out[n] = '\0';
		return;
	}
}

static void identity_of(const struct tr_header *header,
			struct tr_identity *identity)
{
	*identity = (struct tr_identity){
		.pid = header->pid,
		.start_time = header->start_time,
		.pid_ns = header->pid_ns,
	};
	memcpy(identity->boot_id, header->boot_id, sizeof(identity->boot_id));
	identity->boot_id[sizeof(identity->boot_id) - 1] = '\0';
}

/* Unknown means live, except for ledgers of another boot or machine. */
enum tare_run_state tr_runs_state(const struct tr_header *header,
				  const char *path)
{
	struct tr_identity identity;

	if (header->state == TR_STATE_FINISHED)
		return TARE_RUN_FINISHED;
	identity_of(header, &identity);
	switch (tr_writer_state(&identity, path)) {
	case TR_WRITER_GONE:
		return TARE_RUN_KILLED;
	case TR_WRITER_LIVES:
		return TARE_RUN_LIVE;
	case TR_WRITER_UNKNOWN:
		break;
	}
	return tr_identity_is_of_boot(&identity) ? TARE_RUN_LIVE :
						   TARE_RUN_KILLED;
}

bool tr_runs_is_over(const struct tr_header *header, const char *path)
{
	struct tr_identity identity;

	if (header->state == TR_STATE_FINISHED ||
	    tr_writer_of_file(path) == TR_WRITER_GONE)
		return true;
	identity_of(header, &identity);
	return tr_writer_state(&identity, path) == TR_WRITER_GONE;
}

/* ---- the list ---------------------------------------------------------- */

struct list {
	tare_run_entry *entry;
	size_t n, cap;
	bool failed;
};

static void fill_entry(tare_run_entry *entry, const char *path,
		       const char *name, const struct tr_header *header,
		       const char *meta)
{
	struct stat st = { 0 };

	memset(entry, 0, sizeof(*entry));
	(void)stat(path, &st);
	(void)snprintf(entry->id, sizeof(entry->id), "%.*s",
		       (int)(strlen(name) - 5), name);
	memcpy(entry->path, path, strnlen(path, sizeof(entry->path) - 1));
	tr_meta_value(meta, "program", entry->program, sizeof(entry->program));
	tr_meta_value(meta, "group", entry->group, sizeof(entry->group));
	entry->state = tr_runs_state(header, path);
	entry->pid = header->pid;
	entry->start_ns = header->start.real_ns;
	entry->end_ns = entry->state == TARE_RUN_LIVE ? tr_realtime_ns() :
							header->end.real_ns;
	entry->bytes = (uint64_t)st.st_blocks * 512;
	entry->has_trainings = header->trainings != 0;
}

static void add_entry(struct list *list, const char *dir, const char *name)
{
	char path[512], meta[TR_META_BYTES];
	struct tr_header header;
	size_t len = strlen(name);

	if (len < 6 || strcmp(name + len - 5, ".tare") != 0)
		return;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >=
	    sizeof(path))
		return;
	if (tr_runs_peek(path, &header, meta))
		return;
	if (TR_ARRAY_ROOM(list->entry, list->n, list->cap))
		fill_entry(&list->entry[list->n++], path, name, &header, meta);
	else
		list->failed = true;
}

int tr_runs_entry(const char *path, tare_run_entry *ret_run)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char meta[TR_META_BYTES];
	struct tr_header header;
	size_t len = strlen(name);
	int err;

	if (len < 6 || strcmp(name + len - 5, ".tare") != 0 ||
	    strlen(path) >= sizeof(ret_run->path))
		return TARE_EINVAL;
	err = tr_runs_peek(path, &header, meta);
	if (!err)
		fill_entry(ret_run, path, name, &header, meta);
	return err;
}

static void add_folder(struct list *list, const char *dir)
{
	DIR *stream = opendir(dir);
	const struct dirent *file;

	if (!stream)
		return;
	while ((file = readdir(stream)))
		add_entry(list, dir, file->d_name);
	(void)closedir(stream);
}

static int newest_first(const void *a, const void *b)
{
	const tare_run_entry *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? 1 : -1;
	return strcmp(y->id, x->id);
}

/*
 * After an exec the process is the same, but its older ledger has no writer.
 * The same id is not enough: it may be from another namespace.
 */
static void settle_execs(struct list *list)
{
	for (size_t i = 0; i < list->n; i++)
		for (size_t k = 0; k < i; k++)
			if (list->entry[i].state == TARE_RUN_LIVE &&
			    list->entry[k].state == TARE_RUN_LIVE &&
			    list->entry[i].pid == list->entry[k].pid &&
			    tr_writer_of_file(list->entry[i].path) ==
				    TR_WRITER_GONE)
				list->entry[i].state = TARE_RUN_KILLED;
}

/* Runs of a time when the user's folder could not be used. */
static void add_spares(struct list *list, const char *runs)
{
	char spare[400];

	for (unsigned i = 0; i < TR_DIR_SPARES; i++)
		if (!tr_runs_config()->dir[0] &&
		    tr_dir_spare(i, spare, sizeof(spare)) &&
		    strcmp(spare, runs) != 0)
			add_folder(list, spare);
}

bool tr_runs_are_spared(char *path, size_t size)
{
	char live[400], runs[400];

	if (tr_runs_config()->dir[0] ||
	    tr_runs_folders(live, runs, sizeof(live)))
		return false;
	for (unsigned i = 0; i < TR_DIR_SPARES; i++)
		if (tr_dir_spare(i, path, size) && strcmp(path, runs) == 0)
			return true;
	return false;
}

int tr_runs_list(tare_run_entry **ret_runs, size_t *ret_n)
{
	char live[400], runs[400];
	struct list list = { 0 };
	int err = tr_runs_folders(live, runs, sizeof(live));

	/* Root may read folders of other users, but changes nothing there. */
	if (err && !(err == TARE_EPERM && geteuid() == 0))
		return err;
	add_folder(&list, live);
	add_folder(&list, runs);
	add_spares(&list, runs);
	if (list.failed) {
		free(list.entry);
		return TARE_ENOMEM;
	}
	if (list.n)
		qsort(list.entry, list.n, sizeof(*list.entry), newest_first);
	settle_execs(&list);
	*ret_runs = list.entry;
	*ret_n = list.n;
	return 0;
}
