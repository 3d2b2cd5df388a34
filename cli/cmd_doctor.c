/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare doctor: which measurements this machine supports; hints for the rest.
 *
 * The library checks in this process, so the result holds for this user and
 * this environment. A missing feature is a result, not an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tare/system.h>

#include "args.h"
#include "base/text.h"
#include "checks.h"
#include "message.h"
#include "output.h"
#include "program.h"
#include "terminal.h"

static bool as_json;

static const struct option_spec options[] = {
	OPTION_JSON(&as_json),
	OPTION_END
};

static void all_json(const tare_capability *rows, size_t n)
{
	struct tr_json *json = output_json_begin();

	tr_json_array(json, NULL);
	for (size_t i = 0; i < n; i++) {
		tr_json_object(json, NULL);
		tr_json_str(json, "name", rows[i].name);
		tr_json_bool(json, "available", rows[i].is_available);
		tr_json_str(json, "detail", rows[i].detail);
		tr_json_str(json, "help", rows[i].help);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
	output_json(json, stdout);
}

static int name_width(const tare_capability *rows, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		if (strlen(rows[i].name) > width)
			width = strlen(rows[i].name);
	return (int)width;
}

static void print_row(const tare_capability *row, int width, bool color)
{
	terminal_tinted(stdout, color,
			row->is_available ? TINT_GREEN : TINT_YELLOW,
			row->is_available ? "yes" : "no ");
	(void)printf("  %-*s  ", width, row->name);
	terminal_safe(stdout, row->detail);
	(void)putchar('\n');
	if (!row->help[0])
		return;
	(void)printf("%*sneeded: ", width + 7, "");
	terminal_safe(stdout, row->help);
	(void)putchar('\n');
}

static void all_text(const tare_capability *rows, size_t n, bool color)
{
	int width = name_width(rows, n);
	size_t n_available = 0;

	for (size_t i = 0; i < n; i++) {
		print_row(&rows[i], width, color);
		n_available += rows[i].is_available;
	}
	(void)printf("\n%zu of %zu are available here\n", n_available, n);
}

/* The library's rows, then those about `tare run`. Gives (free). */
static tare_capability *all_rows(const char *program, size_t *ret_n, int *err)
{
	static struct check checks[CHECKS];
	static char number[32];
	const tare_capability *own;
	tare_capability *rows;
	size_t n;

	*err = tare_capabilities(&own, &n);
	if (*err)
		return NULL;
	rows = calloc(n + CHECKS, sizeof(*rows));
	*err = rows ? 0 : TARE_ENOMEM;
	for (size_t i = 0; rows && i < n; i++) {
		rows[i] = own[i];
		if (strcmp(own[i].name, "sampling_signal") == 0 &&
		    own[i].is_available)
			(void)snprintf(number, sizeof(number), "%.*s",
				       (int)strcspn(own[i].detail, " ("),
				       own[i].detail);
	}
	checks_make(checks, program, number[0] ? number : NULL);
	for (size_t i = 0; rows && i < CHECKS; i++)
		rows[n + i] = (tare_capability){
			.name = checks[i].name,
			.is_available = checks[i].is_available,
			.detail = checks[i].detail,
			.help = checks[i].help,
		};
	*ret_n = n + CHECKS;
	return rows;
}

static int doctor(struct args *args)
{
	const char *program = args_operand(args, 0, NULL);
	tare_capability *rows;
	size_t n;
	int err;

	rows = all_rows(program, &n, &err);
	if (err)
		return message_error("look at", "this machine", err);
	if (as_json)
		all_json(rows, n);
	else
		all_text(rows, n, terminal_wants_color(stdout));
	free(rows);
	if (!program || program_look(program) != PROGRAM_UNKNOWN)
		return CODE_OK;
	message("cannot find the program '%s'", program);
	return CODE_IO;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.usage = "[PROGRAM] [--json]",
	.summary = "check which measurements this machine supports",
	.examples = "  tare doctor          one line per measurement\n"
		    "  tare doctor ./prog   can it be sampled, its "
		    "allocations tracked?\n"
		    "  tare doctor --json   as JSON, for a script\n",
	.options = options,
	.max_operands = 1,
	.run = doctor,
};
