/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Config: the options of live processes, as one document.
 *
 * PUT checks the whole document before it changes anything; members that are
 * left out keep their values. The answer is read back from the processes: it
 * has their actual values, not the requested ones. export_directory is an
 * option of the server itself, since the server writes there.
 */
#include <stdlib.h>
#include <string.h>

#include <tare/control.h>

#include "base/config.h"
#include "chosen.h"
#include "document.h"
#include "handlers.h"
#include "hash.h"
#include "read/control.h"
#include "reply.h"

#define VALUE_BYTES 256u

/* Always shown, as users of the service know these; else if live. */
static const char *const always[] = {
	"max_history_size",	"memory_sample_interval", "export_directory",
	"enable_gpu_tracking", "enable_memory_tracking",
};

static bool is_shown(const tare_option *option)
{
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (strcmp(option->name, always[i]) == 0)
			return true;
	return option->live && option->effective;
}

static bool is_servers(const tare_option *option)
{
	return strcmp(option->name, "export_directory") == 0;
}

/* The next option to show, from `*at` on; NULL: no more. */
static const tare_option *next_shown(size_t *at)
{
	const tare_option *option;

	while ((option = tare_option_at((*at)++)) != NULL && !is_shown(option))
		;
	return option;
}

static const tare_option *find_option(const char *name)
{
	const tare_option *option;

	for (size_t i = 0; (option = next_shown(&i)) != NULL;)
		if (strcmp(option->name, name) == 0)
			return option;
	return NULL;
}

/* ---- reading ----------------------------------------------------------- */

/* The value that all chosen processes have; false: they differ. */
static bool shared_value(const struct chosen *chosen,
			 const tare_option *option, char value[VALUE_BYTES])
{
	char other[VALUE_BYTES];
	bool found = false;

	for (size_t i = 0; i < chosen->n && !is_servers(option); i++) {
		char *to = found ? other : value;

		if (tare_remote_get(chosen->runs[i]->pid, option->name, to,
				    VALUE_BYTES) < 0)
			continue;
		if (found && strcmp(value, other) != 0)
			return false;
		found = true;
	}
	if (!found && tare_option_get(option->name, value, VALUE_BYTES) < 0)
		value[0] = '\0';
	return true;
}

static void value_json(struct tr_json *json, const tare_option *option,
		       const char *value)
{
	char *end;
	double number;

	switch (option->type) {
	case TARE_OPTION_BOOL:
		tr_json_bool(json, option->name, strcmp(value, "true") == 0);
		return;
	case TARE_OPTION_INT:
	case TARE_OPTION_DOUBLE:
		number = strtod(value, &end);
		if (*value && !*end) {
			tr_json_double(json, option->name, number);
			return;
		}
		break;
	case TARE_OPTION_STRING:
	case TARE_OPTION_CHOICE:
		break;
	}
	tr_json_str(json, option->name, value);
}

/* "config": {...}; null where the processes differ. */
static void config_json(struct tr_json *json, const struct chosen *chosen)
{
	const tare_option *option;
	char value[VALUE_BYTES];

	tr_json_object(json, "config");
	for (size_t i = 0; (option = next_shown(&i)) != NULL;)
		if (shared_value(chosen, option, value))
			value_json(json, option, value);
		else
			tr_json_str(json, option->name, NULL);
	tr_json_end_object(json);
}

/* What all chosen processes monitor; null where they differ. */
static void monitoring_json(struct tr_json *json, const struct chosen *chosen)
{
	char text[TR_PARTS_TEXT];
	uint32_t parts = 0, other;
	bool is_same = true, is_known = false;

	for (size_t i = 0; i < chosen->n; i++) {
		if (tr_remote_monitored(chosen->runs[i]->pid, &other))
			continue;
		is_same &= !is_known || other == parts;
		parts = other;
		is_known = true;
	}
	tr_parts_text(parts, text);
	tr_json_str(json, "monitoring", is_same && is_known ? text : NULL);
}

