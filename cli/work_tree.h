/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work tree: the git working tree that a folder is in: its root, the revision,
 * whether tracked files were changed.
 */
#ifndef CLI_WORK_TREE_H
#define CLI_WORK_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct work_tree {
	char root[PATH_MAX];
	char revision[72]; /* "": unknown, or no commit yet */
};

/* Without running git. False: the folder is in none. */
bool work_tree_find(const char *folder, struct work_tree *ret_tree);

/*
 * Are there changes to tracked files? Only git knows; it runs beside the
 * program, at a low priority, since a large tree takes a while.
 */
struct work_tree_question {
	pid_t pid; /* 0: not asked */
	int fd;
};

void work_tree_ask(const char *root, struct work_tree_question *question);
/* 1, 0, or -1: unknown, also if git needs longer than a few ms more. */
int work_tree_answer(struct work_tree_question *question);

#endif
