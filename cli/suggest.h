/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suggest: the known word that somebody most likely meant.
 *
 *	struct suggestion s = { .word = typed };
 *	for each known word: suggest_offer(&s, known);
 *	suggest_best(&s) is NULL when nothing is near enough
 */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

struct suggestion {
	const char *word;
	const char *best;
	unsigned distance;
};

/* Borrows `known` until the last suggest_best(). */
void suggest_offer(struct suggestion *suggestion, const char *known);
const char *suggest_best(const struct suggestion *suggestion);

/* "; did you mean 'x'", or "" when nothing is near; valid until the next. */
const char *suggest_text(const struct suggestion *suggestion);

#endif
