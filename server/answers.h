/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers: documents that were just sent, by their URL.
 *
 * A dashboard asks the same questions in several tabs. What was read less
 * than 200 ms ago, and before no change, is read again for none of them.
 * 32 of them, 64 KiB each at most: larger ones travel as files.
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

/* When something was read: after how many changes, and at what time. */
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

/* False: there is none that still stands, and nothing was sent. */
bool answers_send(struct exchange *ex);
void answers_keep(struct answers *answers, const char *uri,
		  const struct answer_age *age, const char *body, size_t len);
void answers_release(struct answers *answers);

#endif
