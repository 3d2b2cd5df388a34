/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Periodic exports of the live runs into export_directory, every
 * export_interval seconds (86400: at midnight UTC). Keeps the newest
 * export_keep of its own files.
 */
#ifndef SERVER_PERIODIC_H
#define SERVER_PERIODIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server;
struct periodic;

/* NULL: export_interval is 0, or no memory. */
struct periodic *periodic_start(struct server *server);
void periodic_stop(struct periodic *periodic);

/* The time of the next export after `now_ns`; both since 1970. */
int64_t periodic_next_ns(int64_t now_ns, double interval_s);
/*
 * Removes all but the newest `keep` files of one table in a folder: the names
 * that periodic_name() makes sort by time. Returns the number removed.
 */
unsigned periodic_retain(const char *folder, const char *table,
			 const char *suffix, size_t keep);
void periodic_name(char *out, size_t size, const char *table,
		   const char *suffix, int64_t now_ns);

#endif
