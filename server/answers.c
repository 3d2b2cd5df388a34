/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "reply.h"
#include "router.h"

/* The slot of a URL; a newer URL replaces an older one in the same slot. */
static size_t place_of(const char *uri)
{
	return (size_t)(hash_text(HASH_BEGIN, uri) % ANSWERS_N);
}

bool answers_send(struct exchange *ex)
{
	const char *uri = exchange_uri(ex);
	const struct answer *answer = &ex->server->answers.at[place_of(uri)];

	if (!(ex->route->flags & ROUTE_KEPT) || !answer->body ||
	    strcmp(answer->uri, uri) != 0 ||
	    answer->age.epoch != ex->server->readers.epoch ||
	    board_now_ms() - answer->age.read_ms >= POOL_AGE_MS)
		return false;
	reply_bytes(ex, 200, "application/json", answer->body, answer->len);
	return true;
}

void answers_keep(struct answers *answers, const char *uri,
		  const struct answer_age *age, const char *body, size_t len)
{
	struct answer *answer = &answers->at[place_of(uri)];
	char *copy;

	if (len > ANSWERS_BYTES || strlen(uri) >= ANSWERS_URI)
		return;
	copy = realloc(answer->body, len ? len : 1);
	if (!copy)
		return;
	answer->body = memcpy(copy, body, len);
	answer->len = len;
	answer->age = *age;
	(void)strcpy(answer->uri, uri);
}

void answers_release(struct answers *answers)
{
	for (size_t i = 0; i < ANSWERS_N; i++)
		free(answers->at[i].body);
	*answers = (struct answers){ 0 };
}
