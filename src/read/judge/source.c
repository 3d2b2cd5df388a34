/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is compared: runs from files, ledgers and other sources, in one form.
 * Everything is copied, so that sources may be closed at once.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "read/judge.h"
#include "read/training.h"

#define WORKERS_DIGITS 6u
#define PAIRS_MOST 256u

TARE_API int tare_comparison_new(tare_comparison **ret_comparison)
{
	tare_comparison *c;

	if (!ret_comparison)
		return TARE_EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return TARE_ENOMEM;
	c->left_out = (struct tr_buf)TR_BUF_INIT;
	*ret_comparison = c;
	return 0;
}

void tr_compared_forget(struct tr_compared_run *run)
{
	for (size_t i = 0; run->pairs && i < 2 * run->n_pairs; i++)
		free(run->pairs[i]);
	free(run->pairs);
	free(run->config);
	free(run->origin);
	free(run->rows);
	free(run->key);
	free(run->file);
	free(run->program);
}

/* ---- one run ----------------------------------------------------------- */

uint32_t tr_config_number(const char *name, size_t *ret_stem)
{
	size_t end = strlen(name), at = end;
	uint32_t number = 0;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	*ret_stem = end;
	if (at == end || end - at > WORKERS_DIGITS)
		return 0;
	for (size_t i = at; i < end; i++)
		number = 10 * number + (uint32_t)(name[i] - '0');
	while (at && strchr("_-. ", name[at - 1]))
		at--;
	*ret_stem = at;
	return number;
}

static int copy_pairs(struct tr_compared_run *run,
		      const tare_compare_source *source)
{
	size_t n = source->n_pairs < PAIRS_MOST ? source->n_pairs : PAIRS_MOST;

	run->pairs = calloc(2 * n + 1, sizeof(*run->pairs));
	if (!run->pairs)
		return TARE_ENOMEM;
	run->n_pairs = n;
	for (size_t i = 0; i < 2 * n; i++) {
		run->pairs[i] = strdup(source->pairs[i] ? source->pairs[i] :
							  "");
		if (!run->pairs[i])
			return TARE_ENOMEM;
	}
	return 0;
}

static double sum_of_rows(const struct tr_compared_run *run)
{
	double sum = 0;

	for (size_t i = 0; i < run->n_rows; i++)
		sum += run->rows[i].total_time;
	return sum;
}

static void take_times(struct tr_compared_run *run, uint64_t n_epochs)
{
	double sum = sum_of_rows(run);

	if (!(run->total_time > 0))
		run->total_time = sum;
	run->n_epochs = n_epochs > run->n_rows ? n_epochs : run->n_rows;
	if (run->n_epochs > run->n_rows && run->total_time > sum)
		run->before_rows = run->total_time - sum;
}

static int copy_run(struct tr_compared_run *run,
		    const tare_compare_source *source)
{
	size_t bytes = source->n_rows * sizeof(*run->rows), stem;

	*run = (struct tr_compared_run){
		.n_rows = source->n_rows, .columns = source->columns,
		.is_cut = source->is_cut, .comm_share = source->comm_share,
		.peak_memory_mb = source->peak_memory_mb,
		.worker_memory_mb = NAN,
		.total_time = source->total_training_time,
		.workers = source->workers,
	};
	run->config = strdup(source->config);
	run->origin = strdup(source->origin ? source->origin : "");
	run->rows = malloc(bytes ? bytes : 1);
	if (!run->config || !run->origin || !run->rows)
		return TARE_ENOMEM;
	if (bytes)
		memcpy(run->rows, source->rows, bytes);
	if (!run->workers)
		run->workers = tr_config_number(run->config, &stem);
	if (!run->workers)
		run->workers = 1;
	take_times(run, source->n_epochs);
	return copy_pairs(run, source);
}

TARE_API int tare_comparison_add(tare_comparison *comparison,
				 const tare_compare_source *source)
{
	struct tr_compared_run run;
	tare_compare_source own;
	int err;

	/* Fields before `pairs` are required: 0 is not unknown in them. */
	if (!comparison || !source || TR_TAKE_STRUCT(&own, source, pairs) ||
	    !own.config || (own.n_rows && !own.rows) ||
	    own.n_rows > SIZE_MAX / sizeof(tare_run_row) ||
	    (own.n_pairs && !own.pairs))
		return TARE_EINVAL;
	if (!TR_ARRAY_ROOM(comparison->run, comparison->n_runs,
			   comparison->runs_room))
		return TARE_ENOMEM;
	err = copy_run(&run, &own);
	if (err) {
		tr_compared_forget(&run);
		return err;
	}
	comparison->run[comparison->n_runs++] = run;
	comparison->is_compared = false;
	return 0;
}

/* ---- duplicates -------------------------------------------------------- */

/* Once per file: there may be thousands, each compared with all others. */
static void find_file(const char *path, struct stat *ret)
{
	if (!path || stat(path, ret))
		memset(ret, 0, sizeof(*ret));
}

static bool is_same_file(const struct tr_compared_run *run,
			 const struct stat *st)
{
	return run->file && st->st_ino && run->inode == st->st_ino &&
	       run->device == st->st_dev;
}

/* Times of a run, equal to the last bit: no other run has them. */
static bool has_same_rows(const struct tr_compared_run *run,
			  const tare_compare_source *source)
{
	size_t n = run->n_rows < source->n_rows ? run->n_rows : source->n_rows;

	/* A ledger may have only the newest rows. */
	for (size_t i = 1; i <= n; i++)
		if (run->rows[run->n_rows - i].total_time !=
			    source->rows[source->n_rows - i].total_time ||
		    run->rows[run->n_rows - i].epoch !=
			    source->rows[source->n_rows - i].epoch)
			return false;
	return n && strcmp(run->config, source->config) == 0;
}

