/* SPDX-License-Identifier: Apache-2.0 */
#include "render/output.h"

#include <string.h>

/* Length of a text in brackets or an operator that is kept as it is, or 0. */
static size_t kept_length(const char *at)
{
	static const char unnamed[] = "(anonymous namespace)";
	size_t n = 8;

	if (strncmp(at, unnamed, sizeof(unnamed) - 1) == 0)
		return sizeof(unnamed) - 1;
	if (strncmp(at, "operator", 8) != 0)
		return 0;
	if (strncmp(at + n, "()", 2) == 0)
		return n + 2;
	while (at[n] && strchr("<>=-", at[n]))
		n++;
	return n;
}

/*
 * "<rock::Cart<T> as rock::Price>::price" of Rust: the outer brackets hold a
 * part of the path, not arguments. Of the paths in them the last parts stay:
 * "<Cart<> as Price>::price".
 */
static bool opens_path(const char *name, const char *at)
{
	return *at == '<' && (at == name || strchr(" <&[(", at[-1]));
}

static bool closes(const char *name, const char *at)
{
	return *at == ')' || (*at == '>' && (at == name || at[-1] != '-'));
}

struct shortening {
	const char *name;
	char *brief;
	size_t n;
	size_t start;	 /* of a path in brackets, in `brief` */
	unsigned inside; /* brackets that are left empty */
	unsigned paths;	 /* brackets around paths */
};

static void add(struct shortening *s, const char *at)
{
	if (s->paths && *at == ':' && at[1] == ':' && s->brief[s->n - 1] != '>')
		s->n = s->start;
	else if (s->paths && *at == ':' && s->n == s->start)
		return; /* the second one */
	else
		s->brief[s->n++] = *at;
	if (strchr(" <&[(", *at))
		s->start = s->n;
}

static void shorten(struct shortening *s, const char *at)
{
	bool is_path = !s->inside && opens_path(s->name, at);

	if (closes(s->name, at) && s->inside)
		s->inside--;
	else if (closes(s->name, at) && *at == '>' && s->paths)
		s->paths--;
	if (!s->inside)
		add(s, at);
	if (is_path)
		s->paths++;
	else if (*at == '<' || *at == '(')
		s->inside++;
}

const char *tr_name_brief(const char *name, char *brief)
{
	struct shortening s = { .name = name, .brief = brief };
	size_t keep = 0;

	for (const char *at = name; *at && s.n < TR_BRIEF_BYTES - 1; at++) {
		if (!keep && !s.inside)
			keep = kept_length(at);
		if (keep) {
			brief[s.n++] = *at;
			keep--;
		} else {
			shorten(&s, at);
		}
	}
	brief[s.n] = '\0';
	return brief;
}
