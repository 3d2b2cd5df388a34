/* SPDX-License-Identifier: Apache-2.0 */
/* Alloc groups: rows of the table of allocations, grouped by a name. */
#ifndef CLI_ALLOC_GROUPS_H
#define CLI_ALLOC_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include <tare/read/alloc.h>

enum alloc_by { ALLOC_BY_PLACE, ALLOC_BY_PATH, ALLOC_BY_MODULE };

struct alloc_group {
	char *name;
	tare_alloc now, before; /* sums; before: of the earlier moment */
};

struct alloc_groups {
	enum alloc_by by;
	struct alloc_group *at;
	size_t n, cap;
	size_t *hash; /* index + 1; 0: free */
	size_t mask;
};

/* NULL: by place. */
enum alloc_by alloc_by(const char *text);
/* Adds rows of a view; 0, or TARE_ENOMEM. */
int alloc_groups_add(struct alloc_groups *groups, tare_view *view,
		     const tare_alloc *rows, size_t n, bool is_before);
/* `key`: live, bytes, count, peak or temporary; largest first. */
void alloc_groups_sort(struct alloc_groups *groups, const char *key);
/* Removes groups without live allocations. */
void alloc_groups_keep_live(struct alloc_groups *groups);
/* Removes groups that did not change; largest change first. */
void alloc_groups_keep_changed(struct alloc_groups *groups);
void alloc_groups_release(struct alloc_groups *groups);

#endif