static const char *date_in(const char *const *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(pairs[2 * i], "date") == 0 && pairs[2 * i + 1])
			return pairs[2 * i + 1];
	return "";
}

/*
 * A copied or re-saved file is not a repeat: it would make intervals look
 * narrower than they are. Without a date this cannot be decided.
 */
static bool is_copy(const struct tr_compared_run *run,
		    const tare_compare_source *source)
{
	const char *date = date_in(source->pairs, source->n_pairs);

	return *date && run->file && run->n_rows == source->n_rows &&
	       has_same_rows(run, source) &&
	       strcmp(date_in((const char *const *)run->pairs, run->n_pairs),
		      date) == 0;
}

/* Already added: the same file, a worker of it, or a ledger of it? */
static bool is_added(const tare_comparison *c,
		     const tare_compare_source *source, const struct stat *st,
		     const char *key)
{
	for (size_t i = 0; i < c->n_runs; i++) {
		const struct tr_compared_run *run = &c->run[i];

		if (key && run->key && strcmp(run->key, key) == 0)
			return true;
		if (!key &&
		    (is_same_file(run, st) || is_copy(run, source)))
			return true;
		if ((key ? run->file : run->key) != NULL &&
		    has_same_rows(run, source))
			return true;
	}
	return false;
}

int tr_compared_add(tare_comparison *c, const tare_compare_source *source,
		    char *file, char *key)
{
	struct stat st;
	bool is_known;
	int err;

	find_file(file, &st);
	is_known = is_added(c, source, &st, key);
	err = is_known ? 0 : tare_comparison_add(c, source);
	if (err || is_known) {
		free(file);
		free(key);
		return err;
	}
	c->run[c->n_runs - 1].file = file;
	c->run[c->n_runs - 1].device = st.st_dev;
	c->run[c->n_runs - 1].inode = st.st_ino;
	c->run[c->n_runs - 1].key = key;
	return 0;
}

/* ---- files ------------------------------------------------------------- */

static uint32_t workers_said(const tare_run_file *file)
{
	static const char *const keys[] = { "workers", "processes", "ranks" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *text = tare_run_file_comment(file, keys[i]);
		uint64_t n;

		if (text && tr_parse_u64(text, &n) && n && n < 1000000)
			return (uint32_t)n;
	}
	return 0;
}

const char *tr_compared_mark(const char *name)
{
	const char *mark = NULL;

	while ((name = strstr(name, "_metrics")) != NULL)
		mark = name++;
	return mark;
}

/* "results/mpi_4_metrics_2.csv" is a run of "mpi_4". */
static void name_of_file(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *mark = tr_compared_mark(name);
	const char *dot = strrchr(name, '.');
	size_t n = strlen(name);

	if (mark && mark != name)
		n = (size_t)(mark - name);
	else if (dot && dot != name)
		n = (size_t)(dot - name);
	n = tr_utf8_clip(name, n, size - 1);
	memcpy(out, name, n);
	out[n] = '\0';
}

static size_t pairs_of(const tare_run_file *file, const char **pairs)
{
	size_t n = 0;

	while (n < PAIRS_MOST &&
	       tare_run_file_comment_at(file, n, &pairs[2 * n],
					&pairs[2 * n + 1]))
		n++;
	return n;
}

static int add_file(tare_comparison *c, const char *path,
		    const tare_run_file *file)
{
	const tare_run_table *table = tare_run_file_table(file);
	const char *said = tare_run_file_comment(file, "config");
	const char *pairs[2 * PAIRS_MOST];
	char name[256];
	size_t before;
	int err;
	tare_compare_source source = {
		.struct_size = sizeof(source), .config = said, .origin = path,
		.workers = workers_said(file), .rows = table->rows,
		.n_rows = table->n_rows, .columns = table->columns,
		.is_cut = table->is_cut || table->is_open, .comm_share = NAN,
		.total_training_time = table->total_training_time,
		.pairs = pairs, .n_pairs = pairs_of(file, pairs),
	};

	if (!said || !*said) {
		name_of_file(path, name, sizeof(name));
		source.config = name;
	}
	before = c->n_runs;
	err = tr_compared_add(c, &source, strdup(path), NULL);
	if (!err && c->n_runs > before) {
		struct tr_compared_run *run = &c->run[before];

		run->worker_memory_mb = tr_compared_worker_memory(
			path, run->workers);
	}
	return err;
}

TARE_API int tare_comparison_add_file(tare_comparison *comparison,
				      const char *path,
				      tare_run_problem *ret_problem)
{
	tare_run_file *file;
	int err;

	if (!comparison || !path)
		return TARE_EINVAL;
	err = tare_run_file_open(path, &file, ret_problem);
	if (err)
		return err;
	err = add_file(comparison, path, file);
	tare_run_file_close(file);
	return err;
}

/* ---- the end ----------------------------------------------------------- */

TARE_API void tare_comparison_free(tare_comparison *comparison)
{
	tare_comparison *c = comparison;

	if (!c)
		return;
	for (size_t i = 0; i < c->n_runs; i++)
		tr_compared_forget(&c->run[i]);
	tr_compared_reset(c);
	tr_buf_release(&c->left_out);
	free(c->run);
	free(c);
}