/* A quoted hash of the document that a GET of these runs returns. */
static void make_etag(const struct chosen *chosen, char etag[24])
{
	uint64_t hash = HASH_BEGIN;
	const tare_option *option;
	char value[VALUE_BYTES];

	for (size_t i = 0; (option = next_shown(&i)) != NULL;) {
		if (!shared_value(chosen, option, value))
			(void)strcpy(value, "\x01");
		hash = hash_text(hash, value);
	}
	(void)snprintf(etag, 24, "\"%016llx\"", (unsigned long long)hash);
}

static void add_etag(struct exchange *ex, const struct chosen *chosen)
{
	char etag[24];

	make_etag(chosen, etag);
	exchange_add_header(ex, "ETag", etag);
}

/*
 * Waits for a held lock once, not once per option: the whole document would
 * exceed the time limit of a task.
 */
static bool check_locks(struct exchange *ex, const struct chosen *chosen)
{
	char value[VALUE_BYTES];

	for (size_t i = 0; i < chosen->n; i++) {
		if (tare_remote_get(chosen->runs[i]->pid, "enable_metrics",
				    value, sizeof(value)) != TARE_EBUSY)
			continue;
		return problem(ex, 503, "another process holds the lock of the "
			       "run '%s'", chosen->runs[i]->id);
	}
	return true;
}

void handle_config(struct exchange *ex)
{
	struct chosen chosen;
	struct tr_json *json;

	if (!chosen_live(ex, &chosen) || !check_locks(ex, &chosen))
		return;
	json = reply_json(ex);
	tr_json_object(json, NULL);
	config_json(json, &chosen);
	monitoring_json(json, &chosen);
	add_etag(ex, &chosen);
	chosen_end(ex, &chosen);
}

/* ---- writing ----------------------------------------------------------- */

/* monitor: true, false, or a list. */
static bool takes_switch(const tare_option *option)
{
	return option->names == TARE_NAMES_NOTHING && option->range &&
	       strstr(option->range, "true, false");
}

static bool type_fits(const tare_option *option, enum document_type type)
{
	switch (option->type) {
	case TARE_OPTION_BOOL:
		return type == DOCUMENT_BOOL;
	case TARE_OPTION_INT:
	case TARE_OPTION_DOUBLE:
		return type == DOCUMENT_NUMBER;
	case TARE_OPTION_STRING:
	case TARE_OPTION_CHOICE:
		return type == DOCUMENT_TEXT ||
		       (type == DOCUMENT_BOOL && takes_switch(option));
	}
	return false;
}

/* Is `value` one of the words that an option takes instead of a path? */
static bool is_word(const char *words, const char *value)
{
	size_t len = strlen(value);

	if (!len)
		return true; /* for options that take it, it means none */
	for (const char *at = words; at && *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		if (n == len && strncmp(at, value, n) == 0)
			return true;
		at += n;
	}
	return false;
}

/*
 * Options that name something outside the program come from files and the
 * environment. Over HTTP only a path can be set, and only below the server's
 * root. A relative path would be relative to the other process: refused.
 */
static bool check_named(struct exchange *ex, const tare_option *option,
			const char *value)
{
	const struct root *root = &ex->server->root;

	if (option->names == TARE_NAMES_NOTHING)
		return true;
	if (option->names != TARE_NAMES_PATH)
		return problem(ex, 422, "'%s' cannot be set over HTTP: it "
			       "comes from tare.conf or the environment",
			       option->name);
	if (is_word(option->words, value) ||
	    ((is_servers(option) || value[0] == '/') && root_has(root, value)))
		return true;
	return problem(ex, 422, "'%s' must be %sbelow '%.200s', the root that "
		       "this server was started with (--export-root)",
		       option->name,
		       is_servers(option) ? "" : "an absolute path ",
		       root->path);
}

/* Checks a member's type and value against the table. */
static bool check_member(struct exchange *ex,
			 const struct document_member *member)
{
	const tare_option *option = find_option(member->key);

	if (!option)
		return problem(ex, 422, "there is no option '%.60s' to set",
			       member->key);
	if (!option->live && !is_servers(option))
		return problem(ex, 422, "'%s' cannot change while programs run",
			       option->name);
	if (type_fits(option, member->type) &&
	    !check_named(ex, option, member->value))
		return false;
	/*
	 * The table has the range only as text, so the library checks the value
	 * by setting it; check_members() restores it.
	 */
	if (!type_fits(option, member->type) ||
	    tare_option_set(option->name, member->value))
		return problem(ex, 422, "wrong value for '%s': accepted is %s",
			       option->name, option->range);
	return true;
}

