/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers: documents that were just sent, by their URL.
 *
 * A dashboard asks the same questions in several tabs, and nothing that is
 * read from the same views can differ: as long as the pool's views stand, so
 * does the answer. 32 of them, 256 KiB each at most.
 */
#ifndef SERVER_ANSWERS_H
#define SERVER_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

#define ANSWERS_N 32u
#define ANSWERS_BYTES (256u << 10)
#define ANSWERS_URI 512u

struct pool;

struct answer {
	char uri[ANSWERS_URI];
	uint64_t generation; /* of the pool when it was made */
	char *body;
	size_t len;
};

struct answers {
	struct answer at[ANSWERS_N];
};

/* NULL: none that still stands. */
const struct answer *answers_find(const struct answers *answers,
				  const char *uri, const struct pool *pool);
void answers_keep(struct answers *answers, const char *uri,
		  const struct pool *pool, const char *body, size_t len);
void answers_release(struct answers *answers);

#endif
