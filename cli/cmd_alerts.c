/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare alerts: the states of the running server's rules. The exit status is 1
 * if one is firing, for scripts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ask.h"
#include "message.h"

static bool as_json;

static const struct option_spec options[] = {
	OPTION_JSON(&as_json),
	OPTION_END
};

static int ask(const char *accept, char **ret_body)
{
	int status, err = ask_server("/api/alerts", accept, &status, ret_body);

	if (err == ENOENT) {
		message("no server runs; 'tare serve' watches the rules");
		return CODE_IO;
	}
	if (err)
		return ask_error("ask", err);
	if (status == 200)
		return CODE_OK;
	message("the server answered %d", status);
	free(*ret_body);
	return CODE_IO;
}

static int run(struct args *args)
{
	char *json, *table;
	bool fires;
	int code = ask("application/json", &json);

	(void)args;
	if (code)
		return code;
	/* A user's text cannot contain this: its quotes are escaped. */
	fires = strstr(json, "\"state\":\"firing\"") != NULL;
	if (as_json) {
		(void)fputs(json, stdout);
	} else {
		code = ask("text/plain", &table);
		if (!code) {
			(void)fputs(table, stdout);
			free(table);
		}
	}
	free(json);
	return code ? code : fires ? CODE_FOUND : CODE_OK;
}

const struct command cmd_alerts = {
	.name = "alerts",
	.usage = "[--json]",
	.summary = "show the alert rules of the running server and their state",
	.examples = "  tare alerts          what is pending, fires, has "
		    "resolved\n"
		    "  tare alerts || echo firing\n",
	.notes = "Rules are in alerts.conf, one per line:\n"
		 "  slow_db: db.* p95 > 50ms for 30s over 5m\n"
		 "exit status: 0, 1 if an alert fires, 3 if no server runs\n",
	.options = options,
	.max_operands = 0,
	.run = run,
};
