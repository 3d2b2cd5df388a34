/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "difference.h"
#include "message.h"

/* Words of the command line between two separators. */
struct program {
	char **words;
	size_t n;
};

struct parameter {
	const char *name;
	size_t name_len;
	const char *value[BENCH_CASES_MOST];
	size_t len[BENCH_CASES_MOST];
	size_t n;
};

#define PARAMETERS_MOST 8u

static size_t split_programs(const struct args *args, const char *separator,
			     struct program *programs, size_t most)
{
	size_t n = 0, from = 0;

	for (size_t i = 0; i <= args->n_operands; i++) {
		if (i < args->n_operands &&
		    strcmp(args->operands[i], separator) != 0)
			continue;
		if (n < most)
			programs[n] = (struct program){ args->operands + from,
							i - from };
		if (i > from || i < args->n_operands)
			n++;
		from = i + 1;
	}
	return n;
}

static int check_programs(const struct program *programs, size_t n)
{
	if (n == 0)
		return message_usage("no program to run");
	if (n > BENCH_PROGRAMS_MOST)
		return message_usage("%zu programs: at most %u", n,
				     BENCH_PROGRAMS_MOST);
	for (size_t i = 0; i < n; i++)
		if (!programs[i].n)
			return message_usage("program %zu has no words",
					     i + 1);
	return CODE_OK;
}

/* NAME=V1,V2,... */
static int parse_parameter(const char *text, struct parameter *parameter)
{
	const char *equal = strchr(text, '=');

	if (!equal || equal == text || !equal[1])
		return message_usage("--parameter wants NAME=VALUE,VALUE..., "
				     "not '%s'", text);
	parameter->name = text;
	parameter->name_len = (size_t)(equal - text);
	parameter->n = 0;
	for (const char *at = equal + 1;; at++) {
		size_t len = strcspn(at, ",");

		if (parameter->n == BENCH_CASES_MOST)
			return message_usage("'%.*s' has more than %u values",
					     (int)parameter->name_len, text,
					     BENCH_CASES_MOST);
		parameter->value[parameter->n] = at;
		parameter->len[parameter->n++] = len;
		at += len;
		if (!*at)
			return CODE_OK;
	}
}

/* ---- words with values ------------------------------------------------- */

/* The value of a parameter in a setting: the last changes fastest. */
static size_t value_of(const struct parameter *parameters, size_t n,
		       size_t which, size_t setting)
{
	for (size_t i = n; i-- > which + 1;)
		setting /= parameters[i].n;
	return setting % parameters[which].n;
}

/* {NAME} of `text` becomes a value; bytes used of the text, 0: no name. */
static size_t put_value(struct tr_buf *buf, const char *text,
			const struct parameter *parameters, size_t n,
			size_t setting)
{
	for (size_t i = 0; i < n; i++) {
		const struct parameter *p = &parameters[i];
		size_t k = value_of(parameters, n, i, setting);

		if (strncmp(text + 1, p->name, p->name_len) != 0 ||
		    text[1 + p->name_len] != '}')
			continue;
		tr_buf_add(buf, p->value[k], p->len[k]);
		return p->name_len + 2;
	}
	return 0;
}

static char *taken(struct tr_buf *buf)
{
	if (!buf->len)
		tr_buf_addc(buf, '\0');
	if (buf->failed) {
		tr_buf_release(buf);
		return NULL;
	}
	return buf->data;
}

static char *expand(const char *text, const struct parameter *parameters,
		    size_t n, size_t setting)
{
	struct tr_buf buf = TR_BUF_INIT;

	while (*text) {
		size_t used = *text == '{' ? put_value(&buf, text, parameters,
						       n, setting) :
					     0;

		if (!used)
			tr_buf_addc(&buf, *text);
		text += used ? used : 1;
	}
	return taken(&buf);
}

static char *join_words(char **words)
{
	struct tr_buf buf = TR_BUF_INIT;

	for (size_t i = 0; words[i]; i++) {
		if (i)
			tr_buf_addc(&buf, ' ');
		tr_buf_adds(&buf, words[i]);
	}
	return taken(&buf);
}

