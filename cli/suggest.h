/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suggest: the known word that the user most likely meant.
 *
 *	struct suggestion s = { .word = typed };
 *	for each known word: suggest_offer(&s, known);
 *	suggest_text(&s, "") is "" if no word is near enough
 */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

struct suggestion {
	const char *word;
	const char *best;
	unsigned distance;
};

/* Borrows `known` until the last suggest_text(). */
void suggest_offer(struct suggestion *suggestion, const char *known);

/*
 * "; did you mean 'x'", with `before` before the word, or "" if no word is
 * near; valid until the next call.
 */
const char *suggest_text(const struct suggestion *suggestion,
			 const char *before);

#endif
