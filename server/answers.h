/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers: a cache of recently sent documents, by URL.
 *
 * A dashboard sends the same requests from several tabs. A document that was
 * read less than 200 ms ago, and after the last change, is sent again. The
 * cache has 32 documents of at most 64 KiB each: larger ones are sent as files.
 */
#ifndef SERVER_ANSWERS_H
#define SERVER_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANSWERS_N 32u
#define ANSWERS_BYTES (64u << 10)
#define ANSWERS_URI 512u

struct exchange;

/* When something was read: the number of changes before, and the time. */
struct answer_age {
	uint64_t epoch;
	int64_t read_ms; /* monotonic */
};

struct answer {
	char uri[ANSWERS_URI];
	struct answer_age age;
	char *body;
	size_t len;
};

struct answers {
	struct answer at[ANSWERS_N];
};

/* False: no valid answer is cached, and nothing was sent. */
bool answers_send(struct exchange *ex);
void answers_keep(struct answers *answers, const char *uri,
		  const struct answer_age *age, const char *body, size_t len);
void answers_release(struct answers *answers);

#endif
