/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server reads from the network itself: queries of URLs and the
 * documents of PUT, any of them, and what is known of the accepted ones.
 */
#include <stdlib.h>
#include <string.h>

#include "server/document.h"
#include "server/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW_NS INT64_C(1794747520000000000)

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void check_words(const struct query *query,
			const struct query_words *words)
{
	must(words->n <= QUERY_WORDS);
	for (size_t i = 0; i < words->n; i++)
		must(words->at[i] >= query->text &&
		     words->at[i] + strlen(words->at[i]) <
			     query->text + sizeof(query->text));
}

static void check_query(const char *text)
{
	static struct query query;
	char why[200] = "";
	tare_filter filter;

	if (!query_parse(&query, text, UINT32_MAX, why, sizeof(why))) {
		must(why[0] != '\0');
		return;
	}
	check_words(&query, &query.names);
	check_words(&query, &query.sources);
	check_words(&query, &query.runs);
	must(query.limit >= 1 && query.limit <= QUERY_MAX_LIMIT);
	must(query.types < 1u << (TARE_TYPE_CUSTOM + 1));
	must(query.from_ns >= 0 && query.to_ns >= 0);
	must(!query.to_ns || query.to_ns > query.from_ns);
	filter = query_filter(&query, NOW_NS);
	must(filter.from_ns >= 0);
}

static void check_document(char *text, size_t size)
{
	static struct document document;
	const char *wrong = document_parse(&document, text);

	must(document.n <= DOCUMENT_MEMBERS);
	for (size_t i = 0; !wrong && i < document.n; i++) {
		const struct document_member *member = &document.at[i];

		must(member->key >= text && member->key < text + size);
		must(member->value >= text && member->value < text + size);
		must(member->type >= DOCUMENT_TEXT &&
		     member->type <= DOCUMENT_BOOL);
	}
}

/* What begins with a brace is a document. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (size && text[0] == '{')
		check_document(text, size);
	else
		check_query(text);
	free(text);
	return 0;
}
