/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tree: a made-up /proc and /sys for what reads the system, and a clock that
 * only the test moves.
 */
#ifndef TREE_H
#define TREE_H

#include <stddef.h>
#include <stdint.h>

/* An empty tree, which readers see from now on, with nothing read before. */
void tree_new(void);
/* Back to the real ones. */
void tree_end(void);

/* Writes a file of the tree, folders included; replaces what was there. */
void tree_put(const char *path, const char *text);
void tree_put_bytes(const char *path, const void *data, size_t size);
void tree_folder(const char *path);
void tree_remove(const char *path);

/* The clocks stand still until they are moved. */
void tree_clock(void);
void tree_pass_ms(int64_t ms);
/* The machine sleeps: only the boot clock goes on. */
void tree_sleep_ms(int64_t ms);

#endif