typedef char value_text[VALUE_BYTES];

/* Restores the first `n` options to their values before the check. */
static void set_back(const struct document *document, size_t n,
		     value_text *before, bool with_servers)
{
	while (n-- > 0)
		if (with_servers ||
		    !is_servers(find_option(document->at[n].key)))
			(void)!tare_option_set(document->at[n].key, before[n]);
}

static bool is_for_programs(const struct document *document)
{
	for (size_t i = 0; i < document->n; i++) {
		const tare_option *option = find_option(document->at[i].key);

		if (!option || !is_servers(option))
			return true;
	}
	return false;
}

/*
 * Checks all members; accepts all or none. This sets the server's own options.
 * Options of programs are restored, so that this process does not show a value
 * that no program has.
 */
static bool check_members(struct exchange *ex,
			  const struct document *document,
			  const struct chosen *chosen)
{
	bool can_apply;
	value_text before[DOCUMENT_MEMBERS];

	for (size_t i = 0; i < document->n; i++) {
		const struct document_member *member = &document->at[i];

		if (tare_option_get(member->key, before[i], VALUE_BYTES) < 0)
			before[i][0] = '\0';
		if (check_member(ex, member))
			continue;
		set_back(document, i, before, true);
		return false;
	}
	can_apply = chosen->n || !is_for_programs(document);
	set_back(document, document->n, before, !can_apply);
	if (!can_apply)
		problem(ex, 409, "no measured program is running that could "
				 "take it: start one with 'tare run' or "
				 "TARE=on; those that start later have what "
				 "tare.conf and their environment say");
	return can_apply;
}

static int apply(const struct document *document, int64_t pid)
{
	int err = 0;

	for (size_t i = 0; i < document->n && !err; i++)
		if (!is_servers(find_option(document->at[i].key)))
			err = tare_remote_set(pid, document->at[i].key,
					      document->at[i].value);
	return err;
}

/* If the document has options of programs, one program must accept it. */
static bool apply_all(struct exchange *ex, const struct document *document,
		      const struct chosen *chosen, int errors[POOL_VIEWS])
{
	bool is_taken = !is_for_programs(document);

	for (size_t i = 0; i < chosen->n; i++) {
		errors[i] = apply(document, chosen->runs[i]->pid);
		is_taken |= errors[i] == 0;
	}
	if (!is_taken)
		problem(ex, 409, "no program took it: %s",
			tare_strerror(errors[0]));
	return is_taken;
}

/* "*", or a list of tags that contains `etag`. */
static bool etag_matches(const char *wanted, const char *etag)
{
	return strcmp(wanted, "*") == 0 || strstr(wanted, etag);
}

static bool check_precondition(struct exchange *ex,
			       const struct chosen *chosen)
{
	const char *wanted = exchange_header(ex, "If-Match");
	char etag[24];

	make_etag(chosen, etag);
	if (!wanted || etag_matches(wanted, etag))
		return true;
	return problem(ex, 412, "the configuration has changed meanwhile; read "
		       "it again");
}

static void put(struct exchange *ex, char *text)
{
	struct document document;
	struct chosen chosen;
	struct tr_json *json;
	int errors[POOL_VIEWS];

	if (!body_parse(ex, text, &document) || !chosen_live(ex, &chosen) ||
	    !check_locks(ex, &chosen) || !check_precondition(ex, &chosen) ||
	    !check_members(ex, &document, &chosen) ||
	    !apply_all(ex, &document, &chosen, errors))
		return;
	json = reply_json(ex);
	tr_json_object(json, NULL);
	chosen_results(&chosen, errors, json);
	config_json(json, &chosen);
	tr_json_end_object(json);
	add_etag(ex, &chosen);
	pool_expire(&ex->server->pool);
	reply_json_end(ex, 200);
}

void handle_config_put(struct exchange *ex)
{
	char *text = body_take(ex);

	if (text)
		put(ex, text);
	free(text);
}