static char *values_text(const struct parameter *parameters, size_t n,
			 size_t setting)
{
	struct tr_buf buf = TR_BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		size_t k = value_of(parameters, n, i, setting);

		if (i)
			tr_buf_addc(&buf, ' ');
		tr_buf_add(&buf, parameters[i].name,
			   parameters[i].name_len + 1);
		tr_buf_add(&buf, parameters[i].value[k], parameters[i].len[k]);
	}
	return taken(&buf);
}

/* ---- cases ------------------------------------------------------------- */

static bool fill(struct bench_case *c, const struct program *program,
		 const char *name, const struct parameter *parameters,
		 size_t n)
{
	c->argv = calloc(program->n + 1, sizeof(*c->argv));
	for (size_t i = 0; c->argv && i < program->n; i++) {
		c->argv[i] = expand(program->words[i], parameters, n,
				    c->setting);
		if (!c->argv[i])
			return false;
	}
	c->values = values_text(parameters, n, c->setting);
	c->name = c->argv && name ? strdup(name) :
		  c->argv	  ? join_words(c->argv) :
				    NULL;
	return c->argv && c->values && c->name;
}

static int make_cases(struct bench *bench, const struct program *programs,
		      const struct words *names,
		      const struct parameter *parameters, size_t n)
{
	bench->n_cases = bench->n_settings * bench->n_programs;
	bench->cases = calloc(bench->n_cases, sizeof(*bench->cases));
	for (size_t i = 0; bench->cases && i < bench->n_cases; i++) {
		struct bench_case *c = &bench->cases[i];

		c->setting = i / bench->n_programs;
		c->program = i % bench->n_programs;
		if (!fill(c, &programs[c->program],
			  c->program < names->n ? names->at[c->program] : NULL,
			  parameters, n))
			return message_error("plan", "runs", TARE_ENOMEM);
	}
	return bench->cases ? CODE_OK :
			      message_error("plan", "runs", TARE_ENOMEM);
}

int bench_plan(struct bench *bench, const struct args *args,
	       const char *separator, const struct words *names,
	       const struct words *parameters)
{
	struct program programs[BENCH_PROGRAMS_MOST] = { { NULL, 0 } };
	struct parameter *given = calloc(PARAMETERS_MOST, sizeof(*given));
	size_t n = parameters->n;
	int code;

	bench->n_programs = split_programs(args, separator, programs,
					   BENCH_PROGRAMS_MOST);
	code = check_programs(programs, bench->n_programs);
	if (!code && names->n > bench->n_programs)
		code = message_usage("%zu names for %zu programs", names->n,
				     bench->n_programs);
	if (!code && n > PARAMETERS_MOST)
		code = message_usage("%zu parameters: at most %u", n,
				     PARAMETERS_MOST);
	bench->n_settings = 1;
	for (size_t i = 0; given && i < n && !code; i++) {
		code = parse_parameter(parameters->at[i], &given[i]);
		bench->n_settings *= given[i].n ? given[i].n : 1;
		if (!code && bench->n_settings * bench->n_programs >
				     BENCH_CASES_MOST)
			code = message_usage("more than %u combinations of "
					     "programs and values",
					     BENCH_CASES_MOST);
	}
	if (!code && given)
		code = make_cases(bench, programs, names, given, n);
	free(given);
	return given ? code : message_error("plan", "runs", TARE_ENOMEM);
}

void bench_release(struct bench *bench)
{
	for (size_t i = 0; bench->cases && i < bench->n_cases; i++) {
		struct bench_case *c = &bench->cases[i];

		for (size_t k = 0; c->argv && c->argv[k]; k++)
			free(c->argv[k]);
		free(c->argv);
		free(c->name);
		free(c->values);
		free(c->trials);
		free(c->instructions);
	}
	for (size_t i = 0; i < bench->n_pairs; i++)
		difference_release(&bench->differences[i]);
	free(bench->pairs);
	free(bench->differences);
	free(bench->cases);
	bench->cases = NULL;
}
