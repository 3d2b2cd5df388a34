/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the store if tare is built without SQLite. */
#include "store.h"

bool store_is_there(void)
{
	return false;
}

const char *store_why(void)
{
	return "this tare is built without SQLite";
}

enum store_error store_open(const char *path, bool may_create, int wait_ms,
			    struct store **ret_store)
{
	(void)path;
	(void)may_create;
	(void)wait_ms;
	(void)ret_store;
	return STORE_ABSENT;
}

void store_close(struct store *store)
{
	(void)store;
}

enum store_error store_repair(const char *path, size_t *ret_rows,
			      char *ret_aside, size_t size)
{
	(void)path;
	(void)ret_rows;
	(void)ret_aside;
	(void)size;
	return STORE_ABSENT;
}

enum store_error store_begin(struct store *store)
{
	(void)store;
	return STORE_ABSENT;
}

enum store_error store_commit(struct store *store)
{
	(void)store;
	return STORE_ABSENT;
}

void store_rollback(struct store *store)
{
	(void)store;
}

enum store_error store_add(struct store *store, const struct store_run *run,
			   bool *ret_is_new)
{
	(void)store;
	(void)run;
	(void)ret_is_new;
	return STORE_ABSENT;
}

enum store_error store_has(struct store *store, const char *key, bool *ret_has)
{
	(void)store;
	(void)key;
	(void)ret_has;
	return STORE_ABSENT;
}

enum store_error store_list(struct store *store,
			    const struct store_query *query, store_row_fn row,
			    void *arg)
{
	(void)store;
	(void)query;
	(void)row;
	(void)arg;
	return STORE_ABSENT;
}

enum store_error store_figures(struct store *store, int64_t id,
			       store_figure_fn row, void *arg)
{
	(void)store;
	(void)id;
	(void)row;
	(void)arg;
	return STORE_ABSENT;
}

enum store_error store_figure_names(struct store *store,
				    const struct store_query *query,
				    store_figure_fn row, void *arg)
{
	(void)store;
	(void)query;
	(void)row;
	(void)arg;
	return STORE_ABSENT;
}

enum store_error store_prune(struct store *store,
			     const struct store_query *query, uint64_t keep,
			     int64_t before_ns, uint64_t *ret_removed)
{
	(void)store;
	(void)query;
	(void)keep;
	(void)before_ns;
	(void)ret_removed;
	return STORE_ABSENT;
}

enum store_error store_import(struct store *store, const char *text,
			      size_t len, int64_t file_ns, const char *project,
			      const char *machine, const char **ret_format,
			      size_t *ret_rows, size_t *ret_new)
{
	(void)store;
	(void)text;
	(void)len;
	(void)file_ns;
	(void)project;
	(void)machine;
	(void)ret_format;
	(void)ret_rows;
	(void)ret_new;
	return STORE_ABSENT;
}

int store_export(tare_view *const *views, size_t n, const tare_filter *filter,
		 const char *path)
{
	(void)views;
	(void)n;
	(void)filter;
	(void)path;
	return 1000 + STORE_ABSENT;
}
