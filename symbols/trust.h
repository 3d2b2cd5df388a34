/* SPDX-License-Identifier: Apache-2.0 */
/* Which files libdw may read, and under which name: see trust.c. */
#ifndef SYMBOLS_TRUST_H
#define SYMBOLS_TRUST_H

#include <stdbool.h>
#include <stddef.h>

/* May libdw read the open file? */
bool trust_file(int fd);
/* The name to give to libdw; `name` is the last part of the module's path. */
void trust_name(int fd, const char *name, char *ret, size_t size);

#endif
